"""The moment when the pod's turn comes, and trials of changes at this moment. After a trial all is as it was before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.pods.template import Entry
from ...core.run import Run
from ..explain.values import NodeReport
from ..scenario import Scenario
from ..simulate import Outcome, Simulation
from .change import Helpful, SpecPatcher, WhatIfChange


def changed_scenario(scenario: Scenario, pod: Pod, change: WhatIfChange) -> Scenario:
    """*scenario* with *change* made before anything runs; *pod* is the one that is asked about."""
    gone = {one.key for one in change.gone}
    new: dict[tuple[str, str], KubeObject] = {(one.kind, one.key): one for one in (*change.nodes, *change.objects, *change.pods)}
    objects: list[KubeObject] = [new.pop((one.kind, one.key), one) for one in scenario.objects if not _is_gone(one, gone)]
    bound = {key for kind, key in new if kind == Pod.kind}
    pending = [one for one in scenario.pending if one.key not in gone and one.key not in bound]
    asked = pod if change.pod is None else change.pod
    return attrs.evolve(
        scenario,
        objects=(*objects, *sorted(new.values(), key=lambda one: isinstance(one, Pod))),
        pending=tuple(asked if one.key == pod.key else one for one in pending),
    )


def _is_gone(item: KubeObject, gone: set[str]) -> bool:
    return isinstance(item, Pod) and item.key in gone


def outcome_after(simulation: Simulation, pod: Pod) -> Outcome:
    """The outcome for *pod* of a whole new *simulation*."""
    for _ in simulation.decisions():
        pass
    return simulation.outcomes[pod.key]


HOSTNAME = "kubernetes.io/hostname"


@attrs.define(eq=False)
class WhatIfContext:
    """*run* at the moment when it is the turn of *pod*, which is not decided yet."""

    run: Run
    pod: Pod
    patcher: SpecPatcher
    want: str | None = None
    """The node that the pod should get; None: any."""
    reports: tuple[NodeReport, ...] = ()
    """Each node's part in the decision before any change, those that do not fit with the nearest first."""
    tried: int = 0

    @property
    def engine(self) -> Engine:
        """The scheduler."""
        return self.run.engine

    # --- what is there ----------------------------------------------------------------------------------------------

    def node(self, name: str) -> Node | None:
        """The node called *name*."""
        return self.engine.node(name)

    def targets(self) -> Iterator[tuple[NodeReport, Node]]:
        """The nodes that a change could make the host, the nearest to fitting first: those that do not fit, or the one that is wanted."""
        for report in self.reports:
            node = self.node(report.name)
            if node is not None and (report.name == self.want if self.want is not None else not report.fits):
                yield report, node

    def on(self, name: str) -> list[Entry]:
        """The pods on a node."""
        table = self.engine.fresh_table()
        return list(table.pods[table.row_of[name]])

    def nodes(self) -> list[Node]:
        """All nodes."""
        return [node for name in self.engine.node_names() if (node := self.node(name)) is not None]

    @property
    def pin(self) -> str | None:
        """The value of the label by which a nodeSelector means the wanted node alone; None if there is none."""
        node = None if self.want is None else self.node(self.want)
        value = None if node is None else node.labels.get(HOSTNAME)
        return value if value and sum(other.labels.get(HOSTNAME) == value for other in self.nodes()) == 1 else None

    # --- trials -----------------------------------------------------------------------------------------------------

    def ask(self, pod: Pod | None = None, *, details: bool = False) -> Decision:
        """What would be decided on *pod*, or on the pod as it is, now."""
        asked = self.pod if pod is None else pod
        self.tried += 1
        with self.engine.preserving_state(asked):
            return self.engine.schedule(asked, details=details)

    def is_enough(self, host: str | None) -> bool:
        """Whether *host* is what is asked for."""
        return host is not None and (self.want is None or host == self.want)

    def helpful(self, change: WhatIfChange) -> Helpful | None:
        """What comes of *change*, if it helps; where another node than the wanted one wins, the pod is pinned to it as well."""
        with self.changed(change):
            return self._evicting(change) if change.evicts else self._placing(change)

    def _placing(self, change: WhatIfChange) -> Helpful | None:
        decision = self.ask(change.pod)
        if decision.host is not None and self.is_enough(decision.host):
            return Helpful.of(change, decision.host)
        if decision.host is None or self.pin is None or self._fits_now():
            return None
        pinned = self.pinned(change)
        return None if pinned is None or self.ask(pinned.pod).host != self.want else Helpful.of(pinned, self.want or "")

    def _fits_now(self) -> bool:
        """Whether the wanted node fits without any change, so that a pin alone would do."""
        return any(report.fits for report in self.reports if report.name == self.want)

    def pinned(self, change: WhatIfChange) -> WhatIfChange | None:
        """*change*, and a nodeSelector for the wanted node beside it."""
        made = self.patcher.pod(change.pod or self.pod, f"nodeSelector.{HOSTNAME}={self.pin}")
        if made is None:
            return None
        text, pod = made
        return attrs.evolve(change, pod=pod, patch=(*change.patch, text), words=f"{change.words}, and select {self.want} by its hostname")

    def _evicting(self, change: WhatIfChange) -> Helpful | None:
        """Room is made for the pod, and then it finds its place there."""
        decision = self.ask(change.pod)
        if decision.host is not None and self.pin is not None and not self._fits_now():
            pinned = self.pinned(change)
            decision = decision if pinned is None else self.ask(pinned.pod)
            change = pinned or change
        plan = decision.preemption
        if decision.host is not None or plan is None or plan.node is None or not self.is_enough(plan.node):
            return None
        victims = tuple(plan.victims)
        after = WhatIfChange(kind=change.kind, words="", patch=(), gone=victims)
        with self.changed(after):
            host = self.ask(change.pod).host
        keys = tuple(pod.key for pod in victims)
        return Helpful.of(change, host, keys) if host is not None and self.is_enough(host) else None

    # --- there and back ---------------------------------------------------------------------------------------------

    @contextmanager
    def changed(self, change: WhatIfChange) -> Iterator[None]:
        """A context in which the cluster is as *change* says."""
        with self.engine.savepoint():
            for item in (*change.nodes, *change.objects, *change.pods):
                self.run.feed.put(item)
            for pod in change.gone:
                self.run.feed.delete(pod)
            yield
