"""docs/guides/capacity.md: each command runs, and prints what the page shows."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from kubeclassic.cli import run
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "guides" / "capacity.md"


def shown() -> dict[str, str]:
    """Command -> the output that the page shows; empty where it shows none."""
    found: dict[str, str] = {}
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found[command] = output
    return found


@pytest.mark.parametrize("command", shown())
def test_a_command_prints_what_is_shown(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command of the page ends with status 0, and its output is the one shown there."""
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    assert (program, run(arguments)) == ("kubeclassic", 0)
    assert capsys.readouterr().out == shown()[command]


def test_the_python_on_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python examples give what they say."""
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 5) == (0, True)


def test_links_lead_somewhere() -> None:
    """The test that the page names is there."""
    named = re.findall(r"`(tests/[^`]+)`", PAGE.read_text(encoding="utf-8"))
    assert named
    assert all((Path(ROOT) / name).is_file() for name in named)
