"""Each stage of an upgrade decides as its release does by itself, whatever the cluster has, and each
difference has a cause."""

import json
from contextlib import suppress
from itertools import islice
from pathlib import Path

import attrs
import pytest

import kubeclassic
from kubeclassic.api.objects.pods import DEFAULT_SCHEDULER
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.releases import ALL_RELEASES, BY_ID
from kubeclassic.questions.upgrade.ask import upgrade
from kubeclassic.questions.upgrade.facts import specs_of
from kubeclassic.questions.upgrade.upgrade import Upgrade, upgraded
from kubeclassic.simulation.conform import read_cases
from kubeclassic.simulation.input import scenario_of
from tests.bench.realdump import RealDump
from tests.conftest import ROOT
from tests.framework.facts.forms import CLUSTERS, node, pod

ALL = list(ALL_RELEASES)
MOST_NODES = 10
"""The most nodes of a recorded case that is tried here."""


def check(cluster, versions):
    """Hold an upgrade of *cluster* through *versions* to the simulations of each, and to steps that share
    nothing."""
    scenario = scenario_of(cluster, scheduler_names=[DEFAULT_SCHEDULER])
    alone = [kubeclassic.simulate(cluster, version) for version in versions]
    evicted = {
        eviction.pod for found in alone for eviction in found.evictions
    }  # it has no host any more by a decision on another pod
    free = upgrade(cluster, versions[0], versions[-1], mode="free").document
    for at, (version, found) in enumerate(zip(versions, alone, strict=True)):
        stay = found.hosts.keys() - free.ways.keys() - evicted
        assert {pod: hosts[at] for pod, hosts in free.ways.items()} == {
            pod: found.hosts[pod] for pod in free.ways
        }, version
        assert {pod: found.hosts[pod] for pod in stay} == {pod: alone[0].hosts[pod] for pod in stay}, version
    asked = Upgrade(scenario, specs_of(versions))
    locked = upgraded(asked)
    assert locked == upgraded(attrs.evolve(asked, shares=False))
    assert unknown(free) == unknown(locked) == []


def unknown(found):
    """The decisions without a cause."""
    return [one for one in found.moved if one.effect == "unknown"]


@pytest.mark.whole
def test_many_searches_that_begin_elsewhere(tmp_path):
    """On a dump as of a real cluster, whose searches stop early, each difference has a cause, also where
    several facts make it."""
    RealDump(nodes=120, waiting=400, templates=40).write(tmp_path / "dump.json")
    assert unknown(upgrade(tmp_path / "dump.json", "1.17", "1.18").document) == []


def test_a_search_that_begins_elsewhere():
    """An error ends a search by the newer release, so that the next one begins at another node than by the
    older: that has a cause, too."""
    check(json.loads((Path(__file__).parent / "error-before.json").read_text()), ["1.33", "1.34"])


def test_a_pod_that_loses_its_node():
    """A pod that is evicted again has no node, also in a release that decides in the states of another."""
    cluster = [node("n", cpu="1"), pod("low", cpu="1"), pod("high", cpu="1", priority=9)]
    assert [stage.placed for stage in upgrade(cluster, "1.26", "1.27").document.stages] == [1, 1]


@pytest.mark.parametrize("mode", ["free", "locked"])
def test_each_queue_has_its_own_order(mode):
    """In mode free each release tries the pods in the order of its own queue; 1.14 is the first that takes
    equal pods as they came."""
    cluster = [node("n"), *(pod(name, cpu="2") for name in "abc")]
    found = upgrade(cluster, "1.13", "1.14", mode=mode, order="queue").document
    last = {
        version: kubeclassic.simulate(cluster, version, order="queue").hosts for version in ("1.13", "1.14")
    }
    assert last["1.13"] != last["1.14"]
    assert found.ways == {
        key: (last["1.13"][key], last["1.14"][key])
        for key in last["1.13"]
        if mode == "free" and last["1.13"][key] != last["1.14"][key]
    }


def readable(number):
    """The small clusters of recorded cases of a release, of another family first each time, as far as a dump
    of them can be read."""
    files = sorted((ROOT / "tests" / "conformance" / ALL[number]).glob("*.cases.jsonl.gz"))
    for at in range(len(files)):
        for case in read_cases(files[(5 * number + at) % len(files)]):
            cluster = [
                *case.get("objects", ()),
                *(item for item in case.get("pending", ()) if "event" not in item),
            ]
            if 0 < sum(item.get("kind") == "Node" for item in cluster) <= MOST_NODES:
                with suppress(KubeclassicError):
                    scenario_of(cluster, scheduler_names=[DEFAULT_SCHEDULER])
                    yield cluster


@pytest.mark.parametrize("number", range(len(ALL)))
def test_cases_of_neighbours(number):
    """Hosts of every stage are those of its release, and no cause is unknown: recorded cases of a release, in
    it and its neighbours."""
    before = max(0, min(number - 1, len(ALL) - 3))
    for cluster in islice(readable(number), 2):
        check(cluster, ALL[before : before + 3])


EXEMPT = CLUSTERS["disrupted-pods-are-exempt"]
PROXY = {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}
MISSED = {
    "sidecars-on-nodes-scored": [
        node("a"),
        node("b"),
        pod("plain", "b", requests={"cpu": "1050m", "memory": "2Gi"}),
        pod("proxied", "a", requests={"cpu": "100m", "memory": "100Mi"}, initContainers=[PROXY]),
        pod("new", cpu="100m"),
    ],
    "disrupted-pods-are-exempt": [*EXEMPT["objects"], *EXEMPT["pending"]],
    "best-effort-not-balanced": [
        node("a", **{"vendor.example/fpga": "4"}),
        node("b", **{"vendor.example/fpga": "4"}),
        pod("on-b", "b", cpu="3"),
        pod("on-a", "a", requests={"cpu": "2", "memory": "4Gi"}),
        pod("new", requests={"vendor.example/fpga": "1"}),
    ],
    "fit-reads-what-is-asked": [
        node("n", cpu="2"),
        pod("there", "n", cpu="2", priority=9),
        pod("first", cpu="1", priority=9, preemptionPolicy="Never", status={"nominatedNodeName": "n"}),
        pod("new", requests={"memory": "1Gi"}, priority=0, preemptionPolicy="Never"),
    ],
}
"""Fact -> a cluster that does not seem to have what it needs, or where another fact seemed to be the
cause."""
HUGE = [{"name": "a"}, {"name": "b", "resources": {"requests": {"cpu": "8E", "memory": "64Mi"}}}]
OVERFLOWING = {
    "amounts-added-exactly": [node("a"), node("b"), pod("new", containers=HUGE)],
    "sidecars-on-nodes-scored": [node("a"), node("b"), pod("there", "b", containers=HUGE), pod("new")],
}
"""Fact -> a cluster with a sum that does not fit into 64 bits."""


@pytest.mark.parametrize("fact, cluster", [*MISSED.items(), *OVERFLOWING.items()])
def test_what_was_missed(fact, cluster):
    """The release of a fact is run, and the fact is the cause."""
    release = BY_ID[fact].release
    found = upgrade(cluster, ALL[ALL.index(release) - 1], release).document
    assert [one.fact for one in found.moved] == [fact]


@pytest.mark.parametrize(
    "start, said", [("1.29.12", ["release 1.29.12 is evaluated as 1.29.9"]), ("1.29.9", []), ("1.29", [])]
)
def test_as_which_patch_level(start, said):
    """A release that is named by another patch level is judged as the known one, which is said by both
    questions."""
    cluster = [node("n"), pod("web")]
    for result in (upgrade(cluster, start, "1.30"), kubeclassic.compare(cluster, start, "1.30")):
        told = [notice.what for group in result.warnings for notice in group.notices]
        assert [text[: len(wanted)] for text, wanted in zip(told, said, strict=True)] == said
