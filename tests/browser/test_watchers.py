"""The checks of pages can fail: each sees its fault in a page that is made for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.chromium import Visits
from tests.browser.looking import brightness, headings, outside, printed, serious_faults

Page = Callable[[str], str]
PIXEL = '<img alt="" src="http://127.0.0.1:9/a.png">'


@pytest.fixture
def made(tmp_path: Path) -> Page:
    """Writes a page with this body; its address."""

    def write(body: str, head: str = "") -> str:
        file = tmp_path / "made.html"
        file.write_text(f'<!DOCTYPE html><html lang="en"><head><title>made</title>{head}</head><body><main>{body}</main></body></html>')
        return file.as_uri()

    return write


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<script>console.error('odd')</script>", "console error: odd"),
        ("<script>nowhere()</script>", "error in the page: "),
        (PIXEL, "request for http://127.0.0.1:9/a.png"),
        ("<script>fetch('https://nowhere.invalid/x').catch(() => 0)</script>", "request for https://nowhere.invalid/x"),
    ],
)
def test_a_fault_is_seen(body: str, fault: str, made: Page, visit: Visits) -> None:
    """Errors on the console, errors in scripts and outgoing requests make a test fail."""
    page = visit(made(body))
    for _ in range(1000):  # what a page does wrong is told some time later
        if any(seen.startswith(fault) for seen in visit.faults):
            break
        page.wait_for_timeout(50)
    else:
        pytest.fail(f"expected {fault}, got {visit.faults}")
    visit.faults.clear()


def test_a_quiet_page_is_quiet(made: Page, visit: Visits) -> None:
    """What a page holds itself is no request."""
    visit(made('<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><script>console.log("fine")</script>'))
    assert visit.faults == []


def test_what_lies_outside_is_seen(made: Page, visit: Visits) -> None:
    """Texts beyond the window, or cut off by a frame, are told; what people can scroll to is not."""
    wide = '<div style="width:3000px;text-align:right">far</div>'
    assert "far" in outside(visit(made(wide)))
    assert outside(visit(made(f'<div style="overflow:hidden">{wide}</div>'))) == ["far"]
    assert outside(visit(made(f'<div style="overflow:auto">{wide}</div>'))) == []


def test_what_axe_finds_is_seen(made: Page, visit: Visits) -> None:
    """A picture without words and grey on grey are serious faults."""
    grey = '<h1>Made</h1><p style="color:#999;background:#aaa">grey</p><img src="data:,">'
    assert {fault.split(":")[0] for fault in serious_faults(visit(made(grey)))} == {"color-contrast", "image-alt"}


def test_headings_and_colours_are_told(made: Page, visit: Visits) -> None:
    """Headings come with their level, colours as how bright they are."""
    page = visit(made("<h1>One</h1><h3>Three</h3><h2 hidden>Two</h2><style>body{background:#000;color:#fff}</style>"))
    assert headings(page) == [(1, "One"), (3, "Three")]
    assert brightness(page) == pytest.approx((0, 1))


def test_what_is_printed_is_told(made: Page, visit: Visits) -> None:
    """The text on paper is what the print style leaves."""
    assert printed(visit(made("<p>on paper</p><p class=a>not there</p><style>@media print{.a{display:none}}</style>"))) == "onpaper"


def test_other_loops_run_beside_it(chromium: object) -> None:
    """While the browser runs, other tests of the process run loops of their own."""
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"
