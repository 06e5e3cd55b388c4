"""The page of the documentation that shows every part of pages, with its rule."""

import sys

from kubeclassic.api.view import CHANGES
from tests.browser.looking import headings, outside, serious_faults
from tests.conftest import ROOT

if str(ROOT / "docs") not in sys.path:
    sys.path.insert(0, str(ROOT / "docs"))

from making import parts

WIDTHS = (360, 1400)
PARTS = (
    ".fact",
    ".who",
    ".next",
    ".tiles",
    ".map svg",
    ".chart svg",
    ".stack",
    ".track",
    ".list",
    ".matrix",
    ".note",
    "details",
    ".about",
)


def test_every_part_is_there_for_everybody(visit, tmp_path):
    """Each part and each word is on it; axe-core finds no serious fault, also in the dark, and nothing is cut
    off."""
    (tmp_path / "parts.html").write_text(parts.page())
    page = visit((tmp_path / "parts.html").as_uri())
    assert [part for part in PARTS if not page.locator(part).count()] == []
    words = page.locator(".who .tag").all_inner_texts()
    assert sorted(words) == sorted(word for word, _ in CHANGES.values())
    assert [level for level, _ in headings(page)].count(1) == 1
    assert serious_faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert serious_faults(page, colours_alone=True) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert outside(page) == []
