"""Old releases as whole processes beside a new API server, which has lost versions of the API that they ask for."""

from __future__ import annotations

import asyncio

import pytest

from tests.apiserver.resources import NEW_SERVER, OLD_SERVER
from tests.live.scheduler.processes import at
from tests.live.scheduler.worlds import Json


def budget(name: str, app: str) -> Json:
    """A budget that lets no pod of an app go."""
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": app}}, "minAvailable": 1}}


@pytest.mark.parametrize("release", ["1.12", "1.13", "1.14", "1.15", "1.16"])
async def test_it_leads_and_binds(release: str) -> None:
    """It elects a leader, binds, and tells of it by events of core/v1, as the original does where its own group for events is gone."""
    async with at(release, NEW_SERVER) as site:
        site.add_node("node-0")
        site.add_pod("first")
        replica = site.start()
        await asyncio.sleep(5.0)
        assert replica.process.elector is not None
        assert "poddisruptionbudgets: the API server has no policy/v1beta1, so policy/v1 is read" in replica.warned
        assert all("so storage.k8s.io/v1 is read" in line or "policy" in line for line in replica.warned)
        await replica.stop()
    assert site.hosts == {"first": "node-0"}
    assert "Scheduled" in {event["reason"] for event in site.store.storage.of("events").values()}


async def test_budgets_count() -> None:
    """Of two victims that would do, the one that no budget protects goes: budgets are read in the version that the server has."""
    async with at("1.16", NEW_SERVER) as site:
        for number, app in enumerate(("kept", "other")):
            site.add_node(f"node-{number}", cpu="1")
            site.add_pod(app, cpu="1", nodeName=f"node-{number}")
            labels = {"metadata": {"labels": {"app": app}}}
            site.send("PATCH", f"/api/v1/namespaces/default/pods/{app}", labels, "application/merge-patch+json")
        assert site.send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget("b", "kept")).status == 201
        site.start(leader_elect="false")
        site.add_pod("urgent", cpu="1", priority=10)
        await asyncio.sleep(60.0)
        site.drop_pod("other")
        await asyncio.sleep(60.0)
    assert site.hosts == {"kept": "node-0", "urgent": "node-1"}


async def test_a_new_release_beside_an_old_server() -> None:
    """1.27 schedules beside a server of 1.15, which lacks a kind that it reads."""
    async with at("1.27", OLD_SERVER) as site:
        site.add_node("node-0")
        site.add_pod("first")
        replica = site.start()
        await asyncio.sleep(5.0)
        assert "csistoragecapacities: the API server has none, so there are none" in replica.warned
    assert site.hosts == {"first": "node-0"}
