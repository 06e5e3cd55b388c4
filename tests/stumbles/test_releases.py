"""Point 16 of "Nothing to stumble over": releases says what replaced what, for people and as JSON."""

import pytest

from tests.support.program import ran

PAIRS = [
    ("1.12", "1.13"),
    ("1.15", "1.16"),
    ("1.16", "1.27"),
    ("1.12", "1.27"),
    ("1.27", "1.14"),
    ("1.27", "1.27"),
]


@pytest.mark.parametrize("before, after", PAIRS)
@pytest.mark.parametrize("width", [60, 100, 200])
def test_it_fits_the_terminal(before, after, width):
    """No line is wider than the terminal, and no name is cut."""
    asked = ([], [before], [after], ["--diff", before, after])
    lines = [line for words in asked for line in ran("releases", *words, columns=width).out.splitlines()]
    assert max(map(len, lines)) <= width
    assert not any(".." in line for line in lines)


def test_people_get_words():
    """People read what a cell means, not its name."""
    text = ran("releases", "--diff", "1.14", "1.15", columns=200).out
    assert "preemptionPolicy Never is honoured" in text
    assert "never_policy" not in text
    assert "never policy" not in text
