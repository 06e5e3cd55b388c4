"""``kubeclassic.compare``: what does another configuration change?"""

from __future__ import annotations

import os
import shlex

import attrs

from ..api.reading.notices import Notice, NoticeGroup, grouped
from ..api.view import Share, View, table_of
from ..exceptions import UnknownNameError
from ..framework.options import FIELDS, GivenOptions, declared_of
from ..framework.releases import AUTO
from ..simulation.compare.agreement import AMONG_BEST, DIFFERENT, HELD_BACK
from ..simulation.compare.compare import Comparison
from ..simulation.compare.compare import compare as compare_all
from ..simulation.compare.document import ComparisonDocument, DifferingCycle
from ..simulation.compare.modes import LOCKED
from ..simulation.compare.newerlabels import with_newer_labels, zones_warning
from ..simulation.input import GivenCluster, GivenScheduler, check_order, options_given, scenario_of, settled_for, spec_of
from ..simulation.releasenotes import with_release_notices
from .result import Result

NAMES = "abcdefgh"


@attrs.frozen(eq=False, repr=False)
class CompareResult(Result):
    """Which pods get another node under another configuration, and why."""

    document: ComparisonDocument
    """Everything."""
    warnings: tuple[NoticeGroup, ...] = ()

    @classmethod
    def of(cls, comparison: Comparison, warnings: tuple[NoticeGroup, ...] = (), hints: tuple[NoticeGroup, ...] = ()) -> CompareResult:
        """The result of *comparison*, whose schedulers are not needed any more; *hints*: warnings that the document does not have."""
        return cls(comparison.document(tuple(group.record() for group in warnings)), (*warnings, *hints))

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
        found, hosts, differ = self.document, self.hosts, len(self.differences)
        pods = dict.fromkeys(pod for nodes in hosts.values() for pod in nodes)
        rows = [{"pod": pod, **{name: nodes.get(pod) for name, nodes in hosts.items()}} for pod in pods]
        shares = _shares(found)
        counted = [f"{share.count:,} {'is' if share.count == 1 else 'are'} {share.name}" for share in shares if share.count]
        verdict = f"Of {found.cycles:,} decisions {', '.join(counted)}."
        if not differ:
            verdict = f"All {found.cycles:,} decisions are the same."
        elif not counted:
            verdict = f"{differ:,} of {found.cycles:,} decisions are not the same everywhere."
        facts = {"configurations": len(found.configurations), "mode": found.mode, "cycles": found.cycles, "differences": differ}
        pods_table = table_of("pods", rows, ("pod", *hosts))
        return View(title=type(self).__name__, verdict=verdict, facts=facts, shares=shares, tables=[pods_table])

def _shares(found: ComparisonDocument) -> list[Share]:
    """How often two decide the same; empty for more than two."""
    if len(found.against) != 1:
        return []
    counts = found.against[0].agreement
    others = ((counts.among_best, AMONG_BEST, "near"), (counts.different, DIFFERENT, "bad"), (counts.held_back, HELD_BACK, "held"))
    return [Share("the same", counts.same, "same"), *(Share(name, count, meaning) for count, name, meaning in others if count)]



def compare(
    cluster: GivenCluster, a: GivenScheduler, b: GivenScheduler, *more: GivenScheduler, mode: str = LOCKED, pods: GivenCluster = (),
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
    given = {name: options_given(settled_for(cluster, one), name) for name, one in asked.items()}
    specs = {name: spec_of(options) for name, options in given.items()}
    first = specs["a"]
    names = [first.first_scheduler_name]
    scenario = scenario_of(cluster, pods, scheduler_names=names, defaults=defaults, priorities=first.keeps_priorities)
    engines = {name: spec.engine(scenario.config_maps) for name, spec in specs.items()}
    by_nodes = [engines[name].algorithm for name, one in asked.items() if one == AUTO]
    noted = with_release_notices(scenario, [engine.algorithm for engine in engines.values()], by_nodes=by_nodes)
    missing = None if newer_labels or not any(spec.profiles for spec in specs.values()) else zones_warning(scenario)
    hints = () if missing is None else grouped([Notice("", missing)])
    made = compare_all(
        with_newer_labels(scenario) if newer_labels else scenario, engines, mode=mode, order=check_order(order),
        texts={name: f"release={one}" if isinstance(one, str) else _told(given[name]) for name, one in asked.items()},
    )  # fmt: skip
    return CompareResult.of(made, grouped(noted.warnings), hints)


def _told(options: GivenOptions) -> str:
    """The options as ``--a`` takes them; what is no text, number or path is named by its kind."""
    given = attrs.asdict(options, recurse=False, filter=lambda field, value: value is not None and value != field.default)
    return " ".join(f"{declared_of(FIELDS[name]).key or name}={_value(value)}" for name, value in given.items())


def _value(value: object) -> str:
    return shlex.quote(str(value)) if isinstance(value, str | int | os.PathLike) else type(value).__name__
