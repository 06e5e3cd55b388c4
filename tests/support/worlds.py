"""Random clusters that change step by step, and every rule's answers about them, for tests of all rules at
once."""

import random
from contextlib import contextmanager
from functools import cache

import attrs
import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.cycle import Predicate, PriorityError
from kubeclassic.core.engine import Engine
from kubeclassic.core.pods.template import CycleState
from kubeclassic.core.run import Run
from kubeclassic.predicates import CATALOGUE as PREDICATES
from kubeclassic.predicates.checknodelabelpresence import node_label_presence
from kubeclassic.predicates.checkserviceaffinity import service_affinity
from kubeclassic.priorities import CATALOGUE as PRIORITIES
from kubeclassic.priorities.nodelabel import node_label
from kubeclassic.priorities.requestedtocapacityratio import requested_to_capacity_ratio_of
from kubeclassic.priorities.serviceantiaffinity import service_anti_affinity
from tests.support.build import error_text
from tests.support.worldforms import OWNER_KINDS, REGION, VOLUME_KINDS, ZONE, node_form, other_form, pod_form

NODES = 14
PODS = 40
OTHERS = 6
"""The most nodes, the most bound pods, and the most volumes, claims, services and so on of each kind."""
GATES = (
    ("EvenPodsSpread", True),
    ("ResourceLimitsPriorityFunction", True),
    ("CSIMigration", True),
    ("CSIMigrationAWS", True),
)
"""Feature gates, off by default, that add rules or branches in them."""
COUNTING = (*GATES, ("BalanceAttachedNodeVolumes", True))
"""The gates of :data:`GATES`, and the gate by which a priority reads results of predicates."""


# --- steps --------------------------------------------------------------------------------------------------

USUAL = ("node", "drop node", "pod", "pod", "pod", "drop pod", "drop pod", "place", "place", "place")
SCHEDULING = ("node", "drop node", "pod", "pod", "drop pod", "drop pod", "place", *["schedule"] * 8)
OWNERS = (*OWNER_KINDS, *(f"drop {kind}" for kind in OWNER_KINDS))
VOLUMES = (*VOLUME_KINDS, *VOLUME_KINDS, *(f"drop {kind}" for kind in VOLUME_KINDS))


def steps_of(verbs, most=14):
    """Sequences of steps, each a verb, the number of an object, and the number of its variant."""
    return st.lists(
        st.tuples(st.sampled_from(verbs), st.integers(0, 63), st.integers(0, 1023)), min_size=1, max_size=most
    )


def drawn(rng, verbs, count):
    """*count* random steps."""
    return [(rng.choice(verbs), rng.randrange(64), rng.randrange(1024)) for _ in range(count)]


def beginning(seed, verbs, count=12, nodes=NODES):
    """The first steps, which make a cluster of almost *nodes* nodes."""
    rng = random.Random(seed)
    made = [("node", number, rng.randrange(1024)) for number in range(nodes - rng.randrange(1, 5))]
    return made + drawn(rng, [verb for verb in verbs if not verb.startswith(("drop", "schedule"))], count)


@cache
def algorithm(release, gates=()):
    """The algorithm of *release* with these gates; gates that it lacks are left out."""
    known = {name: value for name, value in gates if name in RELEASES[release].gates}
    return resolve(RELEASES[release], gates=known)


@attrs.define(eq=False)
class World:
    """Engines fed with the same events. The meaning of a step depends only on the first engine."""

    runs: list
    subject: str = "any"
    """The subject whose forms the pods have."""
    nodes: int = NODES
    scheduled: int = 0

    @classmethod
    def of(cls, *engines, subject="any", details=(), nodes=NODES):
        """An empty world."""
        return cls(
            [Run(engine, bool(details) and details[i]) for i, engine in enumerate(engines)], subject, nodes
        )

    @property
    def engine(self):
        """The first of the engines."""
        return self.runs[0].engine

    def take(self, step):
        """Carry out one step in each engine, and return their decisions if it schedules."""
        verb, number, variant = step
        if verb == "schedule":
            self.scheduled += 1
            return [run.cycle(pod_form(self.subject, variant, f"s{self.scheduled}")) for run in self.runs]
        if verb == "place":
            self._place(number, pod_form(self.subject, variant, f"p{number % PODS}"))
        elif verb == "retry":
            retries = [[run.cycle(pod, retry=True) for pod in run.take_retries()] for run in self.runs]
            return [decisions[-1] for decisions in retries if decisions]
        elif verb.startswith("drop "):
            self._drop(verb.removeprefix("drop "), number)
        else:
            self._put(verb, number, variant)
        return []

    def _put(self, kind, number, variant):
        for run in self.runs:
            if kind == "node":
                run.feed.put(node_form(number % self.nodes, variant))
            elif kind == "pod":
                run.feed.put(self._bound(number % PODS, variant))
            else:
                run.feed.put(other_form(kind, number % OTHERS, variant))

    def _bound(self, number, variant):
        """Pod *number*, on its node if it has one, else on some node; two of these names have no node."""
        state = self.engine.cache.state(pod_form(self.subject, variant, f"p{number}"))
        on = state.node_name if state is not None else f"n{(number * 7 + variant) % (self.nodes + 2)}"
        return pod_form(self.subject, variant, f"p{number}", on)

    def _place(self, number, pod):
        """Assume a pod on a node, whether or not it fits."""
        names = sorted(self.engine.cache.infos)
        if names and self.engine.cache.state(pod) is None:
            host = names[number % len(names)]
            for run in self.runs:
                if isinstance(run.engine, Engine):  # it reserves only for a pod that it has just looked at
                    run.engine.cache.assume(pod.bound_to(host))
                else:
                    run.engine.assume(pod, host)

    def _drop(self, kind, number):
        for run in self.runs:
            if kind == "node":
                run.feed.delete(node_form(number % self.nodes, 0))
            elif kind == "pod":
                self._drop_pod(run, number)
            else:
                run.feed.delete(other_form(kind, number % OTHERS, 0))

    @staticmethod
    def _drop_pod(run, number):
        states = sorted(run.engine.cache._states)
        if states:
            run.feed.delete(run.engine.cache._states[states[number % len(states)]].pod)


# --- rules and what they answer -----------------------------------------------------------------------------

EXTRA_PREDICATES = (
    node_label_presence("LabelsPresent", ["disk"], presence=True),
    node_label_presence("LabelsAbsent", ["disk"], presence=False),
    service_affinity("ServiceAffinity", [REGION]),
)
EXTRA_PRIORITIES = (
    node_label("LabelPreferred", "disk", presence=True),
    service_anti_affinity("ServiceAntiAffinity", ZONE),
    requested_to_capacity_ratio_of("Ratio", [(0, 0), (70, 10), (100, 3)], {"cpu": 2, "example.com/gpu": 1}),
)
RULES = {
    rule.name if isinstance(rule, Predicate) else f"{rule.name} (priority)": rule
    for rule in (*PREDICATES.values(), *EXTRA_PREDICATES, *PRIORITIES.values(), *EXTRA_PRIORITIES)
}
"""Name -> rule, for every rule of both catalogues and some that Policies define."""

SUBJECTS = {
    "ports": ("PodFitsHostPorts", "PodFitsPorts"),
    "nodes": ("MatchNodeSelector", "NodeAffinityPriority (priority)", "ServiceAffinity"),
    "tolerations": (
        "PodToleratesNodeTaints",
        "PodToleratesNodeNoExecuteTaints",
        "TaintTolerationPriority (priority)",
        "CheckNodeUnschedulable",
    ),
    "affinity": ("MatchInterPodAffinity", "InterPodAffinityPriority (priority)"),
    "spread": ("EvenPodsSpread", "EvenPodsSpreadPriority (priority)"),
    "disks": (
        "NoDiskConflict",
        "MaxEBSVolumeCount",
        "MaxGCEPDVolumeCount",
        "MaxAzureDiskVolumeCount",
        "MaxCinderVolumeCount",
    ),
    "claims": ("MaxCSIVolumeCountPred", "CheckVolumeBinding", "NoVolumeZoneConflict"),
    "owned": (
        "SelectorSpreadPriority (priority)",
        "ServiceSpreadingPriority (priority)",
        "NodePreferAvoidPodsPriority (priority)",
    ),
    "any": ("GeneralPredicates",),
}
"""Subject of pods -> the rules that distinguish their forms; all other rules are about resources."""


def subject_of(name):
    """The subject of the rule *name*."""
    return next((subject for subject, names in SUBJECTS.items() if name in names), "resources")


def verbs_of(name):
    """The verbs of steps that matter to the rule *name*."""
    volumes = VOLUMES if subject_of(name) in ("disks", "claims") else ()
    return (*USUAL, *volumes, *(OWNERS if subject_of(name) == "owned" or "Service" in name else ()))


def judged(cycle):
    """The rows that rules must judge: those of existing nodes."""
    table = cycle.table
    return [
        row for row in np.flatnonzero(table.has_node[: table.size]).tolist() if row not in table.deleted_rows
    ]


def objections(failures, at):
    """The answers of a predicate for some nodes of a batch: reasons, or the text of an error."""
    if failures is None:
        return tuple(() for _ in at)
    return tuple(error_text(failures, i) or tuple(reason.text for reason in failures.reasons(i)) for i in at)


def answer(rule, cycle, nodes, at):
    """The answer of *rule* for some nodes of a batch, or the error with which it ends the cycle."""
    if isinstance(rule, Predicate):
        return objections(rule.check(cycle.template, nodes, cycle), at)
    try:
        return tuple(rule.score(cycle.template, nodes, cycle)[list(at)].tolist())
    except PriorityError as error:
        return (str(error),)


def remembered(rule, cycle, at):
    """The cached answer of *rule* for some rows of the whole table."""
    try:
        found = cycle.answers.read(rule, cycle).answer
    except PriorityError as error:
        return (str(error),)
    return objections(found, at) if isinstance(rule, Predicate) else tuple(found[list(at)].tolist())


@contextmanager
def uncached(cycle):
    """The cycle without cached results: no notes on any template."""
    templates = list(cycle.templates._known.values())
    notes = [dict(template.notes) for template in templates]
    for template in templates:
        template.notes.clear()
    try:
        yield replace(cycle, notes=CycleState())
    finally:
        for template, before in zip(templates, notes, strict=True):
            template.notes.clear()
            template.notes.update(before)
