"""The page of ``upgrade``: each of its numbers is in ``-o json``, and its picture is one that browsers draw whole."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import ROOT
from tests.support.pages import with_page

CLUSTER = str(ROOT / "examples" / "cluster")


@pytest.fixture(scope="module", params=["1.16,1.19,1.22,1.29", "1.30,1.34"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """A page, and what ``-o json`` says."""
    return with_page(tmp_path_factory.mktemp("upgrade"), "upgrade", CLUSTER, "--steps", request.param, status=(0, 1))


def test_the_picture(pair: tuple[str, dict[str, object]]) -> None:
    """The picture has elements of SVG alone, a name for each release, and the pods of each in columns of one height."""
    html, record = pair
    found = re.search(r"<svg[^>]*releases in three states.*?</svg>", html, re.DOTALL)
    assert found is not None
    svg = ET.fromstring(found[0])
    assert {element.tag for element in svg.iter()} <= {"svg", "text", "rect", "path", "title"}
    stages = record["stages"]
    assert isinstance(stages, list)
    assert [element.text for element in svg.iter("text")] == [stage["release"] for stage in stages]
    heights: dict[str, float] = {}
    for bar in svg.iter("rect"):
        heights[bar.attrib["x"]] = heights.get(bar.attrib["x"], 0) + float(bar.attrib["height"])
    assert len(heights) == len(stages)
    assert max(heights.values()) - min(heights.values()) < 1


def test_patch_levels(pair: tuple[str, dict[str, object]]) -> None:
    """Each release has its patch level, and what other ones are known to decide otherwise."""
    html, record = pair
    stages = record["stages"]
    assert isinstance(stages, list)
    assert all(stage["like"] in html and stage["otherPatches"] in html for stage in stages)
