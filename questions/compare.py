"""What does another configuration change?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

import attrs

from ..api.reading.notices import Notice, NoticeGroup, grouped
from ..api.view import View
from ..exceptions import UnknownNameError
from ..framework.options import FIELDS, GivenOptions, declared_of
from ..framework.releases import AUTO, is_auto
from ..simulation.compare.agreement import LOCKED, Mode
from ..simulation.compare.compare import Comparison
from ..simulation.compare.compare import compare as compare_all
from ..simulation.compare.document import ComparisonDocument, DifferingCycle
from ..simulation.compare.migration import with_newer_labels, zones_warning
from ..simulation.input import (
    SILENT,
    ComparisonInput,
    GivenCluster,
    GivenScheduler,
    Observer,
    options_given,
    release_asked,
    scenario_of,
    spec_of,
)
from ..simulation.nodesbyuse import NodeUses, pods_on_nodes
from .comparisonview import ClusterEnd, comparison_view
from .result import Result

NAMES = "abcdefgh"


@attrs.frozen(eq=False, repr=False)
class CompareResult(Result):
    """Which pods get another node under another configuration, and why."""

    document: ComparisonDocument
    """Everything."""
    warnings: tuple[NoticeGroup, ...] = ()
    ends: tuple[ClusterEnd, ...] = ()
    """How each cluster ends: one for each configuration, or in mode locked that of the first."""
    show: int | None = None
    """How many decisions that differ text lists; None: all."""

    @classmethod
    def of(
        cls, comparison: Comparison, warnings: tuple[NoticeGroup, ...] = (), doubts: Sequence[str] = (), *, with_ends: bool = True
    ) -> CompareResult:
        """The result of *comparison*, whose schedulers are not needed any more; *doubts*: warnings that the document does not have."""
        own = comparison.contestants[:1] if comparison.mode == LOCKED else comparison.contestants
        ends = [ClusterEnd(tuple(NodeUses(one.engine).found()), pods_on_nodes(one.engine)) for one in (own if with_ends else ())]
        document = comparison.document(tuple(group.record() for group in warnings))
        return cls(document, (*warnings, *grouped(Notice("", text) for text in doubts)), tuple(ends))

    @property
    def ok(self) -> bool:
        """Whether every decision is the same."""
        return self.document.same

    @property
    def differences(self) -> tuple[DifferingCycle, ...]:
        """Each cycle in which not all decide the same, with the first rule that differs."""
        return self.document.differences

    @property
    def hosts(self) -> dict[str, dict[str, str | None]]:
        """Configuration -> pod -> its node; None where it has none."""
        return {found.name: dict(found.hosts) for found in self.document.configurations}

    def view(self) -> View:
        return comparison_view(type(self).__name__, self.document, self.show, self.ends)


def ask(
    given: ComparisonInput, mode: str = LOCKED, *, newer_labels: bool = False, with_ends: bool = True, observer: Observer = SILENT
) -> CompareResult:
    """Decide on every pod that waits under each configuration; *with_ends*: say of each node how it ends, which only pages show.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be asked.
    """
    observer.ready(given)
    missing = None if newer_labels or not given.runs_profiles else zones_warning(given.scenario)
    if missing is not None:
        observer.doubt(missing)
    scenario = with_newer_labels(given.scenario) if newer_labels else given.scenario
    made = compare_all(scenario, given.engines, mode=mode, order=given.order, texts=given.texts, following=observer.following)
    return CompareResult.of(made, given.warnings, () if missing is None else (missing,), with_ends=with_ends)


def compare(
    cluster: GivenCluster, a: GivenScheduler, b: GivenScheduler, *more: GivenScheduler, mode: Mode = LOCKED, pods: GivenCluster = (),
    order: str = "input", newer_labels: bool = False, defaults: bool = True,
) -> CompareResult:  # fmt: skip
    """Schedule the pods that wait in *cluster* under two or more configurations, and say which get another node, and why.

    A configuration is what :class:`~kubeclassic.Scheduler` takes: options, or a release alone. They are named a, b and so on::

        compare("cluster/", "1.12", Classic(release="1.16", policy="policy.json"))

    :param cluster: a Cluster; a path or several; objects and manifests.
    :param a: the configuration with which the others are compared. It also says whose pods wait.
    :param b: another one.
    :param more: up to six more.
    :param mode: ``free``: each places the pods in its own copy of the cluster; ``locked``: all decide on the same state each time, and
        only the decisions of *a* take effect.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried: ``input``, ``priority`` or ``queue``.
    :param newer_labels: give nodes the labels of newer releases beside the old ones, as after an upgrade.
    :param defaults: False: take objects as they are, without the API server's defaults.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    if 2 + len(more) > len(NAMES):
        raise UnknownNameError(f"compare: got {2 + len(more)} configurations, wanted {len(NAMES)} at most")
    asked = dict(zip(NAMES, (a, b, *more), strict=False))
    given = {name: options_given(one, cluster, name) for name, one in asked.items()}
    specs = {name: spec_of(options) for name, options in given.items()}
    first = specs["a"]
    names = [first.first_scheduler_name]
    scenario = scenario_of(cluster, pods, scheduler_names=names, defaults=defaults, priorities=first.keeps_priorities)
    engines = {name: spec.engine(scenario.config_maps) for name, spec in specs.items()}
    texts = {name: f"release={one or AUTO}" if isinstance(one, str | None) else _told(one) for name, one in asked.items()}
    named = {name: release_asked(one) for name, one in asked.items()}
    by_nodes = [name for name, release in named.items() if is_auto(release)]
    read = ComparisonInput.of(scenario, engines, texts, by_nodes=by_nodes, asked=named.values(), order=order)
    return ask(read, mode, newer_labels=newer_labels)


def _told(options: GivenOptions) -> str:
    """The options as ``--a`` takes them; what is no text, number or path is named by its kind."""
    given = attrs.asdict(options, recurse=False, filter=lambda field, value: value is not None and value != field.default)
    return " ".join(f"{declared_of(FIELDS[name]).key or name}={_value(value)}" for name, value in given.items())


def _value(value: object) -> str:
    return shlex.quote(str(value)) if isinstance(value, str | int | os.PathLike) else type(value).__name__
