"""Warnings as people see them."""

import sys

import pytest

from kubeclassic.api.reading.notices import Notice
from kubeclassic.cli.answering import tell_notices
from tests.support.program import Terminal

SAME = [Notice(f"Pod p{i}", "is odd") for i in range(3)]


def test_groups(capsys):
    """Equal ones are one line, and the last line says how to see all."""
    tell_notices([*SAME, Notice("", "no nodes")])
    assert (
        capsys.readouterr().err
        == "warning: Pod p0 and 2 more: is odd\nwarning: no nodes\n(--verbose lists all 4 warnings)\n"
    )


def test_all(capsys):
    """With verbose each is a line."""
    tell_notices(SAME, verbose=True)
    assert capsys.readouterr().err == "".join(f"warning: Pod p{i}: is odd\n" for i in range(3))


def test_nothing_is_hidden_silently(capsys):
    """Where nothing is put together nothing is said of it, and without notices nothing at all."""
    tell_notices([])
    tell_notices(SAME[:1])
    assert capsys.readouterr().err == "warning: Pod p0: is odd\n"
    tell_notices([Notice("Pod n/p", "is odd")], concerns={"Pod n/q"})
    assert capsys.readouterr().err == "(1 warning about other objects: see --verbose)\n"


@pytest.mark.parametrize("columns", [60, 100])
def test_lines_fit_a_terminal(monkeypatch, columns):
    """On a terminal lines are broken between words at its width."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", str(columns))
    tell_notices([Notice("Pod p", "a word " * 40)])
    lines = stream.getvalue().splitlines()
    assert len(lines) > 2
    assert all(len(line) <= columns for line in lines)
    assert " ".join(line.strip() for line in lines) == "warning: Pod p: " + " ".join(["a word"] * 40)
