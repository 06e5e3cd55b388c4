"""The shadow: it agrees with itself, finds each kind of difference and says why, and writes nothing."""

from __future__ import annotations

import asyncio

import pytest

from kubeclassic.live.scheduler.shadow.judging import Judgement
from tests.live.scheduler.worlds import World, live

MOST_ALLOCATED = {"policy": {"kind": "Policy", "predicates": [], "priorities": [{"name": "MostRequestedPriority", "weight": 1}]}}
NO_PREDICATES = {"policy": {"kind": "Policy", "predicates": [], "priorities": []}}


def shadowed(release: str, other: str, config: dict[str, object], pods: int = 40) -> tuple[World, list[Judgement]]:
    """What a shadow tells of a burst of pods of three sizes on six nodes, one of them larger, and of one that fits nowhere."""
    told: list[Judgement] = []

    async def play(world: World) -> None:
        for number in range(6):
            world.add_node(f"node-{number}", cpu="8" if number == 3 else "4")
        found = world.shadow(other, config)[1]
        world.schedule()
        await asyncio.sleep(2.0)
        for number in range(pods):
            world.add_pod(f"pod-{number}", cpu=("100m", "250m", "500m")[number % 3])
        world.add_pod("big", cpu="64")
        await asyncio.sleep(30.0)
        told.extend(found)

    return live(release, play), told


@pytest.mark.parametrize("release", ["1.12", "1.15", "1.16", "1.27"])
def test_a_scheduler_agrees_with_itself(release: str) -> None:
    """Beside a scheduler of the same release and configuration no pod differs, not even by a tie-break, in a burst of bindings."""
    world, told = shadowed(release, release, {})
    assert len(told) == 41
    assert {one.verdict for one in told} == {"same"}
    assert all(host for name, host in world.hosts.items() if name != "big")


def test_other_scores_are_found() -> None:
    """A scheduler that packs pods differs from one that spreads them, and the rule is named."""
    _, told = shadowed("1.16", "1.16", MOST_ALLOCATED)
    different = [one for one in told if one.differs and one.cluster]
    assert different
    assert {one.cause.rule for one in different if one.cause is not None} == {"MostRequestedPriority"}
    assert "MostRequestedPriority: puts" in different[0].line()


def test_other_predicates_are_found() -> None:
    """A pod that fits nowhere for the cluster's scheduler, but fits for the shadow, differs; the cluster's message says why."""
    _, told = shadowed("1.16", "1.16", NO_PREDICATES)
    big = next(one for one in told if one.pod == "default/big")
    assert (big.verdict, big.cluster) == ("different", None)
    assert big.ours
    assert "Insufficient cpu" in big.line()


def test_nothing_is_written() -> None:
    """A shadow alone leaves pods as they are."""

    async def play(world: World) -> None:
        world.add_node("node-0")
        world.shadow("1.16")
        world.add_pod("web")
        await asyncio.sleep(60.0)

    assert live("1.16", play).hosts == {"web": ""}
