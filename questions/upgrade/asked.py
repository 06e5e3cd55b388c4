"""Which cells of its release and which gates a scheduler has asked for: one that has the same values in all of them decides alike.

That is a proof: up to the first cell that differs and is asked for, both have done the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from ...api.objects import Pod
from ...core.engine import Engine
from ...core.pods.template import Template, Templates
from ...core.release import Release
from ...core.release.fact import value_of
from ...core.release.framework import CellGroup
from ...core.rule import Algorithm
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...simulation.scenario import Scenario

W = TypeVar("W", Algorithm, KubeSchedulerConfiguration)
MADE_OF = frozenset({"configuration", "policies", "framework.points_lacked"})
"""Cells of which follows which rules run, with which arguments: these are compared themselves."""
TEXTS = ("_text", "texts", "_error")
"""How the names of cells with texts end."""
COUNTED = ("requests", "footprint", "nonzero", "nonzero_footprint", "scored", "balanced", "ports", "claims", "size", "is_huge")
"""What a release makes of a pod: fields of its template."""
OF_CLASSIC = (
    "predicates", "priorities", "check_all", "hard_pod_affinity_weight", "percentage", "preemption", "ignored_resources",
    "equivalence_cache",
)  # fmt: skip
"""What an algorithm of predicates and priorities runs."""
CONCERNED: Mapping[str, Callable[[Any, Template], bool]] = {
    **dict.fromkeys(("preFilter", "filter", "reserve", "permit", "preBind", "postBind"), lambda plugin, pod: plugin.concerns(pod)),
    **dict.fromkeys(("preScore", "score"), lambda plugin, pod: plugin.score_concerns(pod)),
}
"""Point -> whether what a plugin does there for a pod can matter; it can at all others."""


@attrs.define(eq=False, repr=False)
class Asked:
    """The names of cells and gates, each with the number of the cycle in which it was asked for first."""

    names: dict[str, int] = attrs.field(factory=dict)
    cycle: int = 0

    def note(self, name: str) -> None:
        """*name* is asked for."""
        self.names.setdefault(name, self.cycle)


class AskedCells:
    """In place of a release or a group of its cells: notes which cells are read."""

    def __init__(self, cells: object, asked: Asked, within: str = "") -> None:
        self._cells, self._asked, self._within = cells, asked, within

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value, path = getattr(self._cells, name), f"{self._within}{name}"
        if path == "gates":
            value = AskedGates(value, self._asked)
        elif isinstance(value, CellGroup) and path not in MADE_OF:
            value = AskedCells(value, self._asked, f"{path}.")
        elif path not in MADE_OF:
            self._asked.note(path)
        self.__dict__[name] = value  # from now on it is read without this method
        return value


@attrs.frozen(eq=False, repr=False)
class AskedGates(Mapping[str, Any]):
    """In place of feature gates: notes which are asked for."""

    gates: Mapping[str, Any]
    asked: Asked

    def _noted(self, name: object) -> Mapping[str, Any]:
        self.asked.note(f"gates.{name}")
        return self.gates

    def __getitem__(self, name: str) -> Any:
        return self._noted(name)[name]

    def __contains__(self, name: object) -> bool:
        return name in self._noted(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self._noted(name).get(name, default)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.gates if self._noted(name))

    def __len__(self) -> int:
        return len(self.gates)


def noting(wanted: W, asked: Asked | None) -> W:
    """*wanted*, of which a scheduler is made, so that *asked* notes what that asks for; as it is where nothing is to be noted."""
    if asked is None:
        return wanted
    cells: Any = AskedCells(wanted.release, asked)
    return attrs.evolve(wanted, release=cells, gates=AskedGates(wanted.gates, asked))


# --- what is compared -----------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class StageSetup:
    """What a scheduler is made of, as far as the pods of a cluster are concerned."""

    release: Release
    gates: Mapping[str, bool]
    rules: object
    """Which rules run, in which order, with which weights and arguments."""
    pods: Sequence[object]
    """What each kind of pod asks for and takes up."""

    @classmethod
    def of(cls, engine: Engine, kinds: Sequence[Pod]) -> StageSetup:
        """That of *engine*, for pods of *kinds*."""
        templates = Templates(engine.release, engine.gates)
        known = [templates.of(pod) for pod in kinds]
        return cls(engine.release, engine.gates, _rules(engine, known), [_counted(template) for template in known])

    def differs_from(self, other: StageSetup, asked: Mapping[str, int]) -> int | None:
        """The first cycle in which *other* may decide otherwise, where this one has *asked* for these; None: there is none."""
        if self.rules != other.rules or self.pods != other.pods:
            return 0
        return min((cycle for name, cycle in asked.items() if not self._agrees(other, name)), default=None)

    def _agrees(self, other: StageSetup, name: str) -> bool:
        group, _, gate = name.partition(".")
        if group == "gates":
            return self.gates.get(gate) == other.gates.get(gate)
        ours, theirs = value_of(self.release, name), value_of(other.release, name)
        # What a text says decides nothing, only whether there is one.
        return bool(ours == theirs or (name.endswith(TEXTS) and ours and theirs))


def kinds_of(scenario: Scenario, engine: Engine) -> list[Pod]:
    """One pod of each kind in *scenario*: whichever release asks, what it asks for and takes up is that of its kind."""
    templates, kinds = Templates(engine.release, engine.gates), dict[object, Pod]()
    for pod in (*scenario.pending, *(item for item in scenario.objects if isinstance(item, Pod))):
        status = pod.status
        kinds.setdefault((templates.entry(pod).template, status.container_statuses, status.init_container_statuses, status.resize), pod)
    return list(kinds.values())


def _counted(pod: Template) -> object:
    """What a release makes of *pod*; of namespace selectors only where it has terms that may select by them."""
    selects = pod.has_pod_affinity and (pod.selects_namespaces, pod.adds_namespaces)
    return selects, [getattr(pod, name) for name in COUNTED]


def _rules(engine: Engine, pods: Sequence[Template]) -> object:
    if not engine.flow.profiles:
        return [getattr(engine.algorithm, name) for name in OF_CLASSIC]
    return {
        name: (
            profile.percentage, profile.algorithm.extenders, profile.algorithm.check_all,
            {point: [(plugin.name, plugin.args, profile.weights.get(plugin.name)) for plugin in plugins if _matters(plugin, point, pods)]
             for point, plugins in profile.points.items()},
        )
        for name, profile in engine.flow.profiles.items()
    }  # fmt: skip


def _matters(plugin: Any, point: str, pods: Sequence[Template]) -> bool:
    return point not in CONCERNED or any(CONCERNED[point](plugin, pod) for pod in pods)
