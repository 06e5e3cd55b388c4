"""``kubeclassic.capacity``: how many more fit?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, TypeAlias

import attrs

from ...api.load import Loaded, load, load_documents
from ...api.objects import KubeObject
from ...api.reading.documents import Document
from ...api.reading.notices import NoticeGroup
from ...api.record import plain
from ...exceptions import check_type, wrong_type
from ..capacity.answer import CapacityAnswer
from ..capacity.question import asked, limit_of
from ..capacity.stop import Stop
from ..capacity.templates import READ_KINDS
from .given import GivenCluster, GivenScheduler, Part, check_order, parts_of, scenario_of, spec_of, warnings_of
from .results import Result, Table

GivenTemplates: TypeAlias = "Part | Iterable[Part]"
"""A pod, a PodTemplate or a workload, or several: each a file, a manifest or, of pods, an object."""


@attrs.frozen(eq=False, repr=False)
class CapacityResult(Result):
    """How many copies fit, where they go, and what stops the next one."""

    answer: CapacityAnswer
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether as many fit as were asked for; without such a number, whether any fits: what the command's exit status says."""
        return self.answer.is_yes

    @property
    def fits(self) -> int:
        """How many copies fit, of all templates together."""
        return self.answer.counted.fits

    @property
    def templates(self) -> dict[str, int]:
        """Template -> how many copies of it fit."""
        return {placed.template.name: placed.fits for placed in self.answer.counted.placed}

    @property
    def nodes(self) -> dict[str, int]:
        """Node -> copies on it, for nodes that have any; most copies first."""
        return self.answer.counted.nodes

    @property
    def zones(self) -> dict[str, int]:
        """Zone -> copies on its nodes."""
        return self.answer.by_zone

    @property
    def stop(self) -> Stop:
        """Why there are not more."""
        return self.answer.counted.stop

    def record(self) -> dict[str, Any]:
        return self._plain(self.answer.document)

    def tables(self) -> Mapping[str, Table]:
        rows = []
        for row in self.answer.node_rows():
            free = {f"{name} free": amounts["free"] for name, amounts in row["resources"].items()}
            rows.append({"node": row["node"], "zone": row["zone"], "copies": row["copies"], **free})
        return {"nodes": Table.of(rows, ("node", "zone", "copies")), "headroom": Table.of(plain(self.answer.headroom()), ("resource",))}

    def facts(self) -> Mapping[str, object]:
        return {"release": self.answer.release, "fits": self.fits, "nodes": len(self.nodes), "stop": self.stop.message}

    def verdict(self) -> str:
        copies = "1 more copy fits" if self.fits == 1 else f"{self.fits:,} more copies fit"
        return f"{copies}, on {len(self.nodes):,} nodes." if self.fits else "Not one more copy fits."


def capacity(
    cluster: GivenCluster, pod: GivenTemplates, scheduler: GivenScheduler = None, *, ratio: Sequence[int] | None = None,
    pods: int | None = None, max_limit: int | None = None, exclude_nodes: str | Sequence[str] = (), pending_first: bool = False,
    preemption: bool = False, order: str = "input", defaults: bool = True,
) -> CapacityResult:  # fmt: skip
    """Count how many more copies of *pod* fit into *cluster*, one by one as kube-scheduler would place them; the cluster does not change.

    :param cluster: a Cluster; a path or several; objects and manifests. Pods that wait in it are left out.
    :param pod: a Pod, a PodTemplate or a workload, which stands for its pods; or several.
    :param ratio: how many copies of each of several come in turn, such as ``(3, 1)``; by default one of each.
    :param pods: how many copies are asked for; the count stops there.
    :param max_limit: the count stops there too.
    :param exclude_nodes: names of nodes, or a label selector: these nodes and the pods on them are not there.
    :param pending_first: place the pods that wait in the cluster before all copies, in *order*.
    :param defaults: False: take objects as they are, without the API server's defaults and admission.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.
    :param preemption: let copies evict pods of lower priority; by default they take free room only.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> web = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}}
    >>> capacity(node, web, "1.14")
    <CapacityResult: release 1.14, fits 2, nodes 1, stop 0/1 nodes are available: 1 Insufficient cpu.>
    """
    exclude, limit = checked_exclude(exclude_nodes), limit_of(checked_number("pods", pods), checked_number("max_limit", max_limit))
    spec = spec_of(scheduler, cluster, preemption=preemption)
    scenario = scenario_of(cluster, scheduler_names=spec.scheduler_names, defaults=defaults, priorities=spec.keeps_priorities)
    given = loaded_templates(pod, defaults)
    question = asked(
        scenario, given, spec, ratio=checked_ratio(ratio), limit=limit, defaults=defaults,
        exclude=exclude, pending_first=pending_first, order=check_order(order),
    )  # fmt: skip
    engine = spec.engine(scenario.config_maps)
    counted = question.counting(engine).count()
    return CapacityResult(
        CapacityAnswer.of(spec.version, counted, question, pods), warnings_of(scenario, scheduler, engine, pods=question.pods)
    )


def checked_exclude(given: str | Sequence[str]) -> list[str]:
    """The texts of *exclude_nodes*. Raises :class:`~kubeclassic.exceptions.WrongTypeError`."""
    exclude = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(text, str) for text in exclude):
        raise wrong_type("exclude_nodes", given, "names or a selector")
    return exclude


def checked_number(name: str, given: int | None) -> int | None:
    """A number of that *name*, or None. Raises :class:`~kubeclassic.exceptions.WrongTypeError`."""
    check_type(name, given, (int, NoneType), "a whole number")
    return given


def checked_ratio(ratio: Sequence[int] | None) -> Sequence[int] | None:
    """The numbers of *ratio*. Raises :class:`~kubeclassic.exceptions.WrongTypeError`."""
    if ratio is None:
        return None
    if not isinstance(ratio, Sequence) or not all(isinstance(part, int) and not isinstance(part, bool) for part in ratio):
        raise wrong_type("ratio", ratio, "whole numbers such as (3, 1)")
    return ratio


def loaded_templates(pod: GivenTemplates, defaults: bool) -> list[tuple[str, Loaded]]:
    """What is given as templates, one or more, each with the words for where it is from."""
    given = [_loaded(number, part, defaults) for number, part in enumerate(parts_of("pod", pod), 1)]
    if not given:
        raise wrong_type("pod", pod, "a Pod, a PodTemplate or a workload")
    return given


def _loaded(number: int, part: Part, defaults: bool) -> tuple[str, Loaded]:
    if isinstance(part, str | os.PathLike):
        return os.fspath(part), load(part, defaults=defaults, raw_kinds=READ_KINDS)
    where = f"pod {number}"
    if isinstance(part, KubeObject):
        return where, Loaded((part,))
    return where, load_documents([Document(part, where)], defaults=defaults, raw_kinds=READ_KINDS)
