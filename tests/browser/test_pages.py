"""Every page in a browser: quiet, readable without scripts, in the dark, on a telephone and on a wide
screen."""

from itertools import pairwise

import pytest

from tests.browser.looking import brightness, headings, outside, serious_faults
from tests.browser.rendering import ALL, EXAMPLES, LARGE

WIDTHS = (360, 420, 1400, 2000)
MOST_BYTES = 1_000_000

every = pytest.mark.parametrize("subject", ALL, ids=str, scope="module")
usual = pytest.mark.parametrize("subject", [*EXAMPLES, *LARGE[:1]], ids=str, scope="module")
few = pytest.mark.parametrize("subject", EXAMPLES[::5], ids=str, scope="module")
"""For what one script does on all pages."""


@usual
def test_everybody_can_use_it(subject, page_file, visit):
    """axe-core finds no serious fault; in the dark texts stand out, too."""
    page = visit.look(page_file.as_uri())
    assert serious_faults(page) == []
    if not subject.needs_shared:
        page.emulate_media(color_scheme="dark")
        assert serious_faults(page, colours_alone=True) == []


@every
def test_headings_are_in_order(subject, page_file, visit):
    """There is one main heading, the verdict, and no level is left out on the way down."""
    levels = [level for level, _ in headings(visit.look(page_file.as_uri()))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


@every
def test_every_width_fits(subject, page_file, visit):
    """From a telephone to a wide screen nothing is cut off, and the page is not scrolled sideways."""
    page = visit.look(page_file.as_uri())
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = outside(page)
    assert found == {width: [] for width in WIDTHS}


@few
def test_it_is_dark_where_that_is_wished(subject, page_file, visit):
    """A page is dark for users who prefer that; a button changes it, and the choice is kept."""
    page = visit(page_file.as_uri(), color_scheme="dark")
    behind, text = brightness(page)
    assert behind < 0.3 < 0.7 < text
    page.locator("#theme").click()
    behind, text = brightness(page)
    assert text < 0.3 < 0.7 < behind
    other = page.context.new_page()
    for _ in range(1000):  # until the browser has passed on what it keeps
        other.goto(page_file.as_uri())
        if other.evaluate("document.documentElement.dataset.theme") == "light":
            break
        other.wait_for_timeout(100)
    assert brightness(other) == (behind, text)


@every
def test_it_reads_well_without_scripts(subject, page_file, visit):
    """Verdict, facts and the first rows of each table are there before any script runs."""
    page = visit(page_file.as_uri(), java_script_enabled=False)
    assert page.locator("h1").inner_text().strip()
    assert page.locator(".fact b, .legend b").first.inner_text().strip()
    assert page.locator("table").count()
    assert all(
        page.locator("table").nth(at).locator("tbody tr").count()
        for at in range(page.locator("table").count())
    )


@every
def test_it_is_small(subject, page_file):
    """A page has less than a million bytes, however large the cluster."""
    assert page_file.stat().st_size < MOST_BYTES
