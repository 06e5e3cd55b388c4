"""Pages on paper: a first sheet that stands alone, no heading alone, no half-empty sheet, and few sheets."""

import pytest

from kubeclassic.cli import run
from tests.bench.realdump import RealDump
from tests.browser.rendering import EXAMPLES
from tests.browser.sheets import sheets_of

HALF = 0.55
"""A sheet that is not the last is filled at least so far."""
HEADING = 11.0
"""Text of at least so many points is a heading."""
MOST = {"migrate": 6, "replay": 5, "what-if": 5}
"""The sheets of a page at most, where these are not 4."""
SMALL = [one for one in EXAMPLES if one.name not in ("search",)]


def faults(sheets):
    """The faults of *sheets*."""
    found = [
        f"sheet {at} ends at {sheet.fill:.2f}" for at, sheet in enumerate(sheets[:-1], 1) if sheet.fill < HALF
    ]
    return found + [
        f"sheet {at} ends with {sheet.last[1]}"
        for at, sheet in enumerate(sheets, 1)
        if sheet.last[0] >= HEADING
    ]


@pytest.mark.parametrize("subject", SMALL, ids=str, scope="module")
def test_sheets(subject, page_file, visit):
    """No sheet is half empty, none ends with a heading, and there are few; the numbers of charts are not
    printed."""
    page = visit(page_file.as_uri())
    sheets = sheets_of(page)
    assert faults(sheets) == []
    assert len(sheets) <= MOST.get(subject.name, 4)
    assert "Thenumbers" not in "".join(sheet.text for sheet in sheets)


@pytest.mark.parametrize(
    "subject", [one for one in EXAMPLES if one.name in ("simulate", "what-if")], ids=str, scope="module"
)
def test_the_first_sheet_stands_alone(subject, page_file, visit):
    """Verdict, numbers, who finds no node, what to do next, what helps at no cost and what was left out are
    on the first sheet."""
    page = visit(page_file.as_uri())
    first = sheets_of(page)[0].text
    wanted = [
        page.locator("h1"),
        page.locator(".unread").first,
        page.locator(".next"),
        page.locator(".fact").first,
    ]
    wanted += [page.locator(".who")] if subject.name == "simulate" else [page.locator(".helps").first]
    for part in wanted:
        assert [word for word in part.inner_text().split() if word not in first] == []


def test_three_hundred_nodes(visit, tmp_path):
    """A simulation of a cluster of 300 nodes is six sheets at most; lists are cut, and say so."""
    RealDump(nodes=300, waiting=3000).write(tmp_path / "dump.json")
    assert (
        run(
            [
                "simulate",
                str(tmp_path / "dump.json"),
                "--release",
                "1.27",
                "-o",
                "html",
                "--output",
                str(tmp_path / "page.html"),
            ]
        )
        == 0
    )
    sheets = sheets_of(visit((tmp_path / "page.html").as_uri()))
    assert len(sheets) <= 6
    assert faults(sheets) == []
    assert "300nodes.Thefirst50areprinted" in "".join(sheet.text for sheet in sheets)
