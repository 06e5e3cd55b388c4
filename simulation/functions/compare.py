"""``kubeclassic.compare``: what does another configuration change?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ...api.notebooks import Share
from ...api.reading.notices import Notice, NoticeGroup, grouped
from ...api.record import plain
from ...exceptions import UnknownNameError
from ...framework.options import FIELDS, GivenOptions, declared_of
from ...framework.recipe import Recipe
from ..compare.agreement import AMONG_BEST, DIFFERENT, HELD_BACK
from ..compare.compare import Comparison
from ..compare.compare import compare as compare_all
from ..compare.document import ComparisonDocument, DifferingCycle
from ..compare.newerlabels import with_newer_labels, zones_warning
from .given import GivenCluster, GivenScheduler, check_order, options_given, recipe_of, scenario_of, warnings_of
from .results import Result, Row, Table

NAMES = "abcdefgh"


@attrs.frozen(eq=False, repr=False)
class CompareResult(Result):
    """Which pods get another node under another configuration, and why."""

    document: ComparisonDocument
    """Everything."""
    warnings: tuple[NoticeGroup, ...] = ()

    @classmethod
    def of(cls, comparison: Comparison, warnings: tuple[NoticeGroup, ...] = ()) -> CompareResult:
        """The result of *comparison*, whose schedulers are not needed any more."""
        return cls(comparison.document(tuple(group.record() for group in warnings)), warnings)

    @property
    def ok(self) -> bool:
        """Whether every decision is the same: what the command's exit status says."""
        return self.document.same

    @property
    def differences(self) -> tuple[DifferingCycle, ...]:
        """Each cycle in which not all decide the same, with the first rule that differs."""
        return self.document.differences

    @property
    def hosts(self) -> dict[str, dict[str, str | None]]:
        """Configuration -> pod -> its node; None where it has none."""
        return {found.name: dict(found.hosts) for found in self.document.configurations}

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(self.document)
        return found

    def tables(self) -> Mapping[str, Table]:
        hosts = self.hosts
        pods = dict.fromkeys(pod for found in hosts.values() for pod in found)
        rows: list[Row] = [{"pod": pod, **{name: found.get(pod) for name, found in hosts.items()}} for pod in pods]
        return {"pods": Table(("pod", *hosts), rows)}

    def facts(self) -> Mapping[str, object]:
        found = self.document
        return {
            "configurations": len(found.configurations), "mode": found.mode, "cycles": found.cycles, "differences": len(found.differences),
        }  # fmt: skip

    def verdict(self) -> str:
        cycles, differ = self.document.cycles, len(self.differences)
        if not differ:
            return f"All {cycles:,} decisions are the same."
        told = [f"{share.count:,} {'is' if share.count == 1 else 'are'} {share.name}" for share in self.shares() if share.count]
        return f"Of {cycles:,} decisions {', '.join(told)}." if told else f"{differ:,} of {cycles:,} decisions are not the same everywhere."

    def shares(self) -> Sequence[Share]:
        if len(self.document.against) != 1:
            return ()
        counts = self.document.against[0].agreement
        others = ((counts.among_best, AMONG_BEST, "near"), (counts.different, DIFFERENT, "bad"), (counts.held_back, HELD_BACK, "held"))
        return [Share("the same", counts.same, "same"), *(Share(name, count, meaning) for count, name, meaning in others if count)]


def compare(
    cluster: GivenCluster, a: GivenScheduler, b: GivenScheduler, *more: GivenScheduler, mode: str | None = None, pods: GivenCluster = (),
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
        only the decisions of *a* take effect. By default that of the command.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried: ``input``, ``priority`` or ``queue``.
    :param newer_labels: give nodes the labels of newer releases beside the old ones, as after an upgrade.
    :param defaults: False: take objects as they are, without the API server's defaults.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    given = {name: options_given(one, name) for name, one in zip(NAMES, (a, b, *more), strict=False)}
    if len(given) < 2 + len(more):
        raise UnknownNameError(f"compare: got {2 + len(more)} configurations, wanted {len(NAMES)} at most")
    recipes = {name: recipe_of(options) for name, options in given.items()}
    first = recipes["a"]
    scenario = scenario_of(cluster, pods, scheduler_names=[_first_name(first)], defaults=defaults, priorities=first.keeps_priorities)
    engines = {name: recipe.engine(scenario.config_maps) for name, recipe in recipes.items()}
    warnings = warnings_of(scenario, first.version, *engines.values())
    if newer_labels:
        scenario = with_newer_labels(scenario)
    elif any(recipe.profiles is not None for recipe in recipes.values()) and (missing := zones_warning(scenario)) is not None:
        warnings += grouped([Notice("", str(missing))])
    texts = {name: _told(options) for name, options in given.items()}
    if mode is None:
        return CompareResult.of(compare_all(scenario, engines, order=check_order(order), texts=texts), warnings)
    return CompareResult.of(compare_all(scenario, engines, mode=mode, order=check_order(order), texts=texts), warnings)


def _first_name(recipe: Recipe) -> str:
    if recipe.profiles is not None:
        return recipe.profiles.profiles[0].scheduler_name or "default-scheduler"
    return next(iter(recipe.scheduler_names))


def _told(options: GivenOptions) -> str:
    """The options in words; what is no text, number or path is named by its kind."""
    plain = str, int, os.PathLike
    given = attrs.asdict(options, recurse=False, filter=lambda field, value: value is not None and value != field.default)
    return " ".join(
        f"{declared_of(FIELDS[name]).key or name}={value if isinstance(value, plain) else type(value).__name__}"
        for name, value in {"release": options.version, **given}.items()
    )
