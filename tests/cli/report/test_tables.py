"""Tables fit a width: names lose their middle, sentences are wrapped, columns without room go below; numbers
are never cut."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.cli.report.tables import Figure, TextTable, shorten, wants_colour, width_of
from tests.support.program import Terminal

POD = "shop/storefront-7d4b9c6f5-x2x9z"
MESSAGE = "0/11 nodes are available: 1 node(s) were unschedulable, 6 Insufficient cpu."


@given(st.text("abc-/", max_size=40), st.integers(1, 40))
def test_it_is_short_enough(name, width):
    """A name is at most as long as asked for, and unchanged where it was."""
    found = shorten(name, width)
    assert len(found) == min(len(name), width)
    assert found == name or ".." in found or width < 2


def test_the_end_stays():
    """The middle goes: replicas differ at the end."""
    assert shorten(POD, 20) == "shop/stor..6f5-x2x9z"


def test_without_a_width_nothing_is_cut():
    """Every cell is whole, and a row is a line."""
    assert list(TextTable(["pod", "message"], [[POD, MESSAGE]]).lines()) == [
        f"POD{'':31}MESSAGE",
        f"{POD}   {MESSAGE}",
    ]


def test_sentences_are_wrapped():
    """A sentence goes on in its own column."""
    lines = list(TextTable(["pod", "message"], [["a", MESSAGE]]).lines(50))
    assert lines[1:] == [
        "a     0/11 nodes are available: 1 node(s) were",
        "      unschedulable, 6 Insufficient cpu.",
    ]


def test_names_are_shortened():
    """Names give way, the widest one first."""
    (line,) = TextTable(["pod", "node", "n"], [[POD, "b", 7]], with_headers=False).lines(30)
    assert line == "shop/store..c6f5-x2x9z   b   7"


def test_columns_without_room_go_below():
    """Further columns follow in a second block, which names the rows again."""
    table = TextTable(["node", "requested", "free"], [["a", Figure("7,000.0 GiB"), Figure("8.0 TiB")]])
    assert list(table.lines(20)) == [
        "NODE     REQUESTED",
        "a      7,000.0 GiB",
        "",
        "NODE      FREE",
        "a      8.0 TiB",
    ]


@given(
    st.lists(
        st.lists(st.one_of(st.integers(0, 10**6), st.text("abc- ", max_size=60)), min_size=4, max_size=4),
        min_size=1,
        max_size=5,
    ),
    st.integers(60, 200),
)
def test_no_line_is_too_long(rows, width):
    """From 60 columns on every line fits, and each number is whole."""
    lines = list(TextTable(["pod", "node", "cpu", "message"], rows).lines(width))
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert all(str(cell) in text for row in rows for cell in row if isinstance(cell, int))


def test_long_sentences_go_below():
    """A sentence that would take more than three lines beside names is below, where only rows with one
    stand."""
    said = "0/11 nodes are available: " + "1 node(s) had a taint, " * 6
    table = TextTable(
        ["pod", "node", "message"], [["shop/web-0", "worker-1", None], ["shop/web-1", "<none>", said]]
    )
    first, below = "\n".join(table.lines(60)).split("\n\n")
    assert first.splitlines() == ["POD          NODE", "shop/web-0   worker-1", "shop/web-1   <none>"]
    assert below.splitlines()[0].split() == ["POD", "MESSAGE"]
    assert below.count("shop/") == 1
    assert "".join(said.split()) in "".join(below.replace("shop/web-1", "").split())
    assert len("\n".join(table.lines(200)).split("\n\n")) == 1


def test_a_block_without_rows_is_left_out():
    """Where no row has anything to say below, nothing stands there."""
    names = ["name-of-twenty-letter", "name-of-twenty-lettes"]
    table = TextTable(
        ["pod", "node", "a-title-of-thirty-characters-x"], [[name, name, None] for name in names]
    )
    assert len("\n".join(table.lines(60)).split("\n\n")) == 1


def test_headers_can_be_left_out():
    """Without headers the columns are as narrow as their cells."""
    assert list(TextTable(["pod", "priority"], [["a", 7]], with_headers=False).lines()) == ["a   7"]


def test_colour_is_outside_of_the_width():
    """Headers are bold and a missing node red; the text is the same."""
    header, line = TextTable(["pod", "node"], [["a", "<none>"]]).lines(colour=True)
    assert (header, line) == ("\x1b[1mPOD   NODE\x1b[0m", "a     \x1b[31m<none>\x1b[0m")


def test_what_is_no_terminal_has_no_width_and_no_colour(monkeypatch):
    """A pipe or file is neither cut nor coloured, whatever COLUMNS says."""
    monkeypatch.setenv("COLUMNS", "40")
    assert width_of(io.StringIO()) is None
    assert not wants_colour(io.StringIO())


@pytest.mark.parametrize(
    "columns, width",
    [("72", 72), ("0", None), ("wide", None), ("\N{ARABIC-INDIC DIGIT THREE}", None), ("9" * 5000, None)],
)
def test_columns_of_the_environment(monkeypatch, columns, width):
    """At a terminal COLUMNS counts, if it is a number."""
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(Terminal()) == width
