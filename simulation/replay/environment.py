"""A replay step by step: look at the cluster before each decision, and decide yourself if you like."""

from __future__ import annotations

import attrs
import numpy as np

from ...api.objects import Pod
from ...core.arrays.batch import Batch
from ...core.arrays.types import Ints, Mask
from ...core.decision.decision import Decision
from ...exceptions import CacheError, KubeclassicError, UnknownNameError, did_you_mean
from .replay import Replay


class StepError(KubeclassicError):
    """A step is not possible: no pod is left to decide on, or the pod does not fit on the node."""


@attrs.frozen(eq=False)
class EnvironmentState:
    """The cluster as the scheduler sees it before it decides on *pod*; row i of each array is node ``names[i]``.

    ``allocatable``, ``requested``: int64[N, R] by *resources*, cpu in millicores, memory in bytes; ``asked``: int64[R], what the pod
    requests; ``feasible``: bool[N], all predicates pass; ``scores``: int64[N], the weighted sum of priorities, 0 where the pod does not
    fit. If fewer than two nodes fit, all scores are 0. Without a pod the last three are zero. With the framework, plugins take the place
    of predicates and priorities.
    """

    time: float
    pod: Pod | None
    names: tuple[str, ...]
    resources: tuple[str, ...]
    allocatable: Ints
    requested: Ints
    asked: Ints
    feasible: Mask
    scores: Ints


@attrs.define(eq=False)
class SchedulingEnvironment:
    """One pod's turn after another; between turns time passes, pods finish, and nodes come and go as *replay* says.

    >>> from kubeclassic.algorithmprovider import RELEASES, resolve
    >>> from kubeclassic.api.objects import Map, Node, NodeStatus, ObjectMeta, Pod
    >>> from kubeclassic.api.objects.quantity import Quantity
    >>> from kubeclassic.core.classic import classic_engine
    >>> from kubeclassic.simulation.replay.inputs.inputs import Inputs
    >>> from kubeclassic.simulation.replay.inputs.traces import ADD, Event
    >>> room = NodeStatus(allocatable=Map(pods=Quantity.of(1)))
    >>> nodes = [Node(metadata=ObjectMeta(name=name), status=room) for name in "ab"]
    >>> events = (*(Event(0.0, ADD, node) for node in nodes), Event(5.0, ADD, Pod(metadata=ObjectMeta(name="web"))))
    >>> simulation = SchedulingEnvironment(Replay(Inputs(events), classic_engine(resolve(RELEASES["1.15"]))))
    >>> simulation.state.time, simulation.state.names, simulation.state.feasible.tolist()
    (5.0, ('a', 'b'), [True, True])
    >>> simulation.schedule_on("b").host, simulation.is_over
    ('b', True)
    """

    replay: Replay
    pod: Pod | None = attrs.field(init=False)
    """The pod whose turn it is; None when the simulation is over."""
    _state: EnvironmentState | None = None

    def __attrs_post_init__(self) -> None:
        self.pod = self.replay.next_pod()

    @property
    def is_over(self) -> bool:
        """Whether no pod is left to decide on."""
        return self.pod is None

    @property
    def state(self) -> EnvironmentState:
        """The cluster now; to read it changes nothing."""
        if self._state is None:
            self._state = self._look()
        return self._state

    def step(self) -> Decision:
        """Let the scheduler decide for :attr:`pod`, and go on to the next turn."""
        return self._concluded(self.replay.decide(self._turn()))

    def schedule_on(self, node: str, *, force: bool = False) -> Decision:
        """Place :attr:`pod` on *node*, whatever the scheduler would decide, and go on to the next turn.

        Raises :class:`StepError` if the pod does not fit there, unless *force*; UnknownNameError if there is no such node.
        """
        pod, state = self._turn(), self.state
        if node not in state.names:
            raise UnknownNameError(f'node: got "{node}", wanted a node of the cluster{did_you_mean(node, state.names)}')
        if not force and not state.feasible[state.names.index(node)]:
            raise StepError(f"pod {pod.key} does not fit on node {node}")
        self._decide_on_volumes(pod, node)
        return self._concluded(Decision(pod, host=node))

    def _decide_on_volumes(self, pod: Pod, node: str) -> None:
        """Have the scheduler find volumes for the pod on *node*, as it does in its own cycles."""
        engine = self.replay.engine
        cycle = engine.begin(pod)
        claims = cycle.template.claims
        if claims and engine.binder.enabled:
            engine.binder.remember(pod, claims, Batch(engine.table, np.array([engine.table.row_of[node]], np.intp)))

    def _turn(self) -> Pod:
        if self.pod is None:
            raise StepError("the simulation is over: no pod waits for its turn")
        return self.pod

    def _concluded(self, decision: Decision) -> Decision:
        self._state = None
        try:
            self.replay.conclude(decision)
        except CacheError as error:
            raise StepError(str(error)) from None
        self.pod = self.replay.next_pod()
        return decision

    # --- looking ----------------------------------------------------------------------------------------------------

    def _look(self) -> EnvironmentState:
        engine, resources = self.replay.engine, tuple(self.replay.inputs.resources)
        engine.fresh_table()
        names = tuple(sorted(node.name for node in engine.nodes()))
        ledger = self.replay.cluster.ledger
        rows = np.array([ledger.row_of(name) for name in names], np.intp)
        asked, feasible, scores = np.zeros(len(resources), np.int64), np.zeros(len(names), np.bool_), np.zeros(len(names), np.int64)
        if self.pod is not None:
            asked = ledger.vector(engine.template_of(self.pod).requests)
            if names:
                feasible, scores = engine.evaluate_nodes(self.pod, names)
        room = ledger.allocatable[:, rows].T.copy(), ledger.used[:, rows].T.copy()
        return EnvironmentState(self.replay.now, self.pod, names, resources, *room, asked, feasible, scores)
