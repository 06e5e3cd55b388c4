"""The same pods in each release of an upgrade, with the cause of each changed decision, as data.

The parts are independent of each other: this process runs them, or others, or Dask.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

import attrs

from ...api.garbage import passing
from ...api.meaning import COMPARISONS, requests_of, total_of
from ...api.objects import (
    ZERO,
    Container,
    Device,
    Node,
    NodeAffinity,
    Pod,
    PodDisruptionBudget,
    Quantity,
    ResourceSlice,
)
from ...api.reading import InputWarning, ResultDocument
from ...api.record import UNSET, Count, Record, UnsetType, says
from ...core.arrays import AVOID
from ...core.decision import Decision
from ...core.pods import CPU, MEMORY, NATIVE
from ...core.release.fact import Fact
from ...exceptions import KubeclassicError
from ...framework.releases import (
    ALL_PATCH_LEVELS,
    BY_ID,
    OTHER_PATCHES,
    OtherPatches,
    ReleaseFact,
    facts_between,
    undone,
)
from ...simulation.executors import run_on
from ...simulation.input import SILENT, Observer
from ...simulation.releasenotes import NAMESPACES
from ...simulation.sides import Cause, CauseKind, Decided, Mode, SideView, decided
from ...simulation.simulate import Scenario
from .facts import (
    NO_STEPS,
    Effect,
    FollowingSide,
    FoundCause,
    SideSpec,
    Steps,
    UpgradeTrial,
    lead,
    total_of_rule,
)

# --- traits of a cluster that releases treat differently ----------------------------------------------------

# Facts about them are tried first where a decision differs.


def _affinity_of(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


def _containers(pod: Pod) -> Iterable[Container]:
    return (*pod.spec.containers, *pod.spec.init_containers)


def _amounts(pod: Pod, *more: Mapping[str, Quantity]) -> Iterable[tuple[str, Quantity]]:
    return (item for part in (*more, *(one.requests for one in _containers(pod))) for item in part.items())


def _overcommits(node: Node, pods: Sequence[Pod]) -> bool:
    """Whether the pods on *node* request more of something than it has."""
    requests = Counter[str]()
    for pod in pods:
        requests.update({name: quantity.nanos for name, quantity in total_of(pod.spec, requests_of).items()})
    return any(
        amount > (node.status.allocatable.get(name) or ZERO).nanos for name, amount in requests.items()
    )


OF_PODS: Mapping[str, Callable[[Pod], object]] = {
    "comparing tolerations": lambda pod: any(
        toleration.operator in COMPARISONS for toleration in pod.spec.tolerations
    ),
    "constraint fields": lambda pod: any(
        constraint.min_domains is not None or constraint.match_label_keys
        for constraint in pod.spec.topology_spread_constraints
    ),
    "constraints": lambda pod: pod.spec.topology_spread_constraints,
    "constraints of one key": lambda pod: (
        len({constraint.topology_key for constraint in pod.spec.topology_spread_constraints})
        < len(pod.spec.topology_spread_constraints)
    ),
    "declared features": lambda pod: (
        pod.spec.host_users is False or any(container.restarts_all for container in _containers(pod))
    ),
    "devices": lambda pod: pod.spec.resource_claims,
    "empty selectors": lambda pod: any(
        constraint.label_selector is None or constraint.label_selector.is_empty
        for constraint in pod.spec.topology_spread_constraints
    ),
    "fine amounts": lambda pod: any(
        quantity.nanos % (10**6 if name == CPU else 10**9) for name, quantity in _amounts(pod)
    ),
    "huge amounts": lambda pod: any(one.nanos > HUGE for _, one in _amounts(pod, pod.spec.overhead)),
    "image volumes": lambda pod: any(volume.image for volume in pod.spec.volumes),
    "images": lambda pod: any(container.image for container in _containers(pod)),
    "inclusion policies": lambda pod: any(
        constraint.node_affinity_policy or constraint.node_taints_policy
        for constraint in pod.spec.topology_spread_constraints
    ),
    "init containers": lambda pod: pod.spec.init_containers,
    "named nodes": lambda pod: (
        (affinity := _affinity_of(pod))
        and affinity.required
        and any(term.match_fields for term in affinity.required.node_selector_terms)
    ),
    "namespace selectors": NAMESPACES.has,
    "node preferences": lambda pod: (affinity := _affinity_of(pod)) and affinity.given_preferred is not None,
    "nominations": lambda pod: pod.status.nominated_node_name,
    "overhead": lambda pod: pod.spec.overhead,
    "pod affinity": lambda pod: (
        (affinity := pod.spec.affinity) and (affinity.pod_affinity or affinity.pod_anti_affinity)
    ),
    "pod resources": lambda pod: pod.spec.requests,
    "pods without cpu and memory": lambda pod: (
        not any(quantity.nanos for name, quantity in _amounts(pod) if name in (CPU, MEMORY))
    ),
    "ports": lambda pod: any(port.host_port for container in _containers(pod) for port in container.ports),
    "requests": lambda pod: any(container.requests for container in _containers(pod)),
    "resized pods": lambda pod: (
        pod.status.resources
        or any(
            status.requests is not None or status.allocated_resources
            for status in (*pod.status.container_statuses, *pod.status.init_container_statuses)
        )
    ),
    "scheduling gates": lambda pod: pod.spec.scheduling_gates,
    "sidecars": lambda pod: any(container.is_sidecar for container in pod.spec.init_containers),
    "terminating": lambda pod: pod.is_terminating,
    "node selectors": lambda pod: pod.spec.node_selector,
    "volumes": lambda pod: pod.spec.rule_volumes,
    "zero scalars": lambda pod: any(
        not quantity.nanos and name not in NATIVE for name, quantity in _amounts(pod)
    ),
}
"""Trait of a cluster -> whether a pod gives it."""
OF_KINDS = {
    "attachments": ("VolumeAttachment",),
    "budgets": ("PodDisruptionBudget",),
    "device classes": ("DeviceClass",),
    "owners": ("Service", "ReplicationController", "ReplicaSet", "StatefulSet"),
}
"""Trait -> the kinds whose objects give it."""
OF_DEVICES: Mapping[str, Callable[[Device], object]] = {
    "binding conditions": lambda device: device.binding_conditions,
    "counters": lambda device: device.consumes_counters,
    "device taints": lambda device: device.taints,
    "shared devices": lambda device: device.allow_multiple_allocations,
}
"""Trait -> whether a device of a ResourceSlice gives it."""
HUGE = 10**9 << 50
"""A pebibyte, in billionths: sums and scores of larger amounts may wrap around."""
MANY = 100
"""Every search visits all nodes if there are no more than this."""
OF_NODES: Mapping[str, Callable[[Node], object]] = {
    "avoiding nodes": lambda node: AVOID in node.annotations,
    "image lists": lambda node: node.status.images,
    "taints": lambda node: node.spec.taints or node.spec.unschedulable,
    "unschedulable": lambda node: node.spec.unschedulable,
    "huge nodes": lambda node: any(quantity.nanos > HUGE for quantity in node.status.allocatable.values()),
    "lacking nodes": lambda node: (
        not {CPU, MEMORY} <= {name for name, quantity in node.status.allocatable.items() if quantity.nanos}
    ),
    "preferring taints": lambda node: any(taint.effect == "PreferNoSchedule" for taint in node.spec.taints),
    "zones": lambda node: any("zone" in label or "region" in label for label in node.labels),
}
"""Trait -> whether a node gives it."""
OF_CONFIGURATIONS = (
    "policy",
    "profile",
    "events",
    "gates set",
    "equivalence cache",
    "no scores",
    "extenders",
)
"""Traits of the configuration, not of the cluster."""
OF_ALL = ("priorities", "orphans", "disrupted pods", "100 nodes", "two nodes", "overcommitted nodes")
TRAITS = frozenset({*OF_PODS, *OF_KINDS, *OF_DEVICES, *OF_NODES, *OF_CONFIGURATIONS, *OF_ALL})
"""Every trait that a fact may need."""


def traits_of(scenario: Scenario, configuration: Iterable[str]) -> frozenset[str]:
    """The traits of *scenario*, with those of the *configuration*."""
    pods = [*scenario.pending, *(item for item in scenario.objects if isinstance(item, Pod))]
    nodes = scenario.nodes
    traits = {name for name, holds in OF_PODS.items() if any(holds(pod) for pod in pods)}
    traits |= {name for name, holds in OF_NODES.items() if any(holds(node) for node in nodes)}
    present = {item.kind for item in scenario.objects}
    traits |= {name for name, kinds in OF_KINDS.items() if not present.isdisjoint(kinds)}
    devices = [
        device for item in scenario.objects if isinstance(item, ResourceSlice) for device in item.spec.devices
    ]
    traits |= {name for name, holds in OF_DEVICES.items() if any(holds(device) for device in devices)}
    names = {"", *(node.name for node in nodes)}
    pods_by_node = dict[str, list[Pod]]()
    for pod in pods:
        pods_by_node.setdefault(pod.spec.node_name, []).append(pod)
    of_all = {
        "priorities": len({pod.priority for pod in pods}) > 1 or any(pod.is_terminating for pod in pods),
        "orphans": not pods_by_node.keys() <= names,
        "100 nodes": len(nodes) > MANY,
        "two nodes": len(nodes) > 1,
        "disrupted pods": any(
            isinstance(item, PodDisruptionBudget) and item.status.disrupted_pods for item in scenario.objects
        ),
        "overcommitted nodes": any(
            _overcommits(node, pods_by_node[node.name]) for node in nodes if node.name in pods_by_node
        ),
    }
    traits |= {name for name, holds in of_all.items() if holds}
    return frozenset({*traits, *configuration})


def concerns(fact: Fact, traits: frozenset[str]) -> bool:
    """Whether *fact* is likely to change a decision on a cluster with *traits*."""
    return fact.decides and all(not traits.isdisjoint(need.split("|")) for need in fact.needs)


BY_EARLIER = FoundCause(
    "earlier decision", None, Cause("tie", text="the nodes are filled differently by then")
)
"""The cause in mode free where both decide alike on the same state."""
Causes = Mapping[int, FoundCause]
"""Step number of the leading side -> the cause of the other decision."""


# --- as data ------------------------------------------------------------------------------------------------

Change = Annotated[
    Literal["gained", "lost", "makes room", "elsewhere", "other room"],
    says(
        "A node that it did not have before; none any more; a node only by evicting others; another node; or another node or other "
        "victims of a preemption."
    ),
]


class UpgradeCause(Record):
    """The number of decisions that a step changes for one reason."""

    effect: Effect
    """A fact of the release; or an earlier decision, after which the nodes were filled differently; or
    unknown."""
    fact: str | None
    """The id of the fact."""
    rule: str | None
    """The first rule that differs, else the one that the fact is about."""
    decisions: Count


class MovedPod(Record):
    """A decision that a step changes."""

    pod: str
    before: str
    """The older release."""
    after: str
    retry: bool
    """Whether this is another try of a pod that made room."""
    change: Change
    old: str | None
    """The node before, or the node on which the pod made room."""
    new: str | None
    effect: Effect
    fact: str | None
    """The id of the fact."""
    kind: CauseKind
    rule: str | None
    node: str | None
    """The node in question."""
    points: int | None
    """The points of 100 that the new node gains over the old one by the rule."""
    text: str


MovedPods = tuple[MovedPod, ...]


class DifferingNode(Record):
    """A node for which the two releases of a step differ, in the same state of the cluster."""

    after: str
    """The newer release."""
    node: str
    old: str
    """Whether the node fits in the older release, and why not; or its points of 100 by the rule that
    decides."""
    new: str


class UpgradeStep(Record):
    """The changes from one release to the next."""

    before: str
    after: str
    differ: Count
    """How many decisions differ."""
    gained: Count
    lost: Count
    makes_room: Count
    elsewhere: Count
    other_room: Count
    causes: tuple[UpgradeCause, ...]


class UpgradeStage(Record):
    """A release of the upgrade."""

    release: str
    like: str
    """The patch level that it behaves like."""
    runs: str
    """The configuration that it runs: the default, a Policy or a profile, perhaps migrated."""
    placed: Count
    """Pods that find a node."""
    unplaced: Count
    same_as: str | None
    """The earliest release since which no decision changed; null: this one."""
    other_patches: OtherPatches = ""


class UpgradeDocument(ResultDocument):
    """The same pods through each release of an upgrade."""

    KIND = "Upgrade"
    mode: Literal["locked", "free"]
    """locked: all releases decide in the same states, those of the first one; free: each in its own."""
    same: bool
    """Whether no step changes a decision."""
    pods: Count
    """The number of pods that were tried."""
    stages: tuple[UpgradeStage, ...]
    steps: tuple[UpgradeStep, ...]
    moved: MovedPods
    """By step, in the order of decisions."""
    facts: tuple[ReleaseFact, ...]
    """The facts that are a cause."""
    ways: Mapping[str, tuple[str | None, ...]]
    """Moved pod -> its node in each release."""
    nodes: tuple[DifferingNode, ...] | UnsetType = UNSET
    """With --pod: the nodes that differ in the steps that move it."""


# --- the upgrade --------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False, slots=False)
class Upgrade:
    """The run of the same pods through the releases of *specs*."""

    scenario: Scenario
    specs: Sequence[SideSpec]
    mode: Mode = "locked"
    order: str = "input"
    configuration: Sequence[str] = ()
    """Traits of the configuration."""
    shares: bool = attrs.field(factory=lambda: not os.environ.get("KUBECLASSIC_VERIFY"))
    """Whether a release shares the steps of the one before it where none of its facts concerns the
    cluster."""
    traits: frozenset[str] = attrs.field(init=False)
    """Traits of the cluster and the configuration."""
    _leader: Steps | None = None

    @traits.default
    def _traits(self) -> frozenset[str]:
        return traits_of(self.scenario, self.configuration)

    def __getstate__(self) -> dict[str, Any]:
        """The state for other processes. Decisions keep only what takes effect, as their details are larger
        than all the rest."""
        steps = []
        for step in self._leader.steps if self._leader else ():
            full = step.decision
            lasting = Decision(full.pod, full.host, preemption=full.preemption, nominated=full.nominated)
            steps.append(attrs.evolve(step, decision=lasting))
        return {**vars(self), "_leader": self._leader and attrs.evolve(self._leader, steps=steps)}

    # --- the steps of each side -----------------------------------------------------------------------------

    def leader(self, observer: Observer = SILENT) -> Steps | None:
        """The steps on whose states all sides decide; None in mode free, where each goes its own way."""
        if self.mode == "locked" and self._leader is None:
            self._leader = lead(self.specs[0], self.scenario, self.order, observer)
        return self._leader

    def steps(self, number: int, observer: Observer = SILENT) -> Steps:
        """The steps of the side *number*."""
        leader = self.leader()
        if leader is None:
            return lead(self.specs[number], self.scenario, self.order, observer)
        return FollowingSide(self.specs[number], self.scenario, leader).steps() if number else leader

    def is_paired(self, number: int) -> bool:
        """Whether several facts fit the cluster and none can be undone, so that each decision is examined as
        it is made."""
        fitting, _ = self.facts(number)
        return len(fitting) > 1 and not any(fact.cells for fact in fitting)

    def pair(self, number: int, leader: Steps | None = None) -> tuple[Steps, Steps, Causes]:
        """The steps of the side before *number* and of side *number*, on the states of *leader*, with the
        cause of each difference."""
        leader = leader or self.leader()
        assert leader is not None
        trial = self.trial(number, leader)
        causes = dict[int, FoundCause]()
        older = trial.older
        newer = trial.newer
        for at, step in enumerate(leader.steps):
            # Details cost as much as the decision: ask for them at once only where they are likely to be
            # needed.
            details = 2 * len(causes) > at and step.decision.host is not None
            with older.step(details) as before, newer.step(details) as after:
                if decided(before) != decided(after):
                    causes[at] = trial.compared(at, older.detailed(before), newer.detailed(after))
        return older.taken_steps, newer.taken_steps, causes

    # --- from one side to the next --------------------------------------------------------------------------

    def facts(self, number: int) -> tuple[list[Fact], list[Fact]]:
        """The facts of the side *number* over the one before it: those that fit the cluster, and the
        others."""
        facts = list(facts_between(self.specs[number - 1].version, self.specs[number].version))
        fitting = [fact for fact in facts if concerns(fact, self.traits)]
        return fitting, [fact for fact in facts if fact not in fitting]

    def trial(
        self, number: int, leader: Steps, before: Steps = NO_STEPS, after: Steps = NO_STEPS
    ) -> UpgradeTrial:
        """The side *number* beside the one before it on the states of *leader*; *before*, *after*: their
        steps, if known."""
        spec = self.specs[number]
        (fitting, others) = self.facts(number)
        older = FollowingSide(self.specs[number - 1], self.scenario, leader, own_steps=list(before.steps))
        newer = FollowingSide(spec, self.scenario, leader, own_steps=list(after.steps))

        def without(facts: Sequence[Fact]) -> FollowingSide:
            return FollowingSide(spec, self.scenario, leader, undone(spec.release, facts), newer.own_steps)

        return UpgradeTrial([*fitting, *others], fitting, older, newer, without)

    def moved(self, number: int, before: Steps, after: Steps, causes: Causes | None = None) -> MovedPods:
        """Each decision that the side *number* changes, in order; *before*, *after*: the steps on both sides;
        *causes*: if known."""
        newer = {step.at: step.outcome for step in after.steps}
        changed = [step for step in before.steps if step.at in newer and newer[step.at] != step.outcome]
        if not changed:
            return ()
        leader = self.leader()
        newer_steps = after
        if leader is None:  # the newer side went its own way: how does it decide on the older one's states?
            leader = before if before.steps[0].decision else self.steps(number - 1)
            if self.is_paired(number):
                _, newer_steps, causes = self.pair(number, leader)
            else:
                newer_steps = FollowingSide(self.specs[number], self.scenario, leader).steps()
        numbers = {step.at: at for at, step in enumerate(leader.steps)}
        if causes is None:
            outcomes = {step.at: step.outcome for step in newer_steps.steps}
            direct = {
                numbers[step.at]: (step.outcome, outcomes[step.at])
                for step in changed
                if outcomes[step.at] != step.outcome
            }
            causes = dict(
                zip(direct, self.trial(number, leader, before, newer_steps).attribute(direct), strict=True)
            )
        versions = self.specs[number - 1].version, self.specs[number].version
        return tuple(
            moved_pod(
                *versions, step.at, step.outcome, newer[step.at], causes.get(numbers[step.at], BY_EARLIER)
            )
            for step in changed
        )

    def differing(self, move: MovedPod) -> Iterator[DifferingNode]:
        """The nodes that the newer side of *move* judges differently, in the state in which the pod is first
        tried."""
        number = [spec.version for spec in self.specs].index(move.after)
        leader = lead(
            self.specs[0 if self.mode == "locked" else number - 1],
            self.scenario,
            self.order,
            SILENT,
            move.pod,
        )
        before, after = (
            FollowingSide(self.specs[at], self.scenario, leader).steps() for at in (number - 1, number)
        )
        trial = self.trial(number, leader, before, after)
        names = [node.name for node in self.scenario.nodes]
        at = len(leader.steps) - 1
        older, newer = (SideView(side.side, side.ask(at), names) for side in (trial.older, trial.newer))
        rule = move.rule if move.kind == "score" else None
        for name in names:
            texts = []
            for view in (older, newer):
                node = view.nodes[name]
                points = None if rule is None else total_of_rule(rule, node)
                text = ": ".join(filter(None, [node.state, "; ".join(node.reasons)]))
                if points is not None:
                    text = f"{node.state}, {points * 100 // view.side.engine.max_score} points by {rule}"
                texts.append(text)
            old, new = texts
            if old != new:
                yield DifferingNode(move.after, name, old, new)

    # --- here or elsewhere ----------------------------------------------------------------------------------

    def run(self, task: Task) -> Any:
        """The result of *task* in another process, or its error, which the asking process raises; a
        RuntimeError for a defect."""
        try:
            return self._done(task)
        except KubeclassicError as error:
            return error
        except Exception as error:
            return RuntimeError(f"{type(error).__name__}: {error}")

    def _done(self, task: Task) -> Any:
        name, *arguments = task
        with passing():
            return getattr(self, name)(*arguments)

    def results(self, tasks: Sequence[Task], executor: Executor | None, observer: Observer) -> Iterator[Any]:
        """The results of *tasks*, methods with their arguments, in order.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a process
        that is lost.
        """
        if executor is None:
            yield from map(self._done, tasks)
            return
        done = dict(observer.following(run_on(executor, self.run, tasks), len(tasks), "upgrading", "tasks"))
        for number in range(len(tasks)):
            if isinstance(done[number], Exception):
                raise done[number]
            yield done[number]


Task = Sequence[Any]
"""The name of a method of :class:`Upgrade`, and its arguments."""


def upgraded(
    upgrade: Upgrade,
    observer: Observer = SILENT,
    warnings: tuple[InputWarning, ...] = (),
    executor: Executor | None = None,
) -> UpgradeDocument:
    """The answer of *upgrade*; *executor* runs it, by default this process.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a process
    that is lost.
    """
    leader = upgrade.leader(observer)
    # A side shares the steps of the one before it where no fact concerns the cluster. A migrated Policy or
    # profile, or a queue of its own, may differ without a fact about decisions: then all sides are run.
    is_alike = upgrade.specs[0].source is None and (leader is not None or upgrade.order != "queue")
    shares = upgrade.shares and is_alike
    separate = [number for number in range(1, len(upgrade.specs)) if not shares or upgrade.facts(number)[0]]
    pairs = [number for number in separate if leader is not None and upgrade.is_paired(number)]
    single = [number for number in separate if not {number, number + 1} & {*pairs}]
    steps_by_number = {}
    causes = {}
    observers = () if executor is not None else (observer,)
    # Pairs first: each takes as long as three or four others.
    results = upgrade.results(
        [*(("pair", number) for number in pairs), *(("steps", number, *observers) for number in single)],
        executor,
        observer,
    )
    for number, (older, newer, pair_causes) in zip(pairs, results, strict=False):
        steps_by_number[number - 1], steps_by_number[number], causes[number] = older, newer, pair_causes
    steps_by_number.update(zip(single, results, strict=True))
    sides = [upgrade.steps(0, observer)]
    for number in range(1, len(upgrade.specs)):
        sides.append(steps_by_number[number] if number in separate else sides[-1])
    numbers = [number for number in range(1, len(sides)) if sides[number] is not sides[number - 1]]
    moved: dict[int, MovedPods] = {}
    for is_known, runs in (
        (False, executor),
        (True, None),
    ):  # where causes are known, too little is left to hand over
        group = [number for number in numbers if (causes.get(number) is not None) == is_known]
        tasks = []
        for number in group:
            pair = sides[number - 1 : number + 1]
            if runs is not None:
                # Another process gets them without decisions, which are larger than all the rest.
                bare = [[attrs.evolve(step, decision=None) for step in steps.steps] for steps in pair]
                pair = [attrs.evolve(side, steps=steps) for side, steps in zip(pair, bare, strict=True)]
            tasks.append(("moved", number, *pair, causes.get(number)))
        moved |= zip(group, upgrade.results(tasks, runs, observer), strict=True)
    return _document(upgrade, sides, dict(sorted(moved.items())), warnings)


def _document(
    upgrade: Upgrade,
    sides: Sequence[Steps],
    moved: Mapping[int, MovedPods],
    warnings: tuple[InputWarning, ...],
) -> UpgradeDocument:
    moves = [move for group in moved.values() for move in group]
    specs = upgrade.specs
    same_as = None
    stages = []
    steps = []
    for at, (spec, side) in enumerate(zip(specs, sides, strict=True)):
        placed = sum(host is not None for host in side.hosts.values())
        changed = moved.get(at, ())
        same_as = None if not at or changed else same_as or specs[at - 1].version
        patch_level = ALL_PATCH_LEVELS[spec.version]
        other_patches = OTHER_PATCHES.get(spec.version, "")
        stages.append(
            UpgradeStage(
                spec.version, patch_level, spec.text, placed, len(side.hosts) - placed, same_as, other_patches
            )
        )
        if at:
            counts = Counter(move.change for move in changed)
            causes = Counter(
                (move.effect, move.fact, move.rule or (BY_ID[move.fact].plugin if move.fact else None))
                for move in changed
            )
            steps.append(
                UpgradeStep(
                    specs[at - 1].version,
                    spec.version,
                    len(changed),
                    counts["gained"],
                    counts["lost"],
                    counts["makes room"],
                    counts["elsewhere"],
                    counts["other room"],
                    tuple(UpgradeCause(*cause, count) for cause, count in causes.most_common()),
                )
            )
    facts = dict.fromkeys(move.fact for move in moves if move.fact is not None)
    return UpgradeDocument(
        warnings=warnings,
        mode=upgrade.mode,
        same=not moves,
        pods=len(sides[0].hosts),
        stages=tuple(stages),
        steps=tuple(steps),
        moved=tuple(moves),
        facts=tuple(ReleaseFact.of(BY_ID[name]) for name in facts),
        ways={
            pod: tuple(side.hosts.get(pod) for side in sides)
            for pod in dict.fromkeys(move.pod for move in moves)
        },
    )


def moved_pod(
    before: str, after: str, at: tuple[str, int], old: Decided, new: Decided, found_cause: FoundCause
) -> MovedPod:
    """The record of the decision *new* of the release *after*, in place of *old*, in the step *at*."""
    change: Change = "elsewhere"
    cause = found_cause.cause
    if old[0] is None:
        change = "other room" if new[0] is None else "gained"
    elif new[0] is None:
        change = "lost" if new[1] is None else "makes room"
    return MovedPod(
        at[0],
        before,
        after,
        at[1] > 0,
        change,
        old[0] or old[1],
        new[0] or new[1],
        found_cause.effect,
        found_cause.fact.id if found_cause.fact else None,
        cause.kind,
        cause.rule,
        cause.node,
        found_cause.points,
        cause.text,
    )
