"""Metrics as text, in the form of Prometheus and with numbers as Go writes them.

prometheus-client counts. Its own text differs where dashboards would see it: counters get the suffix ``_total``, bounds read ``1000.0``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

import attrs

QUANTILES = (0.5, 0.9, 0.99)
MOST_KEPT = 5000
"""How many of the latest values quantiles are computed from."""
LAST = ("le", "quantile")
"""Labels that come after the others."""


def go_number(value: float) -> str:
    """A number as Go writes it at its shortest.

    >>> go_number(3), go_number(1024000), go_number(0.001), go_number(3.6449e-05), go_number(math.inf), go_number(-2.5)
    ('3', '1.024e+06', '0.001', '3.6449e-05', '+Inf', '-2.5')
    """
    if math.isinf(value) or math.isnan(value):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    power = len(digits) + int(exponent) - 1
    if -4 <= power < 6:
        return format(Decimal(repr(float(value))).normalize(), "f")
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' if sign else ''}{first}{'.' + rest if rest else ''}e{'-' if power < 0 else '+'}{abs(power):02d}"


@attrs.frozen
class Sample:
    """One number."""

    suffix: str
    """What follows the metric's name, such as ``_bucket``."""
    labels: Mapping[str, str]
    value: float


def lines(name: str, kind: str, help: str, samples: Iterable[Sample]) -> Iterator[str]:
    """The lines of one metric; none if it has no samples."""
    for i, sample in enumerate(samples):
        if i == 0:
            yield f"# HELP {name} {_escaped(help, quotes=False)}"
            yield f"# TYPE {name} {kind}"
        labels = sorted(sample.labels.items(), key=lambda item: (item[0] in LAST, item[0]))
        shown = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels)
        yield f"{name}{sample.suffix}{'{' + shown + '}' if shown else ''} {go_number(sample.value)}"


def _escaped(text: str, quotes: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


@attrs.define
class Quantiles:
    """A summary with quantiles, which prometheus-client does not have: of the latest values, exact."""

    count: int = 0
    sum: float = 0.0
    _latest: deque[float] = attrs.field(factory=lambda: deque(maxlen=MOST_KEPT))

    def observe(self, value: float) -> None:
        """Add a value."""
        self.count += 1
        self.sum += value
        self._latest.append(value)

    def samples(self, labels: Mapping[str, str]) -> Iterator[Sample]:
        """The quantiles, the sum and the count."""
        ordered = sorted(self._latest)
        for share in QUANTILES:
            value = ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan
            yield Sample("", {**labels, "quantile": go_number(share)}, value)
        yield Sample("_sum", labels, self.sum)
        yield Sample("_count", labels, self.count)
