"""Releases beside API servers of another time: informers read the versions of the API that the server has."""

import asyncio
from contextlib import asynccontextmanager

import attrs
import pytest

from kubeclassic.api.objects import PodDisruptionBudget
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.live.informers.informers import Informers
from tests.apiserver import NEW_SERVER, NO_FAULT, OLD, OLD_SERVER, Fault, Store, StoreTransport, User, refused
from tests.support.followed import Followed

BUDGETS = "poddisruptionbudgets: the API server has no policy/v1beta1, so policy/v1 is read"
OLD_BUDGETS = "poddisruptionbudgets: the API server has no policy/v1, so policy/v1beta1 is read"
DRIVERS = [
    f"{plural}: the API server has no storage.k8s.io/v1, so storage.k8s.io/v1beta1 is read"
    for plural in ("csidrivers", "csinodes")
]
SAID = [
    (NEW_SERVER, "1.12", [BUDGETS]),
    (
        NEW_SERVER,
        "1.16",
        ["csinodes: the API server has no storage.k8s.io/v1beta1, so storage.k8s.io/v1 is read", BUDGETS],
    ),
    (NEW_SERVER, "1.27", []),
    (OLD_SERVER, "1.16", []),
    (
        OLD_SERVER,
        "1.27",
        [*DRIVERS, "csistoragecapacities: the API server has none, so there are none", OLD_BUDGETS],
    ),
]
BOTH = attrs.evolve(
    NEW_SERVER,
    resources=(*NEW_SERVER.resources, next(one for one in OLD if one.kind == "PodDisruptionBudget")),
)
"""A server of the years in which both versions were there."""


@attrs.define
class Following:
    """Informers beside a server."""

    store: Store
    transport: StoreTransport
    informers: Informers
    told: Followed
    said: list

    def add_budget(self, name):
        """A new budget that selects the pods of an app."""
        body = {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": "x"}}}}
        User(self.store).create("poddisruptionbudgets", body)


@asynccontextmanager
async def following(flavour, release, faults=lambda request: NO_FAULT):
    """Informers of *release* beside a server."""
    said = []
    told = Followed()
    transport = StoreTransport(Store(flavour), faults, records=True)
    informers = Informers(transport, ALL_RELEASES[release].client, told, said.append, lambda: 0.5)
    task = asyncio.create_task(informers.run())
    yield Following(transport.store, transport, informers, told, said)
    assert not task.done()
    task.cancel()


@pytest.mark.parametrize("flavour, release, said", SAID, ids=lambda value: getattr(value, "version", None))
async def test_the_versions_that_the_server_has(flavour, release, said):
    """All lists are there within a second; budgets of before and after the list are known; one note names
    each other version."""
    async with following(flavour, release) as found:
        found.add_budget("before")
        await asyncio.sleep(1.0)
        assert found.informers.has_synced
        found.add_budget("after")
        await asyncio.sleep(1.0)
    assert sorted(found.said) == sorted(said)
    budgets = [item for item in found.told.objects.values() if isinstance(item, PodDisruptionBudget)]
    assert {budget.name: budget.selector is not None for budget in budgets} == {"before": True, "after": True}


async def test_a_server_that_is_upgraded():
    """When the server loses the version in the middle, the other one is read from then on, and nothing is
    forgotten."""
    upgraded_at = 10.0

    def upgraded(request):
        old = "policy/v1beta1" in request.path
        now = asyncio.get_running_loop().time()
        if old and now < upgraded_at:
            return Fault(cut_after=1)
        return refused(404) if old else NO_FAULT

    async with following(BOTH, "1.12", upgraded) as found:
        found.add_budget("before")
        await asyncio.sleep(upgraded_at)
        found.add_budget("cut")
        await asyncio.sleep(5.0)
        found.add_budget("after")
        await asyncio.sleep(5.0)
    assert found.told.names("PodDisruptionBudget") == {"before", "cut", "after"}
    assert found.said[-1] == BUDGETS


async def test_a_fault_is_no_lack():
    """A kind that was listed before is not taken for missing when the server answers 404 to everything for a
    while."""

    def broken(request):
        now = asyncio.get_running_loop().time()
        if "policy" in request.path and now < 20:
            return refused(404) if now > 5 else Fault(cut_after=1)
        return NO_FAULT

    async with following(NEW_SERVER, "1.27", broken) as found:
        found.add_budget("first")
        await asyncio.sleep(5.5)
        found.add_budget("second")
        await asyncio.sleep(40.0)
    assert found.told.names("PodDisruptionBudget") == {"first", "second"}
    assert not any("has none" in line for line in found.said)


async def test_a_version_that_is_forgotten():
    """Where the server has forgotten the version that a watch and a list name, all are listed without one."""
    first = str(Store(NEW_SERVER).storage.revision)

    def forgotten(request):
        names_it = f"resourceVersion={first}" in request.query.split("&")
        return refused(410, "Expired") if names_it and asyncio.get_running_loop().time() > 5 else NO_FAULT

    async with following(NEW_SERVER, "1.27", forgotten) as found:
        await asyncio.sleep(5.5)
        found.transport.store.storage.restart()
        found.add_budget("new")
        await asyncio.sleep(100.0)
    assert found.told.names("PodDisruptionBudget") == {"new"}
