"""Caches by template, pod or node are dropped with it."""

import pytest

from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.pods.template import SPARE
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import manifest, node, obj, pod
from tests.support.equivalencebuild import host, keeping_away

RELEASES = ("1.13", "1.16", "1.34")
PRESENT = 100
MOST = PRESENT + SPARE + 1


def own(number, kind):
    """A pod with a label of its own, and nearly each with a size of its own; of a *kind* that asks for
    something by that label."""
    labels = {"app": "a", "job": f"j{number}"}
    more = {"requests": {"cpu": "10m", "memory": f"{64 + number % 1000}Mi"}}
    if kind == "affinity":
        more["affinity"] = keeping_away(job=labels["job"])
    elif kind == "spread":
        selector = {"matchLabels": {"job": labels["job"]}}
        more["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
            }
        ]
    elif kind == "large":
        more["requests"]["cpu"] = "1000"
    return pod(f"p{number}", labels=labels, uid=f"u{number}", **more)


def kept(engine):
    """The number of entries in all caches by template."""
    census = engine.table.census
    paths = engine.flow.quick_paths.values()
    pairs = {
        "labelled": census._labelled,
        "asked": census._registered,
        **{role: index._terms for role, index in census.terms.items()},
    }
    return {
        "templates": len(engine.templates._known),
        "sizes": len(engine.templates._sizes),
        "amounts": len(engine.table._amounts),
        "present": len(census._templates),
        "matching": len(census._matching),
        "counters": len(census.counters),
        **{name: len(found.lists) for name, found in pairs.items()},
        "counted": max((len(counter._by_template) for counter in census.counters.values()), default=0),
        "about": max(len(index._about) for index in census.terms.values()),
        "boards": sum(len(path.boards._known) for path in paths),
        "numbers": len(engine.flow.runs.layout.templates),
        "answers": sum(len(path.boards.answers._answers) for path in paths) // 40,
    }


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", ["label", "affinity", "spread", "large"])
def test_a_template_goes_with_its_last_pod(release, kind):
    """After 1,000 pods with different labels, the caches hold only the present pods, and a few more."""
    engine = engine_for(release, {})
    feed = EventFeed(engine)
    feed.put_all(host(f"n{number}", cpu="100") for number in range(5))
    for number in range(1000):
        decision = engine.schedule(own(number, kind), details=False)
        if decision.host is not None:
            assert engine.assume(decision.pod, decision.host) is None
            feed.put(decision.pod.bound_to(decision.host))
            feed.delete(own(number - PRESENT, kind).bound_to(decision.host))
    found = kept(engine)
    # Counters begin anew when there are twice as many as there were; each template has a counter or two. Each
    # template has two labels, and asks for up to two counters; these begin anew where there are twice as many
    # as usual.
    most = {"labelled": 2, "counters": 4, "asked": 2, "required_anti_affinity": 2}
    assert {name: count for name, count in found.items() if count > most.get(name, 1) * MOST} == {}


@pytest.mark.parametrize("release", RELEASES)
def test_a_template_in_use_stays(release):
    """However many others come and go, equal pods share a template and a board."""
    engine = engine_for(release, {})
    feed = EventFeed(engine)
    first, second = (pod(name, cpu="10m") for name in ("first", "second"))
    feed.put_all([node("n"), first.bound_to("n")])
    before = engine.begin(first).template
    for number in range(3 * SPARE):
        engine.schedule(own(number, "label"), details=False)
    assert engine.begin(second).template is before
    assert len(engine.templates._known) <= SPARE + 2


def test_answers_follow_counters_that_began_anew():
    """Cached answers for templates that stay are right after unused counters were dropped."""
    engine = engine_for("1.16", {"percentageOfNodesToScore": 100})
    feed = EventFeed(engine)
    service = obj(manifest("Service", "s", namespace="default", spec={"selector": {"app": "web"}}))
    feed.put_all([host("a"), host("b"), service, pod("old", on="b", app="web")])
    web = pod("web", app="web")
    with verifying():
        assert engine.schedule(web, details=False).host == "a"
        for number in range(3 * SPARE):
            engine.schedule(own(number, "affinity"), details=False)
            feed.put(own(number, "affinity").bound_to("b"))
            feed.delete(own(number, "affinity").bound_to("b"))
        feed.put_all(pod(name, on="a", app="web") for name in ("new", "newer"))
        assert engine.schedule(web, details=False).host == "b"


def test_nodes_that_are_gone_leave_nothing():
    """Values of labels that no node has any more, and images, are forgotten; what is counted by them stays
    right."""
    engine = engine_for("1.34", {"percentageOfNodesToScore": 100})
    feed = EventFeed(engine)
    feed.put_all([host("first"), host("stays"), pod("old", on="stays", app="web")])
    engine.warm()
    feed.delete(host("first"))
    shy = pod("shy", app="web", affinity=keeping_away(app="web"))
    with verifying():
        for number in range(3 * SPARE):
            spot = host(f"spot-{number}", images=[{"names": [f"image-{number}"], "sizeBytes": 1}])
            feed.put(spot)
            assert engine.schedule(shy, details=False).host == f"spot-{number}"
            feed.delete(spot)
    assert engine.schedule(shy, details=False).host is None
    table = engine.table
    assert len(table.labels["kubernetes.io/hostname"].values) <= 2 * table.size + SPARE
    assert len(table.images) <= 1
