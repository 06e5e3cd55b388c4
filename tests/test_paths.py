"""All ways to one answer agree: remembered or worked out anew, whole or in parts, with details or without."""

import random

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.arrays import census, table
from kubeclassic.core.arrays.batch import Batch, Overlay
from kubeclassic.core.arrays.counts import added
from kubeclassic.core.arrays.counts import judged as judged_by
from kubeclassic.core.classic import classic_engine
from kubeclassic.core.cycle import Predicate, Reads
from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.pods.template import Entry, Templates
from kubeclassic.core.preemption import dryrun
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import engine, manifest, node, obj, pod, policy_of
from tests.support.examples import examples
from tests.support.worldforms import REGION, ZONE, pod_form
from tests.support.worlds import (
    COUNTING,
    GATES,
    NODES,
    OWNERS,
    RULES,
    SCHEDULING,
    VOLUMES,
    World,
    algorithm,
    answer,
    beginning,
    drawn,
    judged,
    objections,
    remembered,
    steps_of,
    subject_of,
    uncached,
    verbs_of,
)

SUBJECTS = ("any", "resources", "affinity", "spread", "ports", "owned", "claims")
SOME_RELEASES = st.sampled_from(("1.12", "1.14", "1.16"))
SERVICE = obj(manifest("Service", "s", namespace="default", spec={"selector": {"app": "x"}}))
ELSEWHERE = Reads.VOLUMES | Reads.DOMAIN | Reads.CLUSTER | Reads.LISTINGS


def sequences(factor):
    """Settings for *factor* times as many examples, which may be slow and large."""
    return examples(factor, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True, scope="module")
def every_step_is_verified():
    """Whatever is kept is also worked out from nothing, each time that it is read."""
    with verifying():
        yield


def of_rule(name, release, seed, count=12, gates=GATES, *, begins=True):
    """A rule, the subject of the pods that it is about, a world of theirs, and the steps with which that
    begins, or is to begin."""
    subject = subject_of(name)
    world = World.of(classic_engine(algorithm(release, gates)), subject=subject)
    steps = beginning(seed, verbs_of(name), count)
    for step in steps if begins else ():
        world.take(step)
    return RULES[name], subject, world, steps


def declaration_of(rule, cycle):
    """The clauses or sums that a rule declares for the pod of *cycle*, None where it declares none."""
    declare = rule.clauses if isinstance(rule, Predicate) else rule.sums
    return None if declare is None else declare(cycle.template, cycle)


def follows_from(declared, rule, nodes, at):
    """The answer that follows from a declaration for some rows, in the form of :func:`answer`."""
    if isinstance(rule, Predicate):
        return objections(judged_by(declared, nodes), at)
    return tuple(added(declared.each, nodes)[at].tolist())


def revisions(cycle):
    """The revisions of affinity terms, and of services and controllers."""
    return cycle.table.census.terms_revision, cycle.listings.owner_tick.count


@pytest.mark.parametrize("name", RULES)
class TestEachRule:
    @sequences(0.4)
    @given(
        release=SOME_RELEASES,
        seed=st.integers(0, 1 << 20),
        forms=st.tuples(*[st.integers(0, 63)] * 2),
        data=st.data(),
    )
    def test_remembered_is_worked_out_anew(self, name, release, seed, forms, data):
        """Whatever happens to the cluster, what is remembered of a rule is what it would answer."""
        rule, subject, world, steps = of_rule(name, release, seed, begins=False)
        steps += data.draw(steps_of(verbs_of(name)))
        for number, step in enumerate(steps):
            world.take(step)
            cycle = world.engine.begin(pod_form(subject, forms[number % 2]), details=False)
            if cycle.answers is None or (cycle.algorithm.leaves_counts and rule.reads & Reads.EFFECTS):
                continue
            rows = judged(cycle)
            found = remembered(rule, cycle, rows)
            with uncached(cycle) as anew:
                assert found == answer(rule, anew, Batch(cycle.table), rows), (
                    f"{name} after step {number} of {steps}"
                )

    @sequences(0.1)
    @given(release=SOME_RELEASES, seed=st.integers(0, 1 << 20), form=st.integers(0, 63))
    def test_parts_answer_as_the_whole(self, name, release, seed, form):
        """A rule says the same of a node among all, among some, by itself, and in a copy for a trial."""
        rule, subject, world, _ = of_rule(name, release, seed, 20, COUNTING)
        cycle = world.engine.begin(pod_form(subject, form))
        rows = judged(cycle)
        some = np.array(rows[::-2], np.intp)
        whole = dict(zip(rows, answer(rule, cycle, Batch(cycle.table), rows), strict=False))
        places = range(len(some))
        if len(whole) < len(rows):
            return  # a priority that ends the cycle
        wanted = tuple(whole[row] for row in some.tolist())
        assert answer(rule, cycle, Batch(cycle.table, some), places) == wanted
        assert answer(rule, cycle, Overlay.of(cycle.table, some, cycle.pod), places) == wanted
        for row in rows:
            assert answer(rule, cycle, Batch(cycle.table, np.array([row], np.intp)), [0]) == (whole[row],)

    @sequences(0.1)
    @given(
        release=SOME_RELEASES,
        seed=st.integers(0, 1 << 20),
        form=st.integers(0, 63),
        other=st.integers(0, 63),
        at=st.integers(0, 63),
    )
    def test_a_trial_answers_as_the_deed(self, name, release, seed, form, other, at):
        """A rule that reads nothing but the node says of a copy with one pod more what it says once the pod
        is there."""
        rule, subject, world, _ = of_rule(name, release, seed)
        if rule.reads & (ELSEWHERE | Reads.EFFECTS):
            return
        pod = pod_form(subject, form)
        cycle = world.engine.begin(pod)
        rows = judged(cycle)
        row = rows[at % len(rows)]
        trial = Overlay.of(cycle.table, np.array([row], np.intp), pod)
        more = pod_form(subject, other, "more")
        trial.add(Entry(more, cycle.templates.of(more)), 0)
        found = answer(rule, cycle, trial, [0])
        world.engine.assume(more, cycle.table.names[row])
        cycle = world.engine.begin(pod)
        assert found == answer(rule, cycle, Batch(cycle.table, np.array([row], np.intp)), [0])

    @sequences(0.3)
    @given(
        release=SOME_RELEASES,
        seed=st.integers(0, 1 << 20),
        form=st.integers(0, 63),
        others=st.lists(st.integers(0, 63), max_size=4),
    )
    def test_what_is_declared_ahead(self, name, release, seed, form, others):
        """The answer that follows from a rule's declaration, whole and row by row, is the rule's answer, also
        for pods that came after the declaration."""
        rule, subject, world, _ = of_rule(name, release, seed, 20)
        pod = pod_form(subject, form)
        cycle = world.engine.begin(pod)
        declared = declaration_of(rule, cycle)
        before = revisions(cycle)
        rows = judged(cycle)
        for number, other in enumerate(others if rows else ()):
            world.engine.assume(
                pod_form(subject, other, f"more{number}"), cycle.table.names[rows[other % len(rows)]]
            )
        cycle = world.engine.begin(pod)
        if declared is None or not cycle.has_metadata or revisions(cycle) != before:
            return
        wanted = answer(rule, cycle, Batch(cycle.table), rows)
        assert follows_from(declared, rule, Batch(cycle.table), rows) == wanted
        if not isinstance(rule, Predicate):
            assert tuple(sum(each.at(row) for each in declared.each) for row in rows) == wanted

    @sequences(2)
    @given(release=SOME_RELEASES, seed=st.integers(0, 1 << 20), form=st.integers(0, 63))
    def test_a_rule_that_declares_nothing_makes_no_difference(self, name, release, seed, form):
        """A rule without clauses or sums for a pod objects to no node and scores all alike, until a node, a
        term or an owner changes."""
        rule, subject, world, steps = of_rule(name, release, seed, begins=False)
        if (rule.clauses if isinstance(rule, Predicate) else rule.sums) is None:
            return
        idle_at = None
        pod = pod_form(subject, form)
        for step in [*steps, *drawn(random.Random(seed), verbs_of(name), 30)]:
            world.take(step)
            cycle = world.engine.begin(pod)
            now = cycle.table.changed.node_revision, *revisions(cycle)
            declared = declaration_of(rule, cycle) if cycle.has_metadata and idle_at != now else None
            is_idle = declared is not None and not (
                declared if isinstance(rule, Predicate) else declared.each
            )
            if not cycle.has_metadata:
                idle_at = None
            elif idle_at == now or is_idle:
                idle_at = now
                found = answer(rule, cycle, Batch(cycle.table), judged(cycle))
                assert not any(found), found

    @sequences(0.1)
    @given(release=SOME_RELEASES, seed=st.integers(0, 1 << 20))
    def test_pods_of_one_key_get_one_answer(self, name, release, seed):
        """Pods for which a rule's key is equal get the same answers, and those whom it does not concern no
        objection."""
        rule, subject, world, _ = of_rule(name, release, seed, 20)
        by_key = {}
        for form in range(40):
            cycle = world.engine.begin(pod_form("any" if form % 3 else subject, form * 7 + seed % 7))
            rows = judged(cycle)
            found = answer(rule, cycle, Batch(cycle.table), rows)
            if not cycle.has_metadata or any(isinstance(item, str) for item in found):
                continue
            assert by_key.setdefault(rule.key(cycle.template), found) == found
            if isinstance(rule, Predicate) and not rule.concerns(cycle.template):
                assert not any(found)


ALL = {"percentageOfNodesToScore": 100}
POLICY = {
    "predicates": [
        *(
            {"name": name}
            for name in (
                "GeneralPredicates",
                "NoDiskConflict",
                "PodToleratesNodeTaints",
                "MatchInterPodAffinity",
            )
        ),
        {"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": [REGION]}}},
        yaml.safe_load("""
            name: CheckNodeLabelPresence
            argument:
              labelsPresence:
                labels: [gone]
                presence: false
            """),
    ],
    "priorities": [
        *(
            {"name": name, "weight": 2}
            for name in ("MostRequestedPriority", "SelectorSpreadPriority", "ImageLocalityPriority")
        ),
        yaml.safe_load("""
            name: LabelPreferred
            weight: 1
            argument:
              labelPreference: {label: disk, presence: true}
            """),
        {"name": "Spread", "weight": 3, "argument": {"serviceAntiAffinity": {"label": ZONE}}},
    ],
}
CONFIGURATIONS = {
    "1.12": ("1.12", {}),
    "1.13 partial": ("1.13", {"percentageOfNodesToScore": 70}),
    "1.14 packing": ("1.14", {"provider": "ClusterAutoscalerProvider", **ALL}),
    "1.15 policy": ("1.15", {"policy": policy_of(**POLICY), **ALL}),
    "1.16": ("1.16", ALL),
    "1.16 adaptive": ("1.16", {}),
    "1.27": ("1.27", ALL),
    "1.27 adaptive": ("1.27", {}),
    "1.36": ("1.36", ALL),
    "1.36 adaptive": ("1.36", {}),
}
"""Releases and configurations, in the words of a conformance case."""


def engine_of(configuration, memory_bytes):
    """A scheduler of one of CONFIGURATIONS."""
    release, config = CONFIGURATIONS[configuration]
    gates = {name: on for name, on in GATES if name in RELEASES[release].gates} if release in RELEASES else {}
    return engine_for(release, {"featureGates": gates, **config}, memory_bytes=memory_bytes)


FORGETFUL = (1 << 30) + 1
"""Much memory, but all is forgotten in each cycle that no pod and no node has, and mostly all counters begin
anew."""


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("memory_bytes", [1 << 30, 4000, FORGETFUL])
class TestSchedules:
    @pytest.fixture(autouse=True)
    def forgetting(self, memory_bytes, monkeypatch):
        """Forget as soon as possible, and check all that is kept."""
        if memory_bytes == FORGETFUL:
            monkeypatch.setattr(Templates, "are_many", True)
            monkeypatch.setattr(census, "SPARE", 0)
            monkeypatch.setattr(table, "SPARE", -(1 << 30))
            monkeypatch.setattr(dryrun, "SPARE", -10)
        with verifying(memory_bytes == FORGETFUL):
            yield

    @sequences(0.2)
    @given(subject=st.sampled_from(SUBJECTS), seed=st.integers(0, 1 << 20), data=st.data())
    def test_the_quick_way_is_the_long_way(self, configuration, memory_bytes, subject, seed, data):
        """Whatever happened before, each pod gets the host, the message and the victims that it gets without
        memory and with details."""
        engines = [engine_of(configuration, size) for size in (memory_bytes, 0, memory_bytes)]
        world = World.of(*engines, subject=subject, details=(False, True, True))
        verbs = (*SCHEDULING, "retry", *OWNERS[:2], *VOLUMES[:4])
        steps = beginning(seed, verbs) + data.draw(steps_of(verbs, 20))
        detailed = []
        for number, step in enumerate(steps):
            decisions = world.take(step)
            records = [decision.record() for decision in decisions]
            assert all(record == records[0] for record in records), f"step {number} of {steps}"
            details = [decision.record(details=True) for decision in decisions[1:]]
            assert details[:1] == details[1:], f"step {number} of {steps}"
            detailed += zip(decisions[1:], details, strict=True)
        assert len({engine.ties.last_node_index for engine in engines}) == 1
        assert all(decision.record(details=True) == record for decision, record in detailed), (
            "details changed afterwards"
        )

    @sequences(0.1)
    @given(
        subject=st.sampled_from(SUBJECTS),
        forms=st.tuples(*[st.integers(0, 63)] * 2),
        seed=st.integers(0, 1 << 20),
        data=st.data(),
    )
    def test_details_read_at_once_are_whole(self, configuration, memory_bytes, subject, forms, seed, data):
        """Whoever reads details at once finds what a scheduler without memory says, whatever happened
        before."""
        engines = [engine_of(configuration, size) for size in (memory_bytes, 0)]
        engines[0].transient_details = True
        world = World.of(*engines, subject=subject, details=(True, True))
        again = [("schedule", 0, form) for form in forms]
        for number, step in enumerate(
            (*beginning(seed, SCHEDULING), *again, *data.draw(steps_of(SCHEDULING, 8)), *again, *again)
        ):
            records = [decision.record(details=True) for decision in world.take(step)]
            assert records[:1] == records[1:], f"step {number}"

    @sequences(0.15)
    @given(
        nodes=st.sampled_from((NODES, 150)),
        form=st.integers(0, 63),
        seed=st.integers(0, 1 << 20),
        count=st.integers(3, 40),
        data=st.data(),
    )
    def test_equal_pods_one_after_another(self, configuration, memory_bytes, nodes, form, seed, count, data):
        """Runs of equal pods, which are foreseen, get the hosts that they get one by one, also where the
        cluster is large enough for the search to stop early, and nodes and pods come and go."""
        world = World.of(
            *(engine_of(configuration, size) for size in (memory_bytes, 0)),
            details=(False, True),
            nodes=nodes,
        )
        for step in beginning(seed, SCHEDULING, 6, nodes):
            world.take(step)
        between = data.draw(steps_of(SCHEDULING, 8))
        for number in range(count):
            for step in (("schedule", 0, form), *between[number : number + 1]):
                records = [decision.record() for decision in world.take(step)]
                assert records[:1] == records[1:], f"pod {number}, {step} of {between}"


def test_a_pass_that_visits_a_node_twice():
    """A pod that fits on no node of such a pass is told of all nodes when the next pass visits each once."""
    world = World.of(
        engine_of("1.16 adaptive", 4000), engine_of("1.16 adaptive", 0), details=(False, True), nodes=150
    )
    refused = []
    for step in (
        *beginning(0, SCHEDULING, 6, 150),
        *[("schedule", 0, 28), ("node", 0, 0)],
        *[("schedule", 0, 28)] * 2,
    ):
        records = [decision.record() for decision in world.take(step)]
        assert records[:1] == records[1:]
        refused += [record["error"] for record in records[:1] if step == ("schedule", 0, 28)]
    assert " 92 node(s) " in refused[1]
    assert " 93 node(s) " in refused[2]


@pytest.mark.parametrize("release", ["1.12", "1.14", "1.16"])
def test_a_peer_on_a_name_without_node(release):
    """A pod that is told of on a node that is not there changes the answer of CheckServiceAffinity for
    all nodes."""
    rule = RULES["ServiceAffinity"]
    made = engine(
        node("a", labels={REGION: "r1"}), node("b"), pod("1", on="b", app="x"), SERVICE, release=release
    )
    incoming = pod("new", app="x")
    before = remembered(rule, made.begin(incoming), [0, 1])
    EventFeed(made).put(pod("2", on="absent", app="x"))
    cycle = made.begin(incoming)
    if cycle.has_metadata:
        assert remembered(rule, cycle, [0, 1]) == ('node "absent" not found',) * 2 != before
