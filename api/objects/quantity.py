"""Kubernetes quantities (``500m``, ``1.5Gi``, ``2e3``): exact values that round and overflow as in Go.

Upstream: k8s.io/apimachinery pkg/api/resource. There a short quantity is an int64 and a power of ten, a
longer one is a big decimal. The two overflow differently, so :class:`Quantity` remembers which one it is in
Go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, NoReturn, TypeAlias

from msgspec import Meta

from ...exceptions import QuantityError, one_line

Int32: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
IntOrString: TypeAlias = int | str
"""A number, or a text such as ``50%``."""


MAX_INT64 = 2**63 - 1
_NANO = -9
_MAX_DIGITS = 18
_MAX_EXPONENT = 4096
_ONE_STEP = (1, 2, 3, 6, 9)
"""Powers of ten that the original multiplies by at once."""

_SYNTAX = re.compile(r"([+-]?+)0*+([0-9]*+)(?:(\.)([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)", re.ASCII)
_LONGEST = 4200
"""The characters that a quantity may have. Python reads numbers of up to 4,300 digits; upstream has no
limit."""
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_WANTED = "expected a number with an optional suffix: n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or e<exponent>"


def wrap_int64(number: int) -> int:
    """*number* cut to 64 bits, as in Go."""
    return (number + 2**63) % 2**64 - 2**63


def round_away(number: int, divisor: int) -> int:
    """*number* divided by *divisor*, rounded away from zero."""
    if number < 0:
        return number // divisor
    return -(-number // divisor)


class Quantity:
    """An amount of a resource: immutable, hashable, compared exactly.

    >>> Quantity.parse("1.5Gi").value(), Quantity.parse("100m").milli_value(), str(Quantity.parse("1536Mi"))
    (1610612736, 100, '1536Mi')
    >>> Quantity.parse("1k") == Quantity.parse(1000) > Quantity.parse("999.5")
    True
    """

    __slots__ = ("_is_big", "_scale", "_style", "_text", "_unscaled", "nanos")
    nanos: int
    """The exact value in units of 1e-9."""
    _unscaled: int
    _scale: int
    _is_big: bool
    _style: str
    _text: str

    def __init__(
        self,
        nanos: int = 0,
        unscaled: int = 0,
        scale: int = 0,
        is_big: bool = False,
        style: str = "decimal",
        text: str = "",
    ) -> None:
        """*unscaled* times ten to the *scale*; *is_big*: a big decimal in Go; *text*: as written, where Go
        keeps that."""
        set_once = object.__setattr__
        set_once(self, "nanos", nanos)
        set_once(self, "_unscaled", unscaled)
        set_once(self, "_scale", scale)
        set_once(self, "_is_big", is_big)
        set_once(self, "_style", style)
        set_once(self, "_text", text)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a Quantity cannot be changed")

    def __reduce__(self) -> tuple[type[Quantity], tuple[object, ...]]:
        return Quantity, (self.nanos, *self.form)

    @classmethod
    def parse(cls, raw: str | float | None) -> Quantity:
        """The quantity of a value in JSON or YAML: a text, a number, or None for zero.

        Raises :class:`~kubeclassic.exceptions.QuantityError` for anything else. Rounds away from zero
        to multiples of 1e-9; amounts with a binary suffix stop at 2^63-1.
        """
        if isinstance(raw, str):
            return _parse(raw)
        if raw is None:
            return ZERO
        if isinstance(raw, bool) or not isinstance(raw, (int, float)):
            raise QuantityError(f"{_WANTED}, got {one_line(repr(raw), 80)}")
        # A number as text. Python refuses to write integers of very many digits.
        if isinstance(raw, int) and raw.bit_length() > _LONGEST * 4:
            raise QuantityError(f"{_WANTED}, got more than {_LONGEST:,} digits")
        return _parse(repr(raw))

    @classmethod
    def of(cls, amount: int | str) -> Quantity:
        """The quantity of a computed whole number, or of a text as in a manifest."""
        if isinstance(amount, int) and -MAX_INT64 <= amount <= MAX_INT64:
            return _make(amount, 0, False, "decimal")
        return cls.parse(amount)

    @property
    def form(self) -> tuple[int, int, bool, str, str]:
        """The parts of a quantity that Go compares and hashes, notation included: ``1000m`` and ``1``
        differ."""
        return (self._unscaled, self._scale, self._is_big, self._style, self._text)

    @property
    def written(self) -> str:
        """As Go writes it after reading it: as it was written where that looks canonical, else in its
        canonical form.

        >>> [Quantity.parse(text).written for text in ("4000m", "1500m", "04", "1.5", "1.500", "2048Ki", "2047Ki", "100E-3")]
        ['4', '1500m', '04', '1500m', '1.500', '2Mi', '2047Ki', '100E-3']
        """
        return self._text or str(self)

    def value(self) -> int:
        """The amount rounded away from zero to a whole number, an int64; see :meth:`milli_value` for what
        does not fit."""
        return self._at_scale(0)

    def milli_value(self) -> int:
        """The amount in thousandths, rounded away from zero, an int64.

        What does not fit wraps for a quantity of more than 18 digits, and for a short one that one
        multiplication makes; else it is 0.
        """
        return self._at_scale(-3)

    def rounded_to_milli(self) -> Quantity:
        """The quantity rounded away from zero to thousandths, as the API server stores resource lists.

        >>> [Quantity.parse(text).rounded_to_milli().milli_value() for text in ("0.1m", "1.5", "1000E")]
        [1, 1500, 1000]
        """
        if abs(self.nanos) > MAX_INT64 * 10**9:
            return Quantity.parse(self.written)  # It is read again as it was written, in another form maybe.
        if self._scale >= -3:
            return self
        return _make(round_away(self._unscaled, int(10 ** (-3 - self._scale))), -3, self._is_big, self._style)

    def _at_scale(self, scale: int) -> int:
        if self._is_big:
            # A big decimal divided by `10 ** up`, or multiplied if *up* is negative, with the original's odd
            # cases.
            unscaled = self._unscaled
            up = scale - self._scale
            if up <= 0:
                # Upstream: from 10^19 on, the float that holds the power becomes the smallest int64.
                power: int = 10**-up if up >= -_MAX_DIGITS else -(2**63)
                return wrap_int64(wrap_int64(unscaled) * power)
            if unscaled < MAX_INT64 and up <= _MAX_DIGITS:
                # Upstream: a negative big decimal is truncated, then 1 is added, so -1.5 becomes 0.
                wrapped = wrap_int64(unscaled)
                quotient, rest = divmod(abs(wrapped), int(10**up))
                return (quotient if wrapped >= 0 else -quotient) + (1 if rest else 0)
            ceiling: int = -(-unscaled // 10**up)
            return wrap_int64(ceiling)
        if self._scale < scale:
            return round_away(self._unscaled, 10 ** (scale - self._scale))
        exact: int = self._unscaled * 10 ** (self._scale - scale)
        if -MAX_INT64 <= exact <= MAX_INT64:
            return exact
        # Upstream: a short quantity too large for int64 counts as nothing, unless one multiplication would do.
        return wrap_int64(exact) if self._scale - scale in _ONE_STEP else 0

    def __add__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        scale = min(self._scale, other._scale)
        unscaled = self._unscaled * 10 ** (self._scale - scale) + other._unscaled * 10 ** (
            other._scale - scale
        )
        style = self._style if self.nanos else other._style
        if self._is_big or other._is_big:
            return _make(unscaled, scale, True, style)
        if not self._unscaled or not other._unscaled:
            nonzero = self if self._unscaled else other
            return _make(nonzero._unscaled, nonzero._scale, False, style)
        # Whether the sum of two short quantities stays short: the scaled operands and the total must be
        # int64s.
        operands = (part._unscaled * 10 ** (part._scale - scale) for part in (self, other))
        return _make(
            unscaled,
            scale,
            not all(-MAX_INT64 <= number <= MAX_INT64 for number in (*operands, unscaled)),
            style,
        )

    def __neg__(self) -> Quantity:
        return _make(-self._unscaled, self._scale, self._is_big, self._style)

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos if isinstance(other, Quantity) else NotImplemented

    def __le__(self, other: Quantity) -> bool:
        return self.nanos <= other.nanos if isinstance(other, Quantity) else NotImplemented

    def __repr__(self) -> str:
        return f"Quantity.of({str(self)!r})"

    def __str__(self) -> str:
        """The canonical text: exact, without fraction, with the largest suffix possible, binary or decimal as
        it was written."""
        if self._style == "binary" and abs(self.nanos) >= 1024 * 10**9 and self.nanos % 10**9 == 0:
            number = self.nanos // 10**9
            exponent = 0
            while exponent < 6 and number % 1024 == 0:
                number //= 1024
                exponent += 1
            return f"{number}{('', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei')[exponent]}"
        nanos = self.nanos
        style = self._style
        if not nanos:
            return "0"
        exponent = _NANO
        while nanos % 1000 == 0:
            nanos //= 1000
            exponent += 3
        if style == "exponent":
            return f"{nanos}e{exponent}" if exponent else str(nanos)
        return f"{nanos}{_DECIMAL_SUFFIX.get(exponent, '')}"  # Upstream: nothing above E has a suffix.


def whole_numbers(amounts: Mapping[str, Quantity]) -> dict[str, int]:
    """The amounts of resources as the scheduler's whole numbers, rounded up: cpu in thousandths."""
    return {
        name: quantity.milli_value() if name == "cpu" else quantity.value()
        for name, quantity in amounts.items()
    }


def notation(*amounts: Mapping[str, Quantity]) -> tuple[object, ...]:
    """The form of each amount, for caches: equal amounts may be written otherwise, as 1Gi and 1073741824, and
    each object keeps its own."""
    return tuple([amount.form for quantities in amounts for amount in quantities.values()])


def _make(unscaled: int, scale: int, is_big: bool, style: str) -> Quantity:
    """The quantity ``unscaled * 10 ** scale``; *scale* is at least -9."""
    return Quantity(unscaled * 10 ** (scale - _NANO), unscaled, scale, is_big, style)


def _with_text(quantity: Quantity, text: str) -> Quantity:
    return Quantity(quantity.nanos, *quantity.form[:-1], text.strip())


ZERO = Quantity()


@lru_cache(maxsize=1 << 16)
def _parse(text: str) -> Quantity:
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        raise QuantityError(f"expected at most {_LONGEST:,} characters, got {_shown(stripped)}")
    match = _SYNTAX.fullmatch(stripped)
    if not stripped or match is None:
        raise QuantityError(f"{_WANTED}, got {_shown(text)}")
    sign, whole, _, fraction, suffix = match.groups("")
    if not (suffix or whole or fraction):
        return ZERO  # Upstream: a sign or a dot alone is zero too
    # Short with few digits and nothing below 1e-9, else big.
    whole = whole or "0"
    digits = int(sign + whole + fraction)
    number = stripped[: len(stripped) - len(suffix)]
    if suffix in _BINARY:
        bits = _BINARY[suffix]
        # Upstream: the number of digits of a power of two is only estimated.
        if not fraction and len(whole) + bits * 3 // 10 <= 14:
            quantity = _make(digits << bits, 0, False, "binary")
            return _with_text(quantity, text) if abs(digits) & 7 else quantity
        _require_digit(text, number)
        nanos = _to_nanos(digits << bits, -len(fraction))
        style = "decimal" if 0 < abs(nanos) < 10**9 else "binary"
        if abs(nanos) > MAX_INT64 * 10**9:
            return _make(MAX_INT64 if nanos > 0 else -MAX_INT64, 0, True, style)
        return _make(nanos, _NANO, True, style)
    exponent = _decimal_exponent(text, suffix)
    style = "decimal" if suffix in _DECIMAL else "exponent"
    if exponent + len(whole) > _LONGEST:
        raise QuantityError(f"expected a number of at most {_LONGEST:,} digits, got {_shown(text)}")
    scale = exponent - len(fraction)
    if len(whole) + len(fraction) <= _MAX_DIGITS and scale >= _NANO:
        quantity = _make(digits, scale, False, style)
        # Upstream: the text is kept if it counts as canonical: 1.500 does, 0.1 does not.
        if scale % 3 == 0 and not (whole + fraction).endswith("000") and not whole.startswith("0"):
            return _with_text(quantity, text)
        return quantity
    _require_digit(text, number)
    if digits:
        return _make(_to_nanos(digits, scale), _NANO, True, style)
    return _make(0, max(scale, _NANO), True, style)


def _to_nanos(digits: int, scale: int) -> int:
    """``digits * 10 ** scale`` in units of 1e-9, rounded away from zero."""
    shift = scale - _NANO
    if shift >= 0:
        exact: int = digits * 10**shift
        return exact
    if -shift > len(str(digits)):
        return (digits > 0) - (digits < 0)
    return round_away(digits, 10**-shift)


def _decimal_exponent(text: str, suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if suffix[0] in "eE" and re.fullmatch(r"[-+]?[0-9]+", suffix[1:]):
        exponent = int(suffix[1:])
        if exponent > _MAX_EXPONENT:
            raise QuantityError(f"expected an exponent of at most {_MAX_EXPONENT}, got {_shown(text)}")
        return exponent
    raise QuantityError(f"{_WANTED}, got {_shown(text)}")


def _shown(text: str) -> str:
    return one_line(repr(text), 80)


def _require_digit(text: str, number: str) -> None:
    """Refuse a *number* without digits. Upstream: on the fast path a suffix alone is zero."""
    if not any(map(str.isdigit, number)):
        raise QuantityError(f"{_WANTED}, got {_shown(text)}")
