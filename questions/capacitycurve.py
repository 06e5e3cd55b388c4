"""How many pods of any size fit?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from ..api.load import Loaded
from ..api.reading.notices import NoticeGroup
from ..api.view import Column, Name, Number, Table, View, Words, kind_of, step
from ..api.words import rounded, short_name
from ..core.engine import Engine
from ..exceptions import wrong_type
from ..simulation.capacity.counting import Counted, count_copies
from ..simulation.capacity.curve import CapacityCurveDocument, CurveAxis, CurveError, CurvePoint, axes_of, points, sized
from ..simulation.input import SILENT, GivenCluster, GivenScheduler, Input, Observer, input_of
from .capacity import CapacityOptions, GivenTemplates, checked_exclude, checked_number, loaded_templates
from .result import Result, joined

ANY_POD: dict[str, Any] = {"kind": "Pod", "metadata": {"name": "pod"}, "spec": {"containers": [{"name": "main"}]}}
"""What is sized where no template is given."""
NOTHING = "nothing runs out"


@attrs.frozen(eq=False, repr=False)
class CapacityCurveResult(Result):
    """How many copies fit of each size."""

    document: CapacityCurveDocument
    """Everything."""
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether copies of any size fit."""
        return self.document.ok

    @property
    def axes(self) -> tuple[CurveAxis, ...]:
        """The resources, each with its sizes."""
        return self.document.axes

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """One a combination of sizes; the last axis changes fastest."""
        return self.document.points

    def view(self) -> View:
        most, axes = max((point.fits for point in self.points), default=0), " x ".join(axis.resource for axis in self.axes)
        return View(
            title=type(self).__name__,
            verdict=_verdict(self),
            facts={"release": self.document.release, "axes": axes, "points": len(self.points), "most": most},
            tables=[*([_grid(self)] if len(self.axes) == 2 else []), _sizes(self)],
        )


def ask(given: Input, options: CapacityOptions, axes: Sequence[CurveAxis], observer: Observer = SILENT) -> CapacityCurveResult:
    """Count for each size; raises :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be asked."""
    if len(options.templates) != 1:
        raise CurveError(f"curve: got {len(options.templates)} pods, wanted one")
    question = options.question(given)
    given = given.with_pods(question.pods)
    observer.ready(given, options.concerns(question))
    engines, total = _engines(given), 1
    for axis in axes:
        total *= len(axis.values)

    def count(size: Sequence[tuple[str, int]]) -> Counted:
        return count_copies(sized(question, size), next(engines))

    with observer.counting(total, "counting", "sizes") as progress:
        found = tuple(_counted(points(axes, count), progress))
    warnings = given.warnings
    told = tuple(group.record() for group in warnings)
    return CapacityCurveResult(CapacityCurveDocument(warnings=told, release=given.release, axes=tuple(axes), points=found), warnings)


def _engines(given: Input) -> Iterator[Engine]:
    """New schedulers without end; the first is there already."""
    yield given.engine
    while True:
        yield given.new_engine()


def _counted(found: Iterable[CurvePoint], progress: Callable[[int, str], None]) -> Iterator[CurvePoint]:
    for done, point in enumerate(found, 1):
        yield point
        progress(done, "")


def capacity_curve(
    cluster: GivenCluster, curve: str | Sequence[str], pod: GivenTemplates | None = None, scheduler: GivenScheduler = None, *,
    max_limit: int | None = None, exclude_nodes: str | Sequence[str] = (), pending_first: bool = False, preemption: bool = False,
    order: str = "input", defaults: bool = True,
) -> CapacityCurveResult:  # fmt: skip
    """Count as :func:`~kubeclassic.capacity` does for each of many sizes of a pod, each in the same cluster.

    :param curve: the sizes: ``"cpu=100m..4:20"`` is 20 sizes from 100m to 4 in even steps, ``"cpu=100m..4:20:log"`` the same in steps that
        grow; several resources with commas between them.
    :param pod: a Pod, a PodTemplate or a workload, whose first container gets the sizes; by default a pod that requests nothing else.

    The other parameters are those of :func:`~kubeclassic.capacity`.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> [point.fits for point in capacity_curve(node, "cpu=1..4:4").points]
    [4, 2, 1, 1]
    """
    texts = [curve] if isinstance(curve, str) else list(curve) if isinstance(curve, Iterable) else [curve]
    if not all(isinstance(text, str) for text in texts):
        raise wrong_type("curve", curve, 'a text such as "cpu=100m..4:20"')
    axes = axes_of(texts)
    options = CapacityOptions(
        templates=any_pod() if pod is None else loaded_templates(pod, defaults), max_limit=checked_number("max_limit", max_limit),
        exclude_nodes=checked_exclude(exclude_nodes), pending_first=pending_first,
    )  # fmt: skip
    return ask(input_of(cluster, scheduler, order=order, defaults=defaults, preemption=preemption), options, axes)


def any_pod() -> list[tuple[str, Loaded]]:
    """The pod that is sized where none is given."""
    return [("--curve", found) for _, found in loaded_templates(ANY_POD, True)]


# --- in words -------------------------------------------------------------------------------------------------------


def _verdict(found: CapacityCurveResult) -> Words:
    """From how many to how many pods fit, and of which sizes."""
    fits, total = [point.fits for point in found.points], Number(len(found.points), "points.length")
    most, fewest = fits.index(max(fits)), fits.index(min(fits))
    if not fits[most]:
        return Words("No pod of any of the ", total, " sizes fits.")
    if fits[most] == fits[fewest]:
        return Words(_pods(found, most), " fit, whichever of the ", total, " sizes they have.")
    rest = _pods(found, fewest) if fits[fewest] else "none"
    return Words(_pods(found, most), " of ", _size(found, most), " fit, and ", rest, " of ", _size(found, fewest), ".")


def _pods(found: CapacityCurveResult, at: int) -> Words:
    fits = found.points[at].fits
    return Words(Number(fits, f"points.{at}.fits"), " pod" if fits == 1 else " pods")


def _size(found: CapacityCurveResult, at: int) -> Words:
    requests = found.points[at].requests
    sizes = [
        Words(Name(short_name(name)), " ", Number(value, f"points.{at}.requests.{step(name)}", name)) for name, value in requests.items()
    ]
    return joined(sizes, " and ")


def _grid(found: CapacityCurveResult) -> Table:
    """A row for each size of the first resource, a column for each size of the second one."""
    down, across = found.axes
    width = len(across.values)
    columns = [Column(f"{short_name(down.resource)} \\ {short_name(across.resource)}", kind_of(down.resource))]
    columns += [Column(rounded(across.resource, value)) for value in across.values]
    rows = [[value, *(point.fits for point in found.points[at * width : (at + 1) * width])] for at, value in enumerate(down.values)]
    return Table("grid", columns, rows, forms=("table",))


def _sizes(found: CapacityCurveResult) -> Table:
    """A row a size."""
    names = [axis.resource for axis in found.axes]
    short = () if len(names) == 2 else ("table",)
    text = (*short, "wide")
    columns = [Column("size", "name", forms=("page",))]
    for name in names:
        columns += [Column(short_name(name), kind_of(name), forms=(*text, "page")), Column(name, kind_of(name), forms=("data", "csv"))]
    columns += [
        Column("fits", "count"), Column("nodes", "count"), Column("limited by", forms=(*text, "data", "csv"), csv="limitedBy"),
        Column("runs out", "tag", filter=True, forms=("page",)), Column("message", forms=("wide",)),
    ]  # fmt: skip
    rows: list[list[Any]] = []
    for point in found.points:
        size = ", ".join(f"{short_name(name)} {rounded(name, point.requests[name])}" for name in names)
        limit = point.limited_by
        twice = (value for name in names for value in (point.requests[name],) * 2)
        rows.append([size, *twice, point.fits, point.nodes, limit, short_name(limit) if limit else NOTHING, point.message])
    details = [[["the next pod", point.message]] for point in found.points]
    return Table("sizes", columns, rows, noun="size", details=details, forms=(*text, "page", "data", "csv"))
