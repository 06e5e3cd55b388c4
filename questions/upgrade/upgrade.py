"""The same pods through each release of an upgrade, and for each decision that one of them changes the cause;
all of it as data.

The parts do not depend on each other, so that this process runs them, or others, or Dask.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

import attrs

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


def _to_nodes(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


def _containers(pod: Pod) -> Iterable[Container]:
    return (*pod.spec.containers, *pod.spec.init_containers)


def _amounts(pod: Pod) -> Iterable[tuple[str, Quantity]]:
    return (item for one in _containers(pod) for item in one.requests.items())


def _exceeds(node: Node, pods: Sequence[Pod]) -> bool:
    """Whether the pods on *node* request more of something than it has."""
    asked = Counter[str]()
    for pod in pods:
        asked.update({name: quantity.nanos for name, quantity in total_of(pod.spec, requests_of).items()})
    return any(amount > (node.status.allocatable.get(name) or ZERO).nanos for name, amount in asked.items())


OF_PODS: Mapping[str, Callable[[Pod], object]] = {
    "comparing tolerations": lambda pod: any(one.operator in COMPARISONS for one in pod.spec.tolerations),
    "constraint fields": lambda pod: any(
        one.min_domains is not None or one.match_label_keys for one in pod.spec.topology_spread_constraints
    ),
    "constraints": lambda pod: pod.spec.topology_spread_constraints,
    "constraints of one key": lambda pod: (
        len({one.topology_key for one in pod.spec.topology_spread_constraints})
        < len(pod.spec.topology_spread_constraints)
    ),
    "declared features": lambda pod: (
        pod.spec.host_users is False or any(one.restarts_all for one in _containers(pod))
    ),
    "devices": lambda pod: pod.spec.resource_claims,
    "empty selectors": lambda pod: any(
        one.label_selector is None or one.label_selector.is_empty
        for one in pod.spec.topology_spread_constraints
    ),
    "fine amounts": lambda pod: any(
        quantity.nanos % (10**6 if name == CPU else 10**9) for name, quantity in _amounts(pod)
    ),
    "huge amounts": lambda pod: any(quantity.nanos > HUGE for _, quantity in _amounts(pod)),
    "image volumes": lambda pod: any(volume.image for volume in pod.spec.volumes),
    "images": lambda pod: any(one.image for one in _containers(pod)),
    "inclusion policies": lambda pod: any(
        one.node_affinity_policy or one.node_taints_policy for one in pod.spec.topology_spread_constraints
    ),
    "init containers": lambda pod: pod.spec.init_containers,
    "named nodes": lambda pod: (
        (affinity := _to_nodes(pod))
        and affinity.required
        and any(term.match_fields for term in affinity.required.node_selector_terms)
    ),
    "namespace selectors": NAMESPACES.has,
    "node preferences": lambda pod: (affinity := _to_nodes(pod)) and affinity.given_preferred is not None,
    "nominations": lambda pod: pod.status.nominated_node_name,
    "overhead": lambda pod: pod.spec.overhead,
    "pod affinity": lambda pod: (
        (affinity := pod.spec.affinity) and (affinity.pod_affinity or affinity.pod_anti_affinity)
    ),
    "pod resources": lambda pod: pod.spec.requests,
    "pods without cpu and memory": lambda pod: (
        not any(quantity.nanos for name, quantity in _amounts(pod) if name in (CPU, MEMORY))
    ),
    "ports": lambda pod: any(port.host_port for one in _containers(pod) for port in one.ports),
    "requests": lambda pod: any(one.requests for one in _containers(pod)),
    "resized pods": lambda pod: (
        pod.status.resources
        or any(
            one.requests is not None or one.allocated_resources
            for one in (*pod.status.container_statuses, *pod.status.init_container_statuses)
        )
    ),
    "scheduling gates": lambda pod: pod.spec.scheduling_gates,
    "sidecars": lambda pod: any(one.is_sidecar for one in pod.spec.init_containers),
    "terminating": lambda pod: pod.is_terminating,
    "node selectors": lambda pod: pod.spec.node_selector,
    "volumes": lambda pod: pod.spec.rule_volumes,
    "zero scalars": lambda pod: any(
        not quantity.nanos and name not in NATIVE for name, quantity in _amounts(pod)
    ),
}
"""Trait -> whether a pod gives it to its cluster."""
OF_KINDS = {
    "attachments": ("VolumeAttachment",),
    "budgets": ("PodDisruptionBudget",),
    "device classes": ("DeviceClass",),
    "owners": ("Service", "ReplicationController", "ReplicaSet", "StatefulSet"),
}
"""Trait -> the kinds of which an object gives it."""
OF_DEVICES: Mapping[str, Callable[[Device], object]] = {
    "binding conditions": lambda device: device.binding_conditions,
    "counters": lambda device: device.consumes_counters,
    "device taints": lambda device: device.taints,
    "shared devices": lambda device: device.allow_multiple_allocations,
}
"""Trait -> whether a device of a slice gives it."""
HUGE = 10**9 << 50
"""Amounts beyond a pebibyte, in billionths: sums and scores of them may wrap around."""
MANY = 100
"""Up to that many nodes every search looks at all of them."""
OF_NODES: Mapping[str, Callable[[Node], object]] = {
    "avoiding nodes": lambda node: AVOID in node.annotations,
    "image lists": lambda node: node.status.images,
    "taints": lambda node: node.spec.taints or node.spec.unschedulable,
    "unschedulable": lambda node: node.spec.unschedulable,
    "huge nodes": lambda node: any(quantity.nanos > HUGE for quantity in node.status.allocatable.values()),
    "lacking nodes": lambda node: (
        not {CPU, MEMORY} <= {name for name, found in node.status.allocatable.items() if found.nanos}
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
"""Traits of what is asked for, not of the cluster."""
OF_ALL = ("priorities", "orphans", "disrupted pods", "100 nodes", "two nodes", "overcommitted nodes")
TRAITS = frozenset({*OF_PODS, *OF_KINDS, *OF_DEVICES, *OF_NODES, *OF_CONFIGURATIONS, *OF_ALL})
"""Every trait that a fact may need."""


def traits_of(scenario: Scenario, configuration: Iterable[str]) -> frozenset[str]:
    """The traits of *scenario*, with those of the *configuration*."""
    pods = [*scenario.pending, *(item for item in scenario.objects if isinstance(item, Pod))]
    nodes = scenario.nodes
    found = {name for name, holds in OF_PODS.items() if any(holds(pod) for pod in pods)}
    found |= {name for name, holds in OF_NODES.items() if any(holds(node) for node in nodes)}
    there = {item.kind for item in scenario.objects}
    found |= {name for name, kinds in OF_KINDS.items() if not there.isdisjoint(kinds)}
    devices = [
        device for item in scenario.objects if isinstance(item, ResourceSlice) for device in item.spec.devices
    ]
    found |= {name for name, holds in OF_DEVICES.items() if any(holds(device) for device in devices)}
    names = {"", *(node.name for node in nodes)}
    on = dict[str, list[Pod]]()
    for pod in pods:
        on.setdefault(pod.spec.node_name, []).append(pod)
    of_all = {
        "priorities": len({pod.priority for pod in pods}) > 1 or any(pod.is_terminating for pod in pods),
        "orphans": not on.keys() <= names,
        "100 nodes": len(nodes) > MANY,
        "two nodes": len(nodes) > 1,
        "disrupted pods": any(
            isinstance(item, PodDisruptionBudget) and item.status.disrupted_pods for item in scenario.objects
        ),
        "overcommitted nodes": any(_exceeds(node, on[node.name]) for node in nodes if node.name in on),
    }
    found |= {name for name, holds in of_all.items() if holds}
    return frozenset({*found, *configuration})


def concerns(fact: Fact, traits: frozenset[str]) -> bool:
    """Whether *fact* is likely to change a decision on a cluster with *traits*."""
    return fact.decides and all(not traits.isdisjoint(need.split("|")) for need in fact.needs)


BY_EARLIER = FoundCause(
    "earlier decision", None, Cause("tie", text="the nodes are filled differently by then")
)
"""In mode free: on the same state both decide alike."""
Causes = Mapping[int, FoundCause]
"""Number of a step of the side that leads -> why it is decided otherwise."""


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
    """Its id."""
    rule: str | None
    """The first rule that differs, else the one that the fact is about."""
    decisions: Count


class MovedPod(Record):
    """A decision that a step changes."""

    pod: str
    before: str
    """The release."""
    after: str
    retry: bool
    """It is another try of a pod that made room."""
    change: Change
    old: str | None
    """The node before, or that on which it made room."""
    new: str | None
    effect: Effect
    fact: str | None
    """The id of the fact."""
    kind: CauseKind
    rule: str | None
    node: str | None
    """The node in question."""
    points: int | None
    """How many points of 100 that node gains by the rule on the node before."""
    text: str


MovedPods = tuple[MovedPod, ...]


class DifferingNode(Record):
    """A node for which the two releases of a step differ, in the same state of the cluster."""

    after: str
    """The newer release."""
    node: str
    old: str
    """Whether it fits in the older release, and why not; or its points of 100 by the rule that decides."""
    new: str


class UpgradeStep(Record):
    """From one release to the next of the way."""

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
    """A release of the way."""

    release: str
    like: str
    """The patch level that it is like."""
    runs: str
    """What of a Policy or a profile it runs."""
    placed: Count
    """Pods that find a node."""
    unplaced: Count
    same_as: str | None
    """The first release of the way since which no decision differs; null: this one."""
    other_patches: OtherPatches = ""


class UpgradeDocument(ResultDocument):
    """The same pods through each release of an upgrade."""

    KIND = "Upgrade"
    mode: Literal["locked", "free"]
    """locked: all releases decide in the same states, those of the first one; free: each in its own."""
    same: bool
    """No step changes a decision."""
    pods: Count
    """How many pods were tried."""
    stages: tuple[UpgradeStage, ...]
    steps: tuple[UpgradeStep, ...]
    moved: MovedPods
    """By step, in the order of decisions."""
    facts: tuple[ReleaseFact, ...]
    """Those that are a cause."""
    ways: Mapping[str, tuple[str | None, ...]]
    """Moved pod -> its node in each release."""
    nodes: tuple[DifferingNode, ...] | UnsetType = UNSET
    """With --pod: the nodes that differ in the steps that move it."""


# --- the upgrade --------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False, slots=False)
class Upgrade:
    """The same pods through the releases of *specs*."""

    scenario: Scenario
    specs: Sequence[SideSpec]
    mode: Mode = "locked"
    order: str = "input"
    configuration: Sequence[str] = ()
    """Traits of what the sides run."""
    shares: bool = attrs.field(factory=lambda: not os.environ.get("KUBECLASSIC_VERIFY"))
    """Whether a release shares the steps of the one before it where none of its facts concerns the
    cluster."""
    traits: frozenset[str] = attrs.field(init=False)
    """Of the cluster too."""
    _led: Steps | None = None

    @traits.default
    def _traits(self) -> frozenset[str]:
        return traits_of(self.scenario, self.configuration)

    def __getstate__(self) -> dict[str, Any]:
        """The state for other processes: of decisions only what takes effect, as their details are larger
        than all the rest."""
        each = []
        for step in self._led.each if self._led else ():
            its = step.decision
            lasting = Decision(its.pod, its.host, preemption=its.preemption, nominated=its.nominated)
            each.append(attrs.evolve(step, decision=lasting))
        return {**vars(self), "_led": self._led and attrs.evolve(self._led, each=each)}

    # --- the steps of each side -----------------------------------------------------------------------------

    def led(self, observer: Observer = SILENT) -> Steps | None:
        """The steps on whose states all sides decide; None: each goes its own way."""
        if self.mode == "locked" and self._led is None:
            self._led = lead(self.specs[0], self.scenario, self.order, observer)
        return self._led

    def steps(self, number: int, observer: Observer = SILENT) -> Steps:
        """The steps of the side *number*."""
        led = self.led()
        if led is None:
            return lead(self.specs[number], self.scenario, self.order, observer)
        return FollowingSide(self.specs[number], self.scenario, led).steps() if number else led

    def is_paired(self, number: int) -> bool:
        """Whether none of the facts that fit the cluster can be tried, so that each decision is looked at
        alone, as it is taken."""
        fitting, _ = self.facts(number)
        return len(fitting) > 1 and not any(fact.cells for fact in fitting)

    def pair(self, number: int, led: Steps | None = None) -> tuple[Steps, Steps, Causes]:
        """The steps of the side before *number* and of that one, on the states of *led*, with the cause of
        each difference."""
        led = led or self.led()
        assert led is not None
        trial = self.trial(number, led)
        found = dict[int, FoundCause]()
        older = trial.older
        newer = trial.newer
        for at, step in enumerate(led.each):
            # Details cost as much as the decision: they are asked for at once where they are likely to be
            # wanted.
            details = 2 * len(found) > at and step.decision.host is not None
            with older.step(details) as one, newer.step(details) as other:
                if decided(one) != decided(other):
                    found[at] = trial.compared(at, older.detailed(one), newer.detailed(other))
        return older.taken, newer.taken, found

    # --- from one side to the next --------------------------------------------------------------------------

    def facts(self, number: int) -> tuple[list[Fact], list[Fact]]:
        """The facts of the side *number* over the one before it: those that fit the cluster, and the
        others."""
        facts = list(facts_between(self.specs[number - 1].version, self.specs[number].version))
        fitting = [fact for fact in facts if concerns(fact, self.traits)]
        return fitting, [fact for fact in facts if fact not in fitting]

    def trial(
        self, number: int, led: Steps, before: Steps = NO_STEPS, after: Steps = NO_STEPS
    ) -> UpgradeTrial:
        """The side *number* beside the one before it on the states of *led*; what is known of their steps."""
        spec = self.specs[number]
        (fitting, others) = self.facts(number)
        older = FollowingSide(self.specs[number - 1], self.scenario, led, own=list(before.each))
        newer = FollowingSide(spec, self.scenario, led, own=list(after.each))

        def without(facts: Sequence[Fact]) -> FollowingSide:
            return FollowingSide(spec, self.scenario, led, undone(spec.release, facts), newer.own)

        return UpgradeTrial([*fitting, *others], fitting, older, newer, without)

    def moved(self, number: int, before: Steps, after: Steps, causes: Causes | None = None) -> MovedPods:
        """Each decision that the side *number* changes, in order; *before*, *after*: the steps on both sides;
        *causes*: if known."""
        theirs = {step.at: step.outcome for step in after.each}
        changed = [step for step in before.each if step.at in theirs and theirs[step.at] != step.outcome]
        if not changed:
            return ()
        led = self.led()
        beside = after
        if led is None:  # the newer side went its own way: what decides it on the states of the older one?
            led = before if before.each[0].decision else self.steps(number - 1)
            if self.is_paired(number):
                _, beside, causes = self.pair(number, led)
            else:
                beside = FollowingSide(self.specs[number], self.scenario, led).steps()
        numbers = {step.at: at for at, step in enumerate(led.each)}
        if causes is None:
            outcomes = {step.at: step.outcome for step in beside.each}
            direct = {
                numbers[one.at]: (one.outcome, outcomes[one.at])
                for one in changed
                if outcomes[one.at] != one.outcome
            }
            causes = dict(zip(direct, self.trial(number, led, before, beside).attribute(direct), strict=True))
        versions = self.specs[number - 1].version, self.specs[number].version
        return tuple(
            moved_pod(
                *versions, step.at, step.outcome, theirs[step.at], causes.get(numbers[step.at], BY_EARLIER)
            )
            for step in changed
        )

    def differing(self, found: MovedPod) -> Iterator[DifferingNode]:
        """The nodes that the newer side of *found* judges otherwise, on the state in which the pod's turn
        comes."""
        number = [spec.version for spec in self.specs].index(found.after)
        led = lead(
            self.specs[0 if self.mode == "locked" else number - 1],
            self.scenario,
            self.order,
            SILENT,
            found.pod,
        )
        before, after = (
            FollowingSide(self.specs[at], self.scenario, led).steps() for at in (number - 1, number)
        )
        trial = self.trial(number, led, before, after)
        names = [node.name for node in self.scenario.nodes]
        at = len(led.each) - 1
        older, newer = (SideView(one.side, one.ask(at), names) for one in (trial.older, trial.newer))
        rule = found.rule if found.kind == "score" else None
        for name in names:
            told = []
            for view in (older, newer):
                node = view.nodes[name]
                points = None if rule is None else total_of_rule(rule, node)
                text = ": ".join(filter(None, [node.state, "; ".join(node.reasons)]))
                if points is not None:
                    text = f"{node.state}, {points * 100 // view.side.engine.max_score} points by {rule}"
                told.append(text)
            old, new = told
            if old != new:
                yield DifferingNode(found.after, name, old, new)

    # --- here or elsewhere ----------------------------------------------------------------------------------

    def run(self, task: Task) -> Any:
        """The result of a method in another process; or its error, which the process that asked raises. A
        defect is a RuntimeError."""
        name, *arguments = task
        try:
            return getattr(self, name)(*arguments)
        except KubeclassicError as error:
            return KubeclassicError(str(error))
        except Exception as error:
            return RuntimeError(f"{type(error).__name__}: {error}")

    def results(self, tasks: Sequence[Task], executor: Executor | None, observer: Observer) -> Iterator[Any]:
        """The results of *tasks*, methods with their arguments, in order.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a process
        that is lost.
        """
        if executor is None:
            for name, *arguments in tasks:
                yield getattr(self, name)(*arguments)
            return
        found = dict(observer.following(run_on(executor, self.run, tasks), len(tasks), "upgrading", "tasks"))
        for number in range(len(tasks)):
            if isinstance(found[number], Exception):
                raise found[number]
            yield found[number]


Task = Sequence[Any]
"""The name of a method of :class:`Upgrade`, and its arguments."""


def upgraded(
    asked: Upgrade,
    observer: Observer = SILENT,
    warnings: tuple[InputWarning, ...] = (),
    executor: Executor | None = None,
) -> UpgradeDocument:
    """The answer to what is *asked*; *executor*: what runs it, this process by default.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a process
    that is lost.
    """
    led = asked.led(observer)
    # The steps of each side: those of the one before where no fact concerns the cluster, else its own. What a
    # Policy or a profile becomes in a release may differ without a fact about decisions: then all are run.
    shares = asked.shares and asked.specs[0].given is None
    own = [number for number in range(1, len(asked.specs)) if not shares or asked.facts(number)[0]]
    pairs = [number for number in own if led is not None and asked.is_paired(number)]
    alone = [number for number in own if not {number, number + 1} & {*pairs}]
    made = {}
    causes = {}
    told = () if executor is not None else (observer,)
    # Pairs first: each takes as long as three or four others.
    results = asked.results(
        [*(("pair", number) for number in pairs), *(("steps", number, *told) for number in alone)],
        executor,
        observer,
    )
    for number, (older, newer, found) in zip(pairs, results, strict=False):
        made[number - 1], made[number], causes[number] = older, newer, found
    made.update(zip(alone, results, strict=True))
    each = [asked.steps(0, observer)]
    for number in range(1, len(asked.specs)):
        each.append(made[number] if number in own else each[-1])
    numbers = [number for number in range(1, len(each)) if each[number] is not each[number - 1]]
    moved: dict[int, MovedPods] = {}
    for is_known, runs in (
        (False, executor),
        (True, None),
    ):  # where causes are known there is too little left to hand over
        those = [number for number in numbers if (causes.get(number) is not None) == is_known]
        tasks = []
        for number in those:
            both = each[number - 1 : number + 1]
            if runs is not None:
                # Another process gets them without decisions, which are larger than all the rest.
                bare = [[attrs.evolve(one, decision=None) for one in its.each] for its in both]
                both = [attrs.evolve(its, each=steps) for its, steps in zip(both, bare, strict=True)]
            tasks.append(("moved", number, *both, causes.get(number)))
        moved |= zip(those, asked.results(tasks, runs, observer), strict=True)
    return _document(asked, each, dict(sorted(moved.items())), warnings)


def _document(
    asked: Upgrade, each: Sequence[Steps], moved: Mapping[int, MovedPods], warnings: tuple[InputWarning, ...]
) -> UpgradeDocument:
    found = [one for its in moved.values() for one in its]
    specs = asked.specs
    same_as = None
    sides = []
    steps = []
    for at, (spec, its) in enumerate(zip(specs, each, strict=True)):
        placed = sum(host is not None for host in its.hosts.values())
        changed = moved.get(at, ())
        same_as = None if not at or changed else same_as or specs[at - 1].version
        like = ALL_PATCH_LEVELS[spec.version]
        other = OTHER_PATCHES.get(spec.version, "")
        sides.append(
            UpgradeStage(spec.version, like, spec.text, placed, len(its.hosts) - placed, same_as, other)
        )
        if at:
            counts = Counter(one.change for one in changed)
            causes = Counter(
                (one.effect, one.fact, one.rule or (BY_ID[one.fact].plugin if one.fact else None))
                for one in changed
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
    told = dict.fromkeys(one.fact for one in found if one.fact is not None)
    return UpgradeDocument(
        warnings=warnings,
        mode=asked.mode,
        same=not found,
        pods=len(each[0].hosts),
        stages=tuple(sides),
        steps=tuple(steps),
        moved=tuple(found),
        facts=tuple(ReleaseFact.of(BY_ID[name]) for name in told),
        ways={
            pod: tuple(its.hosts.get(pod) for its in each) for pod in dict.fromkeys(one.pod for one in found)
        },
    )


def moved_pod(
    before: str, after: str, at: tuple[str, int], old: Decided, new: Decided, why: FoundCause
) -> MovedPod:
    """The decision *new* of the release *after*, in the step *at*, in place of *old*."""
    change: Change = "elsewhere"
    cause = why.cause
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
        why.effect,
        why.fact.id if why.fact else None,
        cause.kind,
        cause.rule,
        cause.node,
        why.points,
        cause.text,
    )
