"""Point 16 of "Nothing to stumble over": releases says what replaced what, for people and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kubeclassic.cli import run
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.schemas import faults, version_of

Capture = pytest.CaptureFixture[str]
PAIRS = [("1.12", "1.13"), ("1.15", "1.16"), ("1.16", "1.27"), ("1.12", "1.27"), ("1.27", "1.14"), ("1.27", "1.27")]


def at_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Let the terminal be *width* characters wide."""
    monkeypatch.setattr("kubeclassic.cli.report.tables.width_of", lambda stream: width)


def told(capsys: Capture, *arguments: str) -> str:
    """What the command prints."""
    assert run(["releases", *arguments]) == 0
    return capsys.readouterr().out


def found(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """The same as JSON."""
    document: dict[str, Any] = json.loads(told(capsys, *arguments, "-o", "json"))
    return document


def test_all_are_listed(capsys: Capture) -> None:
    """The list has the release with plugins too, and says of each which patch level it is like."""
    listed = found(capsys)["releases"]
    assert [entry["release"] for entry in listed] == list(ALL_RELEASES)
    assert all(entry["like"].startswith(entry["release"]) for entry in listed)
    assert [entry["release"] for entry in listed if entry["default"]] == ["1.16", "1.27"]


def test_the_newest_is_described(capsys: Capture) -> None:
    """A release with plugins is described: each plugin with its extension points, weight and whether it is a default."""
    plugins = found(capsys, "1.27")["plugins"]
    assert plugins["NodeAffinity"] == {"points": ["preFilter", "filter", "preScore", "score"], "weight": 2, "default": True}
    assert plugins["CinderLimits"]["default"] is False
    assert plugins["DefaultBinder"]["weight"] is None


def test_what_replaced_what(capsys: Capture) -> None:
    """Each predicate and priority has its plugin, the extension points, both defaults, and one sentence on what is different."""
    successors = {entry["rule"]: entry for entry in found(capsys, "--diff", "1.16", "1.27")["successors"]}
    assert successors["NoDiskConflict"]["plugins"] == [{"plugin": "VolumeRestrictions", "points": ["preFilter", "filter"]}]
    taints = successors["TaintTolerationPriority"]
    assert (taints["before"], taints["after"]) == ("default, weight 1", "default, weight 3")
    assert successors["NodePreferAvoidPodsPriority"]["plugins"] == []
    assert "ReadWriteOncePod" in successors["NoDiskConflict"]["words"]


def test_arithmetic_messages_and_configuration(capsys: Capture) -> None:
    """What is different besides single rules is told: the scale of scores, the words of reasons, Policies."""
    diff = found(capsys, "--diff", "1.16", "1.27")
    changes = {change["what"]: change for change in diff["changes"]}
    assert (changes["score of a rule"]["older"], changes["score of a rule"]["newer"]) == ("0 to 10", "0 to 100")
    assert "gone since 1.23" in changes["what runs"]["newer"]
    assert {"Insufficient pods": "Too many pods"}.items() <= {message["older"]: message["newer"] for message in diff["messages"]}.items()


@pytest.mark.parametrize(("before", "after"), PAIRS)
@pytest.mark.parametrize("width", [60, 100, 200])
def test_it_fits_the_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch, before: str, after: str, width: int) -> None:
    """No line is wider than the terminal, and no name is cut."""
    at_width(monkeypatch, width)
    texts = [told(capsys), told(capsys, before), told(capsys, after), told(capsys, "--diff", before, after)]
    lines = [line for text in texts for line in text.splitlines()]
    assert max(map(len, lines)) <= width
    assert not any(".." in line for line in lines)


def test_people_get_words(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """People read what a cell means, not its name."""
    at_width(monkeypatch, 200)
    text = told(capsys, "--diff", "1.14", "1.15")
    assert "preemptionPolicy Never is honoured" in text
    assert "never_policy" not in text
    assert "never policy" not in text


@pytest.mark.parametrize("arguments", [[], *([release] for release in ALL_RELEASES), *(["--diff", *pair] for pair in PAIRS)])
def test_json_fits_its_schema(capsys: Capture, arguments: list[str]) -> None:
    """What -o json and -o yaml print is what the schema says."""
    document = found(capsys, *arguments)
    assert faults("releases", document) == []
    assert document["apiVersion"] == version_of("releases")
    assert yaml.safe_load(told(capsys, *arguments, "-o", "yaml")) == document
