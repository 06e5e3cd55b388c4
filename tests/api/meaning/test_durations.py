"""Durations as Go writes them."""

import pytest

from kubeclassic.api.meaning.durations import UNITS, parse_duration


@pytest.mark.parametrize(
    "written, seconds",
    [
        ("0", 0.0),
        ("5s", 5.0),
        ("1h1m1s", 3661.0),
        ("1.5h", 5400.0),
        ("1.s", 1.0),
        (".5ms", 0.0005),
        ("3us2ns", 3.002e-6),
        ("7µs", 7e-6),
    ],
)
def test_durations(written, seconds):
    """Numbers with units add up; a fraction needs a digit on one side only."""
    assert parse_duration(written) == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["", "5", "s", ".s", "5 s", "5s ", "1d", "-5s", "5x", "1m30", "\u0661s"])
def test_other_texts(written):
    """A number without unit, another unit and anything else between is no duration."""
    assert parse_duration(written) is None


def test_more_units():
    """A caller may allow other units."""
    assert parse_duration("1d12h", {**UNITS, "d": 86400.0}) == 129600.0
