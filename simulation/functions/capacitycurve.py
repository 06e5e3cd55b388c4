"""``kubeclassic.capacity_curve``: how many pods of any size fit?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ...api.reading.notices import NoticeGroup
from ...api.record import plain
from ...exceptions import wrong_type
from ..capacity.curve import CapacityCurveDocument, CurveAxis, CurveError, CurvePoint, axes_of, points, sized
from ..capacity.question import asked, limit_of
from .capacity import GivenTemplates, checked_exclude, checked_number, loaded_templates
from .given import GivenCluster, GivenScheduler, check_order, scenario_of, spec_of, warnings_of
from .results import Result, Table

ANY_POD: dict[str, Any] = {"kind": "Pod", "metadata": {"name": "pod"}, "spec": {"containers": [{"name": "main"}]}}
"""What is sized where no template is given."""


@attrs.frozen(eq=False, repr=False)
class CapacityCurveResult(Result):
    """How many copies fit of each size."""

    document: CapacityCurveDocument
    """Everything."""
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether copies of any size fit: what the command's exit status says."""
        return self.document.ok

    @property
    def axes(self) -> tuple[CurveAxis, ...]:
        """The resources, each with its sizes."""
        return self.document.axes

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """One a combination of sizes; the last axis changes fastest."""
        return self.document.points

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(self.document)
        return found

    def tables(self) -> Mapping[str, Table]:
        rows = [{**point.requests, "fits": point.fits, "nodes": point.nodes, "limited by": point.limited_by} for point in self.points]
        return {"points": Table.of(rows, [axis.resource for axis in self.axes])}

    def facts(self) -> Mapping[str, object]:
        most, axes = max((point.fits for point in self.points), default=0), " x ".join(axis.resource for axis in self.axes)
        return {"release": self.document.release, "axes": axes, "points": len(self.points), "most": most}

    def verdict(self) -> str:
        fits = [point.fits for point in self.points]
        return f"Between {min(fits):,} and {max(fits):,} copies fit, by their size." if fits else "No size was asked for."


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
    axes, exclude, limit = axes_of(texts), checked_exclude(exclude_nodes), limit_of(None, checked_number("max_limit", max_limit))
    spec = spec_of(scheduler, cluster, preemption=preemption)
    scenario = scenario_of(cluster, scheduler_names=spec.scheduler_names, defaults=defaults, priorities=spec.keeps_priorities)
    given = loaded_templates(ANY_POD if pod is None else pod, defaults)
    if len(given) != 1:
        raise CurveError(f"curve: got {len(given)} pods, wanted one")
    question = asked(
        scenario, given, spec, limit=limit, exclude=exclude, pending_first=pending_first, order=check_order(order),
        defaults=defaults,
    )  # fmt: skip
    found = points(axes, lambda size: sized(question, size).counting(spec.engine(scenario.config_maps)).count())
    warnings = warnings_of(scenario, scheduler, spec.engine(scenario.config_maps), pods=question.pods)
    told = tuple(group.record() for group in warnings)
    return CapacityCurveResult(CapacityCurveDocument(warnings=told, release=spec.version, axes=axes, points=tuple(found)), warnings)
