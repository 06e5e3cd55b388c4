"""Nodes to add, checked by brute force over all counts, each tried by a Scheduler of its own, in random
clusters, for any release."""

from decimal import Decimal
from itertools import product

import attrs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubeclassic import Cluster, Scheduler, add_nodes
from kubeclassic.api.objects import Map
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.examples import examples
from tests.support.worldforms import HOSTNAME, OWNER_KINDS, VOLUME_KINDS, node_form, other_form, pod_form

MOST = 4
"""The most nodes that are added."""
NUMBERS = st.integers(0, 1023)
COSTS = st.sampled_from([Decimal(1), Decimal("1.5"), Decimal(2), Decimal("3.25")])


@attrs.frozen
class Question:
    """A cluster, pods that wait, and kinds of nodes with their costs."""

    objects: tuple
    waiting: tuple
    kinds: tuple
    costs: tuple


@st.composite
def questions(draw, kinds, subjects, others=()):
    """Small clusters in which pods of one of *subjects* run and wait, and nodes that could come."""
    nodes = [node_form(at, draw(NUMBERS)) for at in range(draw(st.integers(1, 2)))]
    names = sorted(node.name for node in nodes)
    subject = draw(st.sampled_from(subjects))
    bound = [
        replace(form, spec=replace(form.spec, node_name=draw(st.sampled_from(names))))
        for form in (pod_form(subject, draw(NUMBERS), f"bound{at}") for at in range(draw(st.integers(0, 4))))
    ]
    variants = [draw(NUMBERS) for _ in range(draw(st.integers(1, 2)))]
    waiting = [
        pod_form(subject, draw(st.sampled_from(variants)), f"wait{at}")
        for at in range(draw(st.integers(2, 9)))
    ]
    more = [draw(st.sampled_from(others)) for _ in range(draw(st.integers(0, 5)))] if others else []
    beside = {
        (form.kind, form.key): form
        for form in (other_form(kind, draw(st.integers(0, 5)), draw(NUMBERS)) for kind in more)
    }
    come = tuple(node_form(70 + at, draw(NUMBERS)) for at in range(kinds))
    return Question(
        (*nodes, *beside.values(), *bound), tuple(waiting), come, tuple(draw(COSTS) for _ in come)
    )


def new_nodes(kind, count):
    """Copies of *kind* as an administrator would write them."""
    for number in range(1, count + 1):
        name = f"{kind.name}-{number}"
        metadata = replace(kind.metadata, name=name, labels=Map({**kind.labels, HOSTNAME: name}))
        yield replace(kind, metadata=metadata, status=replace(kind.status, images=()))


def does(question, mix, release):
    """Whether each pod finds a node, one after the other, with the nodes of *mix*."""
    come = [node for kind, count in zip(question.kinds, mix, strict=True) for node in new_nodes(kind, count)]
    scheduler = Scheduler(
        Cluster((*question.objects, *come), defaults=False),
        options_of({"release": release, "preemption": False}),
    )
    return all(scheduler.schedule(pod, details=False).host is not None for pod in question.waiting)


def check(question, release):
    """Compare the answer with brute force over all mixes: what was found does, and with one fewer it does
    not."""
    costs = {kind.name: cost for kind, cost in zip(question.kinds, question.costs, strict=True)}
    cluster = Cluster((*question.objects, *question.waiting), defaults=False)
    found = add_nodes(cluster, question.kinds, release, costs=costs, most_nodes=MOST, defaults=False)
    mixes = [mix for mix in product(range(MOST + 1), repeat=len(question.kinds)) if sum(mix) <= MOST]
    good = {mix for mix in mixes if does(question, mix, release)}
    assert good or not found.ok
    event(f"{sum(found.added.values())} added, found: {found.ok}, there are some: {bool(good)}")
    if not found.ok:
        return
    mix = tuple(found.added.get(kind.name, 0) for kind in question.kinds)
    price = {
        each: sum(count * cost for count, cost in zip(each, question.costs, strict=True)) for each in mixes
    }
    assert mix in good
    event(f"costs the least: {price[mix] == min(price[each] for each in good)}")
    assert found.cost == price[mix]
    for fewer in found.found.one_fewer:
        assert sum(fewer.mix.values()) == sum(mix) - 1
        assert tuple(fewer.mix.values()) in {*mixes} - good
    assert len(found.found.one_fewer) == sum(count > 0 for count in mix)


QUESTIONS = {
    "resources and nodes": (["resources", "ports", "nodes", "tolerations"],),
    "affinity and spread": (["affinity", "spread"], OWNER_KINDS),
    "volumes": (["disks", "claims"], VOLUME_KINDS),
}


@pytest.mark.parametrize("kinds", [1, 2], ids=["one kind", "two kinds"])
@pytest.mark.parametrize("about", QUESTIONS)
@given(release=st.sampled_from(list(ALL_RELEASES)), data=st.data())
@examples(0.6)
def test_against_brute_force(about, kinds, release, data):
    """The mix found places all pods, whatever they request."""
    check(data.draw(questions(kinds, *QUESTIONS[about])), release)
