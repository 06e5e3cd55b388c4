"""The dry run: decisions follow from each other, and the cluster stays as it is."""

from __future__ import annotations

import asyncio

import pytest

from tests.live.scheduler.worlds import lived

each_release = pytest.mark.parametrize("release", ["1.12", "1.15", "1.27", "1.34"])


@each_release
async def test_decisions_count_for_later_ones(release: str) -> None:
    """A pod that would have been bound takes its place, and nothing is written."""
    placed: dict[str, str | None] = {}
    async with lived(release) as world:
        world.add_node("node-0", cpu="1")
        world.schedule(dry=True).on_decision = lambda decision: placed.setdefault(decision.pod.name, decision.host)
        await asyncio.sleep(1.0)
        world.add_pod("first", cpu="600m")
        await asyncio.sleep(60.0)
        world.add_pod("second", cpu="600m")
        await asyncio.sleep(60.0)
    assert world.hosts == {"first": "", "second": ""}
    assert placed == {"first": "node-0", "second": None}


@each_release
async def test_a_deleted_pod_gives_its_place_back(release: str) -> None:
    """When a pod goes that would have been bound, another one fits."""
    hosts: list[tuple[str, str | None]] = []
    async with lived(release) as world:
        world.add_node("node-0", cpu="1")
        world.schedule(dry=True).on_decision = lambda decision: hosts.append((decision.pod.name, decision.host))
        await asyncio.sleep(1.0)
        world.add_pod("first", cpu="600m")
        await asyncio.sleep(1.0)
        world.drop_pod("first")
        await asyncio.sleep(1.0)
        world.add_pod("second", cpu="600m")
        await asyncio.sleep(1.0)
    assert hosts == [("first", "node-0"), ("second", "node-0")]
