"""Point 16 of "Nothing to stumble over": releases says what replaced what, for people and as JSON."""

from __future__ import annotations

import pytest

from kubeclassic.cli import run

Capture = pytest.CaptureFixture[str]
PAIRS = [("1.12", "1.13"), ("1.15", "1.16"), ("1.16", "1.27"), ("1.12", "1.27"), ("1.27", "1.14"), ("1.27", "1.27")]


def at_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Let the terminal be *width* characters wide."""
    monkeypatch.setattr("kubeclassic.cli.report.tables.width_of", lambda stream: width)


def told(capsys: Capture, *arguments: str) -> str:
    """What the command prints."""
    assert run(["releases", *arguments]) == 0
    return capsys.readouterr().out


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
