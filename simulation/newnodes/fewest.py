"""From a question and kinds of nodes to the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import attrs

from ...api.load import Loaded
from ...framework.schedulerspec import SchedulerSpec
from ..capacity.question import CapacityQuestion
from ..scenario import Scenario
from .answer import NewNodesAnswer
from .daemonpods import DaemonPods
from .demand import Demand, never_placed
from .kinds import NewNodeError, kinds_of
from .search import MixesFound, MixSearch, whole_prices
from .shapes import PodShape, Shapes
from .trials import MixTrials

WORK = 20_000
"""How many pods the simulations of the proof place in all, if it is not given how many simulations it may take."""
LEAST_TRIALS, MOST_TRIALS = 10, 400


def fewest_nodes(
    question: CapacityQuestion, scenario: Scenario, spec: SchedulerSpec, given: Sequence[str | tuple[str, Loaded]],
    costs: Mapping[str, Decimal], *, most_nodes: int | None = None, most_trials: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> NewNodesAnswer:  # fmt: skip
    """The cheapest mix of the kinds of nodes that are *given* with which each pod of *question* finds a node that can find one.

    *scenario*: the whole cluster; *spec*: of the scheduler; *given*: ``like:NODE``, or what was read from where; *costs*: by the name of
    a kind. *most_nodes*: more are not added; by default as many as there are pods. *most_trials*: how many simulations the proof may take.
    Raises :class:`~.kinds.NewNodeError` for numbers below 1, and for copies without a number of them.
    """
    kinds = kinds_of(given, scenario.objects, costs, DaemonPods.of(scenario, defaults=question.admits, priorities=spec.keeps_priorities))
    for name, number in (("most-nodes", most_nodes), ("most-trials", most_trials)):
        if number is not None and number < 1:
            raise NewNodeError(f"{name}: got {number}, wanted 1 or more")
    if question.templates and question.limit is None:
        raise NewNodeError("pods: got none, wanted the number of copies that new nodes are for")
    trials = MixTrials(question, kinds, lambda: spec.engine(scenario.config_maps), on_progress)
    sorting = Shapes(trials)
    copies = [pod for _, pod in trials.copies()] if question.templates else []
    waiting = question.scenario.pending if question.pending_first or not question.templates else ()
    shapes = sorting.of([*waiting, *copies])
    demand = Demand(trials, shapes, sorting.rooms, sorting.counted, preemption=spec.preemption)
    prices, scale = whole_prices([kind.cost for kind in kinds])
    never = never_placed(shapes, demand)
    if never:
        trials.leave_out(key for shape in never for key in shape.keys)
        shapes = [shape for shape in shapes if shape not in never]
        demand = Demand(trials, shapes, sorting.rooms, sorting.counted, preemption=spec.preemption)
    most = most_nodes or max(trials.wanted, 1)
    budget = most_trials or min(max(WORK // max(trials.wanted, 1), LEAST_TRIALS), MOST_TRIALS)
    found = MixSearch(trials, shapes, demand, prices, most, budget).run()
    stuck = [] if question.templates or most_nodes is not None else _stuck(found, shapes)
    if stuck:
        trials.leave_out(key for shape in stuck for key in shape.keys)
        rest = [shape for shape in shapes if shape not in stuck]
        demand = Demand(trials, rest, sorting.rooms, sorting.counted, preemption=spec.preemption)
        again = MixSearch(trials, rest, demand, prices, most, budget).run()
        if again.is_placed:
            found, shapes = attrs.evolve(again, stuck=found.best.missing, simulated=found.simulated + again.simulated), rest
    found = attrs.evolve(found, never=tuple(never))
    return NewNodesAnswer(release=spec.version, kinds=kinds, shapes=shapes, found=found, scale=scale, most_nodes=most)


def _stuck(found: MixesFound, shapes: Sequence[PodShape]) -> list[PodShape]:
    """The shapes whose pods all stay without a node whatever number is added, where others find one; none if all pods find one."""
    missing = {one.pod.key for one in found.best.missing}
    stuck = [shape for shape in shapes if missing.issuperset(shape.keys)]
    everyone = sum(shape.count for shape in stuck) == len(missing) and len(stuck) < len(shapes)
    return stuck if everyone else []
