"""Whole pages: they stand by themselves, fetch nothing, and take in only the scripts that they need."""

import base64
import hashlib
import re
from datetime import UTC, datetime
from itertools import pairwise

from kubeclassic.api.view import Column, Section, Table, View, on_page
from kubeclassic.cli.report.page.document import SCRIPTS, STYLES, About, asset, discreet, made_at, page_html
from tests.conftest import ROOT

ABOUT = About(
    inputs=("a b/",),
    counts="3 nodes",
    warnings=("node <n> has no zone",),
    releases=("1.16",),
    version="0.1.0",
    date=datetime(2020, 1, 2, 3, 4, tzinfo=UTC),
    command=("kubeclassic", "simulate", "a b/"),
)
TABLE = Table("pods", (Column("pod"),), [["a"]], noun="pod")


def made(*parts):
    """A page of two sections, the first one with *parts*."""
    sections = [
        Section("First", [*on_page("p"), *parts]),
        Section("Second one", on_page("p")),
        Section("Empty"),
    ]
    return page_html(
        View(title="t", verdict="All is < well", facts={"pods": 3, "host": "n"}, sections=sections), ABOUT
    )


# --- Page ---------------------------------------------------------------------------------------------------


def test_it_stands_by_itself():
    """A page names nothing that could be fetched, and forbids the browser to fetch."""
    html = made(TABLE)
    assert not re.search(
        r"https?:(?!//www\.w3\.org/2000/svg)|src=|href=\"[^#]|@import|url\((?!#)|fetch\(|XMLHttp|<link", html
    )
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\';' in html


def test_it_runs_its_own_script_alone():
    """The browser is told the hash of the only script that may run; what stands in a name could not run
    even if it were one."""
    html = made(TABLE)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in html
    assert "script-src 'unsafe-inline'" not in html


def test_text_is_escaped():
    """Text is escaped in the title, the verdict, sections and warnings."""
    html = made(*on_page("<b>"))
    assert "<title>kubeclassic simulate</title>" in html
    assert '<h1 class="verdict">All is &lt; well</h1>' in html
    assert "&lt;b&gt;" in html
    assert "Empty" not in html
    assert "node &lt;n&gt; has no zone" in html


def test_scripts_are_those_that_are_needed():
    """A page without tables has no script of tables, one with two tables has it once."""
    marker = asset("tables.js").splitlines()[1]
    assert marker not in made()
    assert made(TABLE, TABLE).count(marker) == 1


def test_headings_are_in_order():
    """There is one h1, and no level is left out on the way down; each section can be linked to."""
    html = made(TABLE)
    levels = [int(level) for level in re.findall(r"<h(\d)", html)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(re.findall(r'id="([^"]+)"', html))
    assert 'href="#second-one"' in html


def test_every_asset_is_used():
    """No file of the assets is left over, and all are there."""
    scripts = {f"{name}.js" for names in SCRIPTS.values() for name in names}
    used = (
        {f"{name}.css" for name in (*STYLES, "notebook")}
        | {"page.js", "page.html", "parts.html", "notebook.html"}
        | scripts
    )
    assert used == {file.name for file in (ROOT / "cli/report/page/assets").iterdir()}


def test_assets_are_short():
    """A script has fewer than 300 lines."""
    assert all(
        len(asset(file.name).splitlines()) < 300 for file in (ROOT / "cli/report/page/assets").iterdir()
    )


# --- About --------------------------------------------------------------------------------------------------


def test_what_it_says():
    """Inputs, counts, warnings, release, version, date and a command that a shell reads as it was."""
    html = made()
    assert "kubeclassic simulate &#39;a b/&#39;" in html
    assert "2020-01-02 03:04 UTC by kubeclassic 0.1.0" in html
    for text in ("a b/", "3 nodes", "1.16", "1 warning"):
        assert text in html


def test_what_is_empty_is_left_out():
    """Without a release, a policy or a command there is no line for them."""
    assert [name for name, *_ in About().lines()] == ["Warnings"]


def test_the_date(monkeypatch):
    """SOURCE_DATE_EPOCH is obeyed; else it is now, in UTC."""
    assert made_at({"SOURCE_DATE_EPOCH": "0"}) == datetime(1970, 1, 1, tzinfo=UTC)
    before = datetime.now(UTC)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert before <= made_at() <= datetime.now(UTC)
    for other in ("99999999999999", "9" * 5000, "\N{ARABIC-INDIC DIGIT THREE}", "-1"):
        assert before <= made_at({"SOURCE_DATE_EPOCH": other})


def test_paths_that_cannot_be_looked_at():
    """They stay as they are: a name that is too long, and one below it."""
    path = f"/{'a' * 300}/b/c"
    assert discreet(f"zone {path}") == f"zone {path}"
