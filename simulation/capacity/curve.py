"""How many pods of any size: the capacity for each of many sizes of a pod's requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated

import attrs
from msgspec.structs import replace

from ...api.objects import Container, Map, Pod
from ...api.objects.quantity import MAX_INT64, Quantity
from ...api.reading.notices import ResultDocument
from ...api.record import Count, Record, says
from ...core.pods.requests import CPU
from ...exceptions import KubeclassicError, QuantityError, did_you_mean
from ..summary import UNITS, Unit
from .counting import Counted
from .question import CapacityQuestion
from .templates import PodTemplate

STEPS = 10
"""Into how many sizes a range is cut by default."""
MOST_POINTS = 10_000
FEW_BYTES = 1 << 20
"""No container asks for fewer."""
REQUESTED = ("cpu", "memory", "ephemeral-storage")
"""What a container can request of a node that has no domain before its name, but for huge pages."""
WANTED = "wanted RESOURCE=FROM..TO, RESOURCE=FROM..TO:STEPS or the same with :log, such as cpu=100m..4:20"


class CurveError(KubeclassicError):
    """A curve that cannot be read or asked for; the text says what was got and what is wanted."""


class CurveAxis(Record):
    """A resource, and the sizes of it that are asked about."""

    resource: str
    unit: Unit
    values: Annotated[tuple[Count, ...], says("The sizes, ascending.")]

    @property
    def in_few_bytes(self) -> bool:
        """Whether all sizes are of so few bytes that a unit may have been forgotten."""
        return self.unit == "bytes" and 0 < self.values[-1] < FEW_BYTES

    @classmethod
    def parse(cls, text: str) -> CurveAxis:
        """The axis of a text such as ``cpu=100m..4:20``; raises :class:`CurveError`.

        >>> CurveAxis.parse("cpu=1..4:4").values, CurveAxis.parse("memory=1Gi..4Gi:3:log").values[1] // 2**20
        ((1000, 2000, 3000, 4000), 2048)
        """
        resource, _, sizes = text.partition("=")
        span, *more = sizes.split(":")
        first, dots, last = span.partition("..")
        steps = more[0] if more and more[0] != "log" else str(STEPS)
        if not resource or not dots or more not in ([], [steps], ["log"], [steps, "log"]) or not (steps.isascii() and steps.isdecimal()):
            raise CurveError(f'curve: got "{text}", {WANTED}')
        _check_resource(resource, text)
        low, high = _number(resource, first, text), _number(resource, last, text)
        if low > high:
            raise CurveError(f'curve: got "{text}", wanted sizes that grow: the smallest first')
        if not 1 <= int(steps[:6]) <= MOST_POINTS:
            raise CurveError(f'curve: got "{text}", wanted 1 to {MOST_POINTS:,} steps')
        if more[-1:] == ["log"] and low < 1:
            raise CurveError(f'curve: got "{text}", wanted sizes above 0 for log')
        return cls(resource, UNITS.get(resource, "pieces"), tuple(_cut(low, high, int(steps), is_even="log" not in more)))


def _check_resource(name: str, text: str) -> None:
    """Raise :class:`CurveError` for what no container can request: it would be a resource that nothing counts."""
    if "/" not in name and name not in REQUESTED and not name.startswith("hugepages-"):
        wanted = f"{', '.join(REQUESTED)} or one such as nvidia.com/gpu"
        raise CurveError(f'curve: "{text}": got the resource "{name}", wanted {wanted}{did_you_mean(name, REQUESTED)}')


def _number(resource: str, written: str, text: str) -> int:
    try:
        found = Quantity.parse(written)
    except QuantityError as error:
        raise CurveError(f'curve: "{text}": {error}') from None
    number = found.milli_value() if resource == CPU else found.value()
    if found.sign < 0:
        raise CurveError(f'curve: got "{text}", wanted sizes of 0 or more')
    if number < 0 or number >= MAX_INT64:
        raise CurveError(f'curve: got "{text}", wanted sizes that fit into 64 bits')
    return number


def _cut(low: int, high: int, steps: int, *, is_even: bool) -> list[int]:
    """*steps* sizes from *low* to *high*, in even steps or each the same times as large as the one before; none twice."""
    if steps == 1:
        return [low]
    shares = [step / (steps - 1) for step in range(steps)]
    found = [low + (high - low) * share if is_even else low * (high / low) ** share for share in shares]
    return sorted({round(number) for number in found[:-1]} | {high})


def axes_of(texts: Sequence[str]) -> tuple[CurveAxis, ...]:
    """The axes of texts, each of which may hold several with commas between them. Raises :class:`CurveError`."""
    axes = tuple(CurveAxis.parse(part) for text in texts for part in text.split(","))
    points = 1
    for axis in axes:
        points *= len(axis.values)
    if len({axis.resource for axis in axes}) != len(axes):
        raise CurveError(f"curve: got {','.join(texts)}, wanted each resource once")
    if points > MOST_POINTS:
        raise CurveError(f"curve: got {points:,} sizes, wanted {MOST_POINTS:,} at most: fewer steps")
    return axes


class CurvePoint(Record):
    """One size, and what fits of it."""

    requests: Mapping[str, int]
    fits: Count
    nodes: Annotated[Count, says("How many nodes have copies.")]
    limited_by: Annotated[str | None, says("The resource that has run out on most nodes.")]
    message: str


class CapacityCurveDocument(ResultDocument, kw_only=True):
    """How many copies fit of a pod of each of many sizes."""

    KIND = "CapacityCurve"
    release: str
    axes: tuple[CurveAxis, ...]
    points: Annotated[tuple[CurvePoint, ...], says("One for each combination of sizes; the last axis changes fastest.")]

    @property
    def ok(self) -> bool:
        """Whether copies of any size fit."""
        return any(point.fits for point in self.points)


def points(axes: Sequence[CurveAxis], ask: Callable[[Sequence[tuple[str, int]]], Counted]) -> Iterator[CurvePoint]:
    """A point for each combination of sizes, the last axis fastest; *ask* counts for one size."""
    for values in product(*(axis.values for axis in axes)):
        size = [(axis.resource, value) for axis, value in zip(axes, values, strict=True)]
        counted = ask(size)
        shortages = counted.stop.shortages
        yield CurvePoint(
            dict(size), counted.fits, len(counted.nodes), shortages[0].resource if shortages else None, counted.stop.message,
        )  # fmt: skip


def sized(question: CapacityQuestion, size: Sequence[tuple[str, int]]) -> CapacityQuestion:
    """*question* with copies of another size."""
    return attrs.evolve(question, templates=tuple(_sized(template, size) for template in question.templates))


def _sized(template: PodTemplate, size: Sequence[tuple[str, int]]) -> PodTemplate:
    """The first container requests the new size; a limit below it grows with it."""
    pod: Pod = template.pod
    first, *others = pod.spec.containers or (Container(name="main"),)
    asked = {name: Quantity.parse(f"{number}m") if name == CPU else Quantity.of(number) for name, number in size}
    limits = {name: max(limit, asked.get(name, limit)) for name, limit in first.limits.items()}
    changed = replace(first, requests=Map({**first.requests, **asked}), limits=Map(limits))
    spec = replace(pod.spec, containers=(changed, *others))
    return attrs.evolve(template, pod=replace(pod, spec=spec))
