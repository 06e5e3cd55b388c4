"""Each stage of an upgrade decides as its release does by itself, whatever the cluster has, and each difference has a cause."""

from __future__ import annotations

from random import Random
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

import kubeclassic
from kubeclassic.api.objects.pods import DEFAULT_SCHEDULER
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.questions.upgrade import upgrade
from kubeclassic.simulation.compare.agreement import FREE
from kubeclassic.simulation.input import scenario_of
from kubeclassic.simulation.upgrade.causes import UNKNOWN
from kubeclassic.simulation.upgrade.stages import StartedWith, stages_of
from kubeclassic.simulation.upgrade.upgrade import upgrade as through_all
from kubeclassic.simulation.upgrade.upgradedocument import UpgradeDocument
from kubeclassic.simulation.upgrade.way import Way
from tests.simulation.upgrade.drawnclusters import cluster_drawn

ALL = list(ALL_RELEASES)


def window(rnd: Random, length: int) -> list[str]:
    """Some releases that follow each other."""
    start = rnd.randrange(len(ALL) - length + 1)
    return ALL[start : start + length]


def check(cluster: list[Any], versions: list[str]) -> None:
    """Hold an upgrade of *cluster* through *versions* to the simulations of each, and to courses that share nothing."""
    scenario = scenario_of(cluster, scheduler_names=[DEFAULT_SCHEDULER])
    alone = [kubeclassic.simulate(cluster, version) for version in versions]
    evicted = {eviction.pod for found in alone for eviction in found.evictions}
    free = upgrade(cluster, versions[0], versions[-1], mode=FREE).document
    for at, (version, found) in enumerate(zip(versions, alone, strict=True)):
        hosts = {pod: free.ways[pod][at] if pod in free.ways else alone[0].hosts[pod] for pod in found.hosts}
        assert {pod: host for pod, host in hosts.items() if found.hosts[pod] != host and pod not in evicted - free.ways.keys()} == {}, version
    way = Way.of(scenario, stages_of(versions, StartedWith()))
    locked = through_all(way)
    apart = through_all(attrs.evolve(way, shares=False))
    assert moves(locked) == moves(apart)
    assert unknown(free) == unknown(locked) == []


def moves(found: UpgradeDocument) -> list[Any]:
    """What moves, without why."""
    return [(one.pod, one.retry, one.after, one.old, one.new) for one in found.moved]


def unknown(found: UpgradeDocument) -> list[Any]:
    """The decisions without a cause."""
    return [one for one in found.moved if one.effect == UNKNOWN]


@given(st.randoms(use_true_random=False))
def test_drawn_clusters(rnd: Random) -> None:
    """Hosts of every stage are those of its release, and no cause is unknown."""
    check(cluster_drawn(rnd), window(rnd, 5))
