"""Every way in which a command can end has its exit status."""

import tempfile

import click
import pytest

from kubeclassic import __version__
from kubeclassic.cli import cli, run
from kubeclassic.cli.declaring.commands import Command
from kubeclassic.exceptions import RuleError

NOT_IN_LOCALE = "a character of a name that the locale's encoding, ascii, does not have"


@pytest.fixture
def ending(monkeypatch, tmp_path):
    """The name of a command that raises what the test puts into its place; reports of defects go to the
    test's folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("KUBECLASSIC_TRACEBACK", raising=False)
    return "ending"


def ends_with(monkeypatch, error, *arguments):
    """The exit status of a command that raises *error*."""

    def fail(verbose):
        raise error

    option = click.Option(["-v", "--verbose"], is_flag=True)
    monkeypatch.setitem(cli.commands, "simulate", Command("simulate", callback=fail, params=[option]))
    return run(["simulate", *arguments])


def test_a_defect(ending, tmp_path, monkeypatch, capsys):
    """A defect is status 3: two lines that say so, and a file with what ran, the version and the
    traceback."""
    assert ends_with(monkeypatch, KeyError("nope")) == 3
    first, second = capsys.readouterr().err.splitlines()
    (file,) = tmp_path.glob("kubeclassic-defect-*.txt")
    assert first == "kubeclassic: internal error: KeyError: 'nope'"
    assert (f"This is a bug in kubeclassic {__version__}." in second, str(file) in second) == (True, True)
    report = file.read_text()
    parts = (
        f"kubeclassic {__version__}, Python 3.",
        "kubeclassic simulate\n",
        "raise error",
        "KeyError: 'nope'",
    )
    assert [part for part in parts if part not in report] == []


@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_defect_told_in_full(ending, how, monkeypatch, capsys):
    """With -v, or with KUBECLASSIC_TRACEBACK, the traceback is on standard error too."""
    if how == "environment":
        monkeypatch.setenv("KUBECLASSIC_TRACEBACK", "1")
    assert ends_with(monkeypatch, RecursionError("too deep"), *(["-v"] if how == "option" else [])) == 3
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_defect_without_a_place_for_its_report(ending, tmp_path, monkeypatch, capsys):
    """Where no file can be written the report is on standard error."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert ends_with(monkeypatch, ValueError("odd")) == 3
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "Please report it with the text above." in told


def test_a_rule_that_fails(ending, monkeypatch, capsys):
    """A user's rule that fails is bad input in one line; with -v the frames of the user's files follow."""
    error = RuleError("rule Mine (my.py, line 7): got None", "  File my.py, line 7\n")
    assert ends_with(monkeypatch, error) == 2
    assert capsys.readouterr().err == "kubeclassic: rule Mine (my.py, line 7): got None\n"
    assert ends_with(monkeypatch, error, "--verbose") == 2
    assert capsys.readouterr().err.splitlines()[1:] == ["  File my.py, line 7"]


@pytest.mark.parametrize(
    "error, status, told",
    [
        (MemoryError(), 2, "kubeclassic: not enough memory for this input\n"),
        (
            PermissionError(13, "Permission denied", "some.yaml"),
            2,
            "kubeclassic: some.yaml: permission denied\n",
        ),
        (UnicodeEncodeError("ascii", "p\xe9", 1, 2, "no"), 2, f"kubeclassic: '\\xe9': {NOT_IN_LOCALE}\n"),
        (SystemExit("a text"), 1, "kubeclassic: a text\n"),
        (SystemExit(0), 0, ""),
        (KeyboardInterrupt(), 130, "\n"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_other_endings(ending, error, status, told, monkeypatch, capfd):
    """Too little memory and errors of the system are bad input in one line; Ctrl-C is 130, a reader that has
    gone 141, both silent."""
    if isinstance(error, BrokenPipeError):
        monkeypatch.setattr("kubeclassic.cli.console.output.silence", lambda number: None)
    assert ends_with(monkeypatch, error) == status
    assert capfd.readouterr().err == told
