"""Trials of changes at the moment when the pod's turn comes. After a trial all is as it was before."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.pods.template import Entry
from ...core.run import Run
from ...simulation.edits import LIKE, EditError, Edits, applied
from ...simulation.explain.values import NodeReport
from ...simulation.input import SILENT
from ...simulation.nodekinds import HOSTNAME
from .suggestion import Change, ChangeKind, Helpful


@attrs.define(eq=False, slots=False)
class WhatIfContext:
    """*run* at the moment when it is the turn of *pod*, which is not decided yet."""

    run: Run
    pod: Pod
    there: tuple[KubeObject, ...]
    """All objects at this moment, the pod among them."""
    defaults: bool = True
    """Whether edited objects get the API server's defaults."""
    priorities: bool = True
    """Whether gate PodPriority is on."""
    want: str | None = None
    """The node that the pod should get; None: any."""
    reports: tuple[NodeReport, ...] = ()
    """Each node's part in the decision before any change, those that do not fit with the nearest first."""
    pause: Callable[[], object] = SILENT.pause
    """Called before each decision: it may end the search."""
    tried: int = 0

    @property
    def engine(self) -> Engine:
        """The scheduler."""
        return self.run.engine

    # --- what is there ----------------------------------------------------------------------------------------------

    @cached_property
    def siblings(self) -> list[Pod]:
        """The other pods of its controller, on nodes or not: what changes the pod's template changes them too."""
        owner, space = self.pod.metadata.controller, self.pod.namespace
        pods = (item for item in self.there if isinstance(item, Pod) and item.key != self.pod.key and item.namespace == space)
        return [pod for pod in pods if owner is not None and pod.metadata.controller == owner]

    def targets(self) -> Iterator[tuple[NodeReport, Node]]:
        """The nodes that a change could make the host, the nearest to fitting first: those that do not fit, or the one that is wanted."""
        for report in self.reports:
            node = self.engine.node(report.name)
            if node is not None and (report.name == self.want if self.want is not None else not report.fits):
                yield report, node

    def on(self, name: str) -> list[Entry]:
        """The pods on a node."""
        table = self.engine.fresh_table()
        return list(table.pods[table.row_of[name]])

    def nodes(self) -> list[Node]:
        """All nodes."""
        return [node for name in self.engine.node_names() if (node := self.engine.node(name)) is not None]

    @property
    def pin(self) -> str | None:
        """The value of the label by which a nodeSelector means the wanted node alone; None if there is none."""
        node = None if self.want is None else self.engine.node(self.want)
        value = None if node is None else node.labels.get(HOSTNAME)
        return value if value and sum(other.labels.get(HOSTNAME) == value for other in self.nodes()) == 1 else None

    # --- changes ----------------------------------------------------------------------------------------------------

    def of_pod(self, kind: ChangeKind, words: str, *fields: str, size: float = 0.0, evicts: bool = False) -> Change:
        """Changes of *fields* of the pod, and of all pods of its controller: they have one template."""
        name = f"{LIKE if self.siblings else ''}{self.pod.key}"
        return Change(kind, words, (" ".join(["pod", name, *map(_word, fields)]),), size=size, evicts=evicts)

    def of_node(self, node: Node, kind: ChangeKind, words: str, *fields: str, size: float = 0.0) -> Change:
        """Changes of *fields* of *node*."""
        return Change(kind, words, (" ".join(["node", node.name, *map(_word, fields)]),), size=size)

    # --- trials -----------------------------------------------------------------------------------------------------

    @contextmanager
    def after(self, *edits: str) -> Iterator[WhatIfContext]:
        """A context in which the cluster is as *edits* make it, as it is then. Raises :class:`EditError` if one does nothing."""
        pairs, told = Edits.parse(edits, defaults=self.defaults).pairs(self.there, priorities=self.priorities)
        for edited in told:
            if not edited.changed:
                raise EditError(str(edited))
        there = applied(self.there, pairs) if pairs else self.there
        pod = next((item for item in there if isinstance(item, Pod) and item.key == self.pod.key), self.pod)
        with self.run.edited(pairs):
            yield WhatIfContext(self.run, pod, there, self.defaults, self.priorities, self.want, self.reports, self.pause)

    def ask(self, pod: Pod | None = None, *, makes_room: bool = False) -> Decision:
        """What would be decided on *pod*, or on the pod as it is, now; *makes_room*: and who would have to leave."""
        self.pause()
        asked = self.pod if pod is None else pod
        self.tried += 1
        with self.engine.preserving_state(asked):
            return self.engine.schedule(asked, details=False, only_host=not makes_room)

    def helpful(self, change: Change) -> Helpful | None:
        """What comes of *change*, if it helps; where another node than the wanted one wins, the pod is pinned to it as well."""
        try:
            for pins in (False, True):
                if pins:
                    if self.pin is None or any(report.fits for report in self.reports if report.name == self.want):
                        return None  # or a pin alone would do
                    pin = self.of_pod(change.kind, "", f"nodeSelector.{HOSTNAME}={self.pin}")
                    words = f"{change.words}, and select {self.want} by its hostname"
                    change = attrs.evolve(change, edits=(*change.edits, *pin.edits), words=words)
                with self.after(*change.edits) as after:
                    decision = after.ask(makes_room=change.evicts)
                    found = after.outcome(change, decision)
                self.tried += after.tried
                if found is not None or decision.host is None:
                    return found
        except EditError:
            pass
        return None

    def outcome(self, change: Change, decision: Decision) -> Helpful | None:
        """What *change* comes to by *decision* after it, with room made if it *evicts*; None if that is not what is asked for."""
        host, victims = decision.host, tuple[Pod, ...]()
        if change.evicts:
            plan = decision.preemption
            if host is not None or plan is None or plan.node is None or self.want not in (None, plan.node):
                return None
            victims = tuple(plan.victims)
            with self.run.edited((victim, None) for victim in victims):
                host = self.ask().host
        if host is None or self.want not in (None, host):
            return None
        return Helpful.of(change, host, tuple(pod.key for pod in victims))


def _word(change: str) -> str:
    """*change* as one word; quoted only if that is needed."""
    if not set(change) & set(" '\"\\\t\n"):
        return change
    return shlex.quote(change) if set(change) & set('"\\') else f'"{change}"'


def smallest(low: int, high: int, helps: Callable[[int], bool]) -> int | None:
    """The smallest number above *low* that helps, as all greater ones do; None if *high* does not."""
    if not helps(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if helps(middle) else (middle, high)
    return high
