"""The count agrees with copies that a Scheduler places one by one, in random clusters, for every release."""

from collections import Counter

import attrs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubeclassic import Cluster, Scheduler, capacity
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.examples import examples
from tests.support.worldforms import OWNER_KINDS, VOLUME_KINDS, node_form, other_form, pod_form

MOST = 40
"""The most copies that are placed."""
NUMBERS = st.integers(0, 1023)


@attrs.frozen
class Question:
    """A cluster, and templates of which copies take turns."""

    objects: tuple
    templates: tuple
    ratio: tuple
    pending: tuple = ()
    """Pods that wait, and are placed first."""


@st.composite
def questions(draw, subjects, others=()):
    """Small clusters with pods of one of *subjects* on them, and templates of the same."""
    nodes = {
        form.name: form for form in (node_form(at, draw(NUMBERS)) for at in range(draw(st.integers(1, 4))))
    }
    subject = draw(st.sampled_from(subjects))
    bound = [
        replace(
            form,
            spec=replace(
                form.spec, node_name=draw(st.sampled_from(sorted(nodes))), priority=draw(st.integers(-2, 0))
            ),
        )
        for form in (pod_form(subject, draw(NUMBERS), f"bound{at}") for at in range(draw(st.integers(0, 5))))
    ]
    kinds = [draw(st.sampled_from(others)) for _ in range(draw(st.integers(0, 6)))] if others else []
    beside = {
        (form.kind, form.key): form
        for form in (other_form(kind, draw(st.integers(0, 5)), draw(NUMBERS)) for kind in kinds)
    }
    templates = [
        replace(form, spec=replace(form.spec, priority=draw(st.sampled_from([0, 0, 5]))))
        for form in (pod_form(subject, draw(NUMBERS), f"copy{at}") for at in range(draw(st.integers(1, 2))))
    ]
    ratio = tuple(draw(st.integers(1, 3)) for _ in templates)
    return Question((*nodes.values(), *beside.values(), *bound), tuple(templates), ratio)


@st.composite
def questions_with_pending(draw, subjects):
    """Capacity questions with pending pods."""
    forms = [
        pod_form(draw(st.sampled_from(subjects)), draw(NUMBERS), f"waits{at}")
        for at in range(draw(st.integers(1, 4)))
    ]
    waiting = tuple(
        replace(form, spec=replace(form.spec, priority=draw(st.sampled_from([0, 3, 9])))) for form in forms
    )
    return attrs.evolve(draw(questions(subjects)), pending=waiting)


def by_brute_force(question, release, preemption):
    """Copies by node, placed one by one by a Scheduler, and the message of the first that found no place."""
    scheduler = Scheduler(
        Cluster((*question.objects, *question.pending), defaults=False),
        options_of({"release": release, "preemption": preemption}),
    )
    if question.pending:
        scheduler.run(details=False)
    turn = [at for at, times in enumerate(question.ratio) for _ in range(times)]
    hosts = {}
    made = Counter()
    message = None
    for number in range(MOST):
        at = turn[number % len(turn)]
        template = question.templates[at]
        copy = replace(
            template, metadata=replace(template.metadata, name=f"{template.name}-{made[at]}", uid="")
        )
        made[at] += 1
        decision = scheduler.schedule(copy, details=False)
        if not decision.is_final:
            decision = scheduler.schedule(copy, details=False)
        for key in scheduler.evicted:
            hosts.pop(key, None)
        if decision.host is None:
            message = decision.error
            break
        hosts[copy.key] = decision.host
    return Counter(hosts.values()), message


def check(question, release, preemption):
    """Compare the count of *question* with brute force: nodes, number and message."""
    nodes, message = by_brute_force(question, release, preemption)
    cluster = Cluster((*question.objects, *question.pending), defaults=False)
    found = capacity(
        cluster,
        question.templates,
        release,
        ratio=question.ratio,
        pods=MOST,
        pending_first=bool(question.pending),
        preemption=preemption,
        defaults=False,
    )
    assert (found.fits, found.nodes) == (nodes.total(), dict(nodes.most_common()))
    assert message is None or found.stop.message == message
    assert found.stop.kind == "LimitReached" or message is not None
    event(
        f"{min(found.fits, 3)} copies or more, {'some' if found.counted.evicted else 'none'} evicted, {found.stop.kind}"
    )


QUESTIONS = {
    "resources and nodes": questions(["resources", "ports", "nodes", "tolerations"]),
    "affinity and spread": questions(["affinity", "spread"], OWNER_KINDS),
    "pods that wait": questions_with_pending(["resources", "affinity"]),
    "volumes": questions(["disks", "claims"], VOLUME_KINDS),
}


@pytest.mark.parametrize("about", QUESTIONS)
@given(release=st.sampled_from(list(ALL_RELEASES)), preemption=st.booleans(), data=st.data())
@examples(1)
def test_against_brute_force(about, release, preemption, data):
    """The same number of copies find a node, on the same nodes, and the next one stops with the same message,
    whatever the pods request."""
    check(data.draw(QUESTIONS[about]), release, preemption)
