"""A quantity as Go writes it after reading it: as it was written where that looks canonical, else in its canonical form.

Upstream: ParseQuantity and MarshalJSON in k8s.io/apimachinery/pkg/api/resource/quantity.go.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..objects.quantity import Quantity

_WRITTEN = re.compile(r"[+-]?0*(?P<whole>\d*?)(?:\.(?P<fraction>\d*))?(?P<suffix>[A-Za-z]*|[eE][+-]?\d+)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_MAX_DIGITS, _MAX_BINARY_DIGITS, _SMALLEST, _MAX = 18, 15, -9, 2**63 - 1


@lru_cache(maxsize=1 << 14)
def go_quantity(written: str) -> str:
    """The quantity *written*, which must be one, as Go writes it.

    >>> [go_quantity(text) for text in ("4000m", "1500m", "04", "1.5", "1.500", "2048Ki", "2047Ki", "100E-3")]
    ['4', '1500m', '04', '1500m', '1.500', '2Mi', '2047Ki', '100E-3']
    """
    text = written.strip()
    return text if _is_kept(text) else str(Quantity.parse(text))


def _is_kept(text: str) -> bool:
    """Whether Go keeps the text beside the number. Upstream: only on the fast path, by a rough test for the canonical form."""
    found = _WRITTEN.fullmatch(text)
    if text == "0" or found is None:
        return text == "0"
    whole, fraction, suffix = found["whole"] or "0", found["fraction"] or "", found["suffix"]
    if suffix in _BINARY:
        return not fraction and _keeps_binary(whole, _BINARY[suffix])
    return _keeps_decimal(whole, fraction, _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:]))


def _keeps_binary(digits: str, exponent: int) -> bool:
    is_short = _MAX_BINARY_DIGITS - len(digits) - exponent * 3 // 10 - 1 >= 0
    return is_short and int(digits) << exponent <= _MAX and int(digits) % 8 != 0


def _keeps_decimal(whole: str, fraction: str, exponent: int) -> bool:
    digits, scale = whole + fraction, exponent - len(fraction)
    is_short = len(digits) <= _MAX_DIGITS and scale >= _SMALLEST
    return is_short and scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")
