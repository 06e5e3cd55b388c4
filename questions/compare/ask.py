"""Compare: the question, and its view: the verdict, sentences, tables, and the list of pods."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.meaning import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from ...api.objects import Node
from ...api.reading import Notice, NoticeGroup, grouped
from ...api.view import CodeText, View, Words
from ...framework.options import FIELDS, declared_of
from ...framework.releases import AUTO, is_auto
from ...simulation.input import ComparisonInput, options_given, release_asked, spec_of
from ...simulation.nodesbyuse import NodeUses
from ...simulation.simulate import Scenario
from ..asking import GivenCluster, Observer, Result, asked_by, scenario_for
from .comparison import Comparison, ComparisonDocument, DifferingCycle
from .comparison import compare as compare_all
from .options import NAMES, CompareOptions
from .view import ClusterEnd, comparison_view

# --- asking -------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class CompareResult(Result):
    """The pods that get another node under another configuration, and why."""

    document: ComparisonDocument
    """Everything."""
    ends: tuple[ClusterEnd, ...] = ()
    """How each cluster ends: one for each configuration, or in mode locked that of the first."""
    show: int | None = None
    """How many decisions that differ text lists; None: all."""

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        warnings: tuple[NoticeGroup, ...] = (),
        doubt: str | None = None,
        *,
        with_ends: bool = True,
    ) -> CompareResult:
        """The result of *comparison*, whose schedulers are not needed any more; *doubt*: a warning that the
        document does not have."""
        own = comparison.sides[:1] if comparison.mode == "locked" else comparison.sides
        ends = [
            ClusterEnd(
                tuple(NodeUses(one.engine).found()),
                {node: [pod.key for pod in pods] for node, pods in one.engine.pods_by_node().items()},
            )
            for one in (own if with_ends else ())
        ]
        document = comparison.document(tuple(group.record() for group in warnings))
        more = () if doubt is None else grouped([Notice("", doubt)])
        return cls(document, tuple(ends), warnings=(*warnings, *more))

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

    def origin(self) -> dict[str, Any]:
        sides = self.document.configurations
        return {
            "releases": [one.release for one in sides],
            "rules": [Words(f"{one.name}: ", CodeText(one.text)) for one in sides],
        }

    def _view(self) -> View:
        return comparison_view(self.document, self.show, self.ends)


def compared_input(cluster: GivenCluster, options: CompareOptions) -> ComparisonInput:
    """*cluster* read, and a new scheduler for each configuration; the first one says whose pods wait, and
    what admission does."""
    asked = {name: value for name in NAMES if (value := getattr(options, name)) is not None or name in "ab"}
    given = {name: options_given(one, cluster, name) for name, one in asked.items()}
    specs = {name: spec_of(found) for name, found in given.items()}
    first = specs["a"]
    scenario = scenario_for(cluster, options, [first.first_scheduler_name], first.keeps_priorities)
    engines = {name: spec.engine(scenario.config_maps) for name, spec in specs.items()}
    texts = {}
    for name, one in asked.items():
        # As ``--a`` takes it; what is no text, number or path is named by its kind.
        values = {"release": one or AUTO}
        if not isinstance(one, str | None):
            values = attrs.asdict(
                one, recurse=False, filter=lambda field, value: value is not None and value != field.default
            )
        told = {declared_of(FIELDS[key]).key or key: value for key, value in values.items()}
        texts[name] = " ".join(
            f"{key}={shlex.quote(str(value)) if isinstance(value, str | int | os.PathLike) else type(value).__name__}"
            for key, value in told.items()
        )
    named = {name: release_asked(one) for name, one in asked.items()}
    by_nodes = [name for name, release in named.items() if is_auto(release)]
    return ComparisonInput.of(
        scenario, engines, texts, by_nodes=by_nodes, asked=named.values(), order=options.order
    )


@asked_by(CompareOptions, "cluster", *NAMES, opens=compared_input, show=None)
def compare(given: ComparisonInput, options: CompareOptions, observer: Observer) -> CompareResult:
    """Schedule the pods that wait in *cluster* under two or more configurations, and say which get another
    node, and why.

    A configuration is what :class:`~kubeclassic.Scheduler` takes: options, or a release alone. They are named
    a, b and so on::

        compare("cluster/", "1.12", Classic(release="1.16", policy="policy.json"))

    The others are compared with *a*, which also says whose pods wait.
    """
    observer.ready(given)
    newer = options.newer_labels
    missing = None if newer or not given.runs_profiles else zones_warning(given.scenario)
    if missing is not None:
        observer.doubt(missing)
    scenario = with_newer_labels(given.scenario) if newer else given.scenario
    made = compare_all(
        scenario, given.engines, mode=options.mode, order=given.order, texts=given.texts, observer=observer
    )
    found = CompareResult.of(made, given.warnings, missing, with_ends=options.makes("data", "page"))
    return attrs.evolve(found, show=options.show)


# --- labels of newer releases -------------------------------------------------------------------------------

NEWER_LABELS: Mapping[str, str] = {
    BETA_ZONE: TOPOLOGY_ZONE,
    BETA_REGION: TOPOLOGY_REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""Label of a node in the old releases -> the one that newer releases put beside it."""


def with_newer_labels(scenario: Scenario) -> Scenario:
    """*scenario* with nodes that have newer releases' labels beside those that they have, as after an
    upgrade."""

    def relabelled(node: Node) -> Node:
        labels = node.metadata.labels
        newer = {
            name: labels[older]
            for older, name in NEWER_LABELS.items()
            if older in labels and name not in labels
        }
        if newer:
            return replace(node, metadata=replace(node.metadata, labels=type(labels)({**labels, **newer})))
        return node

    return attrs.evolve(
        scenario,
        objects=tuple(relabelled(item) if isinstance(item, Node) else item for item in scenario.objects),
    )


def zones_warning(scenario: Scenario) -> str | None:
    """A warning if nodes have a zone by the old label only, as constraints over the newer label ignore such
    nodes."""
    older = BETA_ZONE
    newer = TOPOLOGY_ZONE
    count = sum(older in node.labels and newer not in node.labels for node in scenario.nodes)
    nodes = "1 node has" if count == 1 else f"{count} nodes have"
    if count:
        return f"{nodes} label {older} and not {newer}, which newer releases add: try --newer-labels as well"
    return None
