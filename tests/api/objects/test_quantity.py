"""Quantities: exact values, rounding away from zero, the original's overflows."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects.quantity import MAX_INT64, Quantity, wrap_int64
from kubeclassic.exceptions import KubeclassicError, QuantityError

SUFFIXES = {
    **{
        suffix: Fraction(10) ** exponent
        for suffix, exponent in zip(
            ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"], range(-9, 19, 3), strict=True
        )
    },
    **{
        suffix: Fraction(2) ** (10 * (index + 1))
        for index, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
    },
}


def away(number):
    """*number* rounded away from zero, by the book."""
    whole = abs(number.numerator) // number.denominator
    whole += whole * number.denominator != abs(number.numerator)
    return whole if number >= 0 else -whole


@st.composite
def written(draw):
    """A text of up to 24 digits, its exact value and its suffix."""
    sign = draw(st.sampled_from(["", "+", "-"]))
    digits = draw(st.text("0123456789", min_size=1, max_size=12))
    fraction = draw(st.text("0123456789", max_size=12))
    suffix = draw(st.sampled_from([*SUFFIXES, "e3", "E-3", "e+2", "e-12"]))
    number = f"{digits}.{fraction}" if fraction else digits
    factor = SUFFIXES[suffix] if suffix in SUFFIXES else Fraction(10) ** int(suffix[1:])
    return f"{sign}{number}{suffix}", Fraction(f"{sign}{number}") * factor, suffix


# --- Parsing ------------------------------------------------------------------------------------------------


@given(written())
def test_value_is_exact_to_a_billionth(case):
    """A text means its number, rounded away from zero to 1e-9; binary suffixes stop at 2^63-1."""
    text, exact, suffix = case
    nanos = away(exact * 10**9)
    if suffix.endswith("i"):
        nanos = max(min(nanos, MAX_INT64 * 10**9), -MAX_INT64 * 10**9)
    assert Quantity.parse(text).nanos == nanos


@given(written())
def test_what_fits_is_rounded_away_from_zero(case):
    """Positive amounts that fit 64 bits round up to whole numbers and to thousandths."""
    exact = abs(case[1])
    if exact * 1000 > 2**62:
        return
    quantity = Quantity.parse(case[0].lstrip("+-"))
    stored = Fraction(quantity.nanos, 10**9)
    assert (quantity.value(), quantity.milli_value()) == (away(stored), away(stored * 1000))


@given(written())
def test_canonical_text_is_the_same_amount(case):
    """The canonical text of an amount reads back as that amount."""
    quantity = Quantity.parse(case[0])
    assert Quantity.parse(str(quantity)).nanos == quantity.nanos


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "1.2.3",
        "1Kb",
        "1mi",
        "e5x",
        "1 Gi",
        "0x10",
        "1_000",
        "\u0661",
        "NaN",
        "1e",
        "1e1.5",
        "--1",
        "Ei",
        "e-20",
    ],
)
def test_bad_syntax_is_refused(text):
    """A text that is no quantity raises an error that says what was got and wanted."""
    with pytest.raises(QuantityError, match=f"^expected a number .*, {re.escape(f'got {text!r}')}$"):
        Quantity.parse(text)


@pytest.mark.parametrize("value", [True, [], {}, float("inf"), float("nan")])
def test_other_json_values_are_refused(value):
    """Only texts and finite numbers are quantities."""
    with pytest.raises(KubeclassicError):
        Quantity.parse(value)


@pytest.mark.parametrize(
    "value, nanos",
    [(None, 0), (2, 2 * 10**9), (1.5, 15 * 10**8), (1e21, 10**30), (10**30, 10**39), (" 1 ", 10**9)],
)
def test_numbers_null_and_blanks_are_taken(value, nanos):
    """Bare JSON numbers are read by their text, null is zero, blanks around a text do not matter."""
    assert Quantity.parse(value).nanos == nanos


@pytest.mark.parametrize("text", ["-", "+", ".", "Ki", "k", "-m", "000", "0Ei", ".e3"])
def test_no_digits_are_zero(text):
    """Upstream reads a sign, a dot or a small suffix alone as zero."""
    assert not Quantity.parse(text)


def test_huge_exponents_are_refused():
    """An exponent beyond all reason is an error, not an endless computation."""
    with pytest.raises(QuantityError, match="expected an exponent of at most 4096"):
        Quantity.parse("1e999999999")
    assert Quantity.parse("1e-999999999").nanos == 1


def test_negative_long_amounts_lose_one():
    """A negative big decimal is cut towards zero and then still has 1 added."""
    long = Quantity.parse("-1.0000000001")
    assert (long.value(), long.milli_value()) == (0, -999)


def test_resource_lists_are_stored_in_thousandths():
    """Amounts finer than a thousandth are rounded away from zero, in short and long quantities."""
    assert [str(Quantity.parse(text).rounded_to_milli()) for text in ("100u", "1.0000000001", "2")] == [
        "1m",
        "1001m",
        "2",
    ]


# --- Overflow -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["10P", "1e16", "1e30", "1E4096"])
def test_short_quantities_become_nothing(text):
    """A short quantity whose thousandths do not fit 64 bits counts as 0."""
    assert Quantity.parse(text).milli_value() == 0


@pytest.mark.parametrize("text, steps", [("9223372036854776", 3), ("9223372036854776k", 6)])
def test_short_quantities_wrap_where_one_multiplication_does(text, steps):
    """Bits beyond 64 are lost where upstream multiplies once to get the thousandths."""
    assert Quantity.parse(text).milli_value() == wrap_int64(9223372036854776 * 10**steps) != 0
    assert (Quantity.parse("1e18") + Quantity.parse("1")).milli_value() == 3875820019684213736


def test_long_quantities_wrap():
    """A quantity of more than 18 digits loses what is beyond 64 bits."""
    long = Quantity.parse("12345678901234567890")
    assert long.value() == wrap_int64(12345678901234567890)
    assert long.milli_value() == wrap_int64(12345678901234567890 * 1000)


def test_capped_quantities_wrap():
    """A binary quantity is capped at 2^63-1, and its thousandths wrap."""
    capped = Quantity.parse("100Ei")
    assert (capped.value(), capped.milli_value()) == (MAX_INT64, -1000)
    assert Quantity.parse("-100Ei").value() == -MAX_INT64


def test_powers_beyond_int64_turn_into_the_smallest():
    """A long quantity of scale 0, multiplied by a power of ten beyond 10^18, is odd or even times -2^63."""
    long_zero = Quantity.parse(f"0.{'0' * 20}e40")
    assert (long_zero + Quantity.parse("3e20")).value() == -(2**63)
    assert (long_zero + Quantity.parse("4e20")).value() == 0


# --- Arithmetic ---------------------------------------------------------------------------------------------


@given(written(), written())
def test_sums_are_exact(one, other):
    """The sum of two quantities is the sum of their exact values, in either order."""
    a = Quantity.parse(one[0])
    b = Quantity.parse(other[0])
    assert (a + b).nanos == (b + a).nanos == a.nanos + b.nanos


def test_short_sums_that_overflow_become_long():
    """Two short quantities whose sum does not fit 64 bits add up to one that wraps, not to nothing."""
    half = Quantity.of(2**62)
    assert (half + half).value() == -(2**63)


@given(st.lists(written(), min_size=2, max_size=6))
def test_order_is_that_of_the_exact_values(cases):
    """Quantities sort by their exact values."""
    quantities = sorted(Quantity.parse(case[0]) for case in cases)
    assert [quantity.nanos for quantity in quantities] == sorted(quantity.nanos for quantity in quantities)


def test_equal_amounts_are_equal():
    """Equal amounts are equal and have one hash, however they are written."""
    assert {Quantity.parse(text) for text in ("1", "1000m", "1e0", "0.001k")} == {Quantity.of(1)}
    one = Quantity.parse("1")
    assert one != 1


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("0.1", "100m"),
        ("1.5", "1500m"),
        ("1000", "1k"),
        ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("12e6", "12e6"),
        ("12000000", "12M"),
        ("0", "0"),
        ("-5k", "-5k"),
        ("1e21", "1e21"),
    ],
)
def test_canonical(text, canonical):
    """A quantity is shown without fraction, with the largest suffix that loses nothing, of the kind it
    was written with."""
    assert str(Quantity.parse(text)) == canonical


def test_repr_reads_back():
    """The representation is an expression for the same quantity."""
    assert eval(repr(Quantity.parse("1.5Gi"))) == Quantity.parse("1536Mi")
