"""Every rule declares what it reads: nothing else may be touched, and nothing that is declared is
superfluous."""

import random

import attrs
import pytest
from msgspec.structs import replace

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.classic import classic_engine
from kubeclassic.core.cycle import Reads
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.pods.template import CycleState
from tests.support.examples import examples
from tests.support.watched import TABLE, Watch, watched_batch, watched_cycle, watched_overlay, watched_table
from tests.support.worldforms import pod_form
from tests.support.worlds import (
    COUNTING,
    GATES,
    RULES,
    World,
    algorithm,
    answer,
    beginning,
    drawn,
    judged,
    remembered,
    subject_of,
    uncached,
    verbs_of,
)

CLUSTERS = examples(0.4).max_examples
MOST_CLUSTERS = 160
"""The most clusters that are tried to find a missing flag."""
RELEASES = ("1.12", "1.13", "1.14", "1.15", "1.16")


def worlds(name, count):
    """*count* random clusters for the rule called *name*, of all releases in turn."""
    for seed in range(count):
        engine = classic_engine(algorithm(RELEASES[seed % len(RELEASES)], COUNTING if seed % 3 else GATES))
        world = World.of(engine, subject=subject_of(name))
        for step in beginning(seed, verbs_of(name), 15):
            world.take(step)
        yield world, random.Random(seed)


def undeclared(rule, cycle, declared):
    """Ask *rule* about the whole table, some of it and a copy of that; what it looks at besides *declared*
    for an answer that is kept."""
    rows = judged(cycle)
    watch = Watch(declared)
    table = watched_table(cycle, watch)
    for nodes in (
        watched_batch(table, None),
        watched_batch(table, rows[::2]),
        watched_overlay(table, rows[::2], cycle),
    ):
        watch.undeclared.clear()
        with uncached(cycle) as anew:
            given = watched_cycle(anew, watch, table)
            found = answer(rule, given, nodes, range(nodes.n) if nodes.rows is not None else rows)
        if any(isinstance(item, str) for item in found):
            continue  # answers with errors are not kept
        yield from watch.undeclared
        if given.asked_pod:
            yield "cycle.pod: another pod of the template may get another answer"


def looked_at(name, declared, count):
    """The reads of the rule *name* beyond *declared*, in *count* clusters."""
    for world, rng in worlds(name, count):
        for _ in range(3):
            cycle = world.engine.begin(incoming(name, rng))
            if cycle.has_metadata:  # without, nothing is remembered
                yield from undeclared(RULES[name], cycle, declared)


def incoming(name, rng):
    """A pod that the rule called *name* tells from others; some ask for a node by name."""
    return pod_form(subject_of(name), rng.randrange(64), on=rng.choice(("", "", "n3")))


def is_remembered_wrongly(name, declared, count):
    """Whether the memory, told that the rule called *name* reads *declared*, ever gives another answer than
    the rule."""
    rule = attrs.evolve(RULES[name], reads=declared)
    for world, rng in worlds(name, count):
        memory = AnswerCache(world.engine.table)
        form = rng.randrange(64)
        for step in drawn(rng, verbs_of(name), 10):
            world.take(step)
            cycle = world.engine.begin(pod_form(subject_of(name), form))
            if cycle.has_metadata and not (cycle.algorithm.leaves_counts and rule.reads & Reads.EFFECTS):
                cycle.answers, rows = memory, judged(cycle)
                if remembered(rule, cycle, rows) != answer(
                    rule, replace(cycle, notes=CycleState()), Batch(cycle.table), rows
                ):
                    return True
    return False


@pytest.mark.parametrize("name", RULES)
class TestDeclarations:
    def test_nothing_undeclared_is_touched(self, name):
        """No rule looks at anything that it does not declare."""
        assert next(looked_at(name, RULES[name].reads, CLUSTERS), None) is None


FLAGS = [(name, flag) for name, rule in RULES.items() for flag in rule.reads]


@pytest.mark.parametrize("name, flag", FLAGS)
def test_a_flag_that_is_left_out_is_noticed(name, flag):
    """Whichever flag a rule would forget to declare, random clusters tell."""
    rest = RULES[name].reads & ~flag
    assert any(looked_at(name, rest, MOST_CLUSTERS)) or is_remembered_wrongly(name, rest, MOST_CLUSTERS)


# --- The watch ----------------------------------------------------------------------------------------------


def test_it_knows_every_column():
    """Each attribute of a table that a batch reads is one whose flags are known."""
    read = {name for function in vars(Batch).values() for name in _names_in(function)}
    columns = {field.name for field in attrs.fields(type(classic_engine(algorithm("1.16")).table))}
    assert read & columns - {"changed", "census"} <= TABLE.keys()


def test_it_notes():
    """A look at what is not declared is noted, one at what is declared is not."""
    watch = Watch(Reads.NODE)
    nodes = watched_batch(
        watched_table(classic_engine(algorithm("1.16")).begin(pod_form("resources", 0)), watch), None
    )
    assert len(nodes.has_node) == nodes.n
    assert not watch.undeclared
    assert len(nodes.pod_count) == nodes.n
    assert watch.undeclared == ["NodeTable.sums needs one of Reads.REQUESTS, declared: Reads.NODE"]


def _names_in(function):
    code = getattr(
        getattr(function, "fget", None) or getattr(function, "func", None) or function, "__code__", None
    )
    return code.co_names if code is not None else ()
