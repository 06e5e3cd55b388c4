"""The pictures of the documentation are what their script draws."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.bench.growth import draw
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import pictures

SMALL = 20_000
"""Bytes of the largest picture."""


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_what_the_script_draws(name):
    """Each picture in docs/pictures is, byte for byte, what ``python docs/pictures.py`` draws now; it is
    small and has a title."""
    text = (pictures.FOLDER / f"{name}.svg").read_text()
    assert text == pictures.PICTURES[name](), "run python docs/pictures.py"
    assert len(text) < SMALL
    root = ET.fromstring(text)
    assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]


def test_no_picture_has_no_script():
    """Each picture of the documentation is drawn by a script: docs/pictures.py, or another one that names
    it."""
    drawn = {f"{name}.svg" for name in pictures.PICTURES} | {"growth.svg"}
    found = {
        path.name
        for ending in ("svg", "png", "jpg", "gif", "webp")
        for path in (ROOT / "docs").rglob(f"*.{ending}")
    }
    scripts = (
        path.read_text() for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_")
    )
    others = "".join(script for script in scripts if '__name__ == "__main__"' in script)
    assert drawn <= found
    assert [name for name in found - drawn if name not in others] == []


def test_the_rooms_are_there():
    """The picture of the rooms names folders and files of the package, and no package is missing."""
    named = {part.strip() for name, _ in pictures.FLOORS for part in name.split(",")}
    assert [name for name in named if not (ROOT / name).exists()] == []
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "build"}
    assert packages <= named


def test_the_curves_of_growth_are_those_of_its_tables(tmp_path):
    """The script draws the figures of the page about growth as curves, and the picture on the page has the
    same curves, point by point."""
    page = (ROOT / "docs" / "speed" / "growth.md").read_text()
    found = dict(zip(DRAWN, tables(page), strict=True))
    draw(found, tmp_path / "growth.svg")
    points = sorted(len(rows) for rows in found.values())
    assert curves(tmp_path / "growth.svg") == curves(ROOT / "docs" / "speed" / "growth.svg") == points


DRAWN = ("nodes", "nodes-mixed", "bound", "bound-mixed", "templates", "preemption")
"""The series in the order of the page."""


def tables(page):
    """The rows of each table of *page* about sizes: sizes and pods a second."""
    return [
        [
            {"size": int(size.replace(",", "")), "pods_per_s": int(rate.replace(",", ""))}
            for size, rate in _ROW.findall(section)
        ]
        for section in page.split("\n## ")[1:]
        if not section.startswith("Releases")
    ]


IN_A_LEGEND = 3
"""The points of a line in a legend."""
_ROW = re.compile(r"^\| ([\d,]+) \| ([\d,]+) \|", re.MULTILINE)


def curves(path):
    """The number of points of each curve in a picture, fewest first."""
    found = re.findall(
        r'<path d="([^"]*)"[^>]*style="fill: none; stroke: #(?:1f77b4|ff7f0e); stroke-width: 1.5',
        path.read_text(),
    )
    return sorted(
        points for points in (len(re.findall("[ML]", line)) for line in found) if points > IN_A_LEGEND
    )
