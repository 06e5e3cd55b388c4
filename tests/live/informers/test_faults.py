"""Whatever is cut, refused or lost: informers end up with the objects of the server."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from random import Random

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.live.informers.informers import Informers
from tests.apiserver import (
    NEW_SERVER,
    NO_FAULT,
    OLD_SERVER,
    Fault,
    Refused,
    Store,
    StoreTransport,
    User,
    pod_manifest,
    refused,
)
from tests.support.examples import examples
from tests.support.followed import Followed
from tests.support.virtualtime import run_virtually

QUIET = 400.0
"""Seconds without faults after which everything must be known: the longest pause is a minute, the longest
watch ten."""

FAULTS = st.sampled_from(
    [
        NO_FAULT,
        NO_FAULT,
        NO_FAULT,
        Fault(is_dropped=True),
        Fault(is_lost=True),
        Fault(delay=3.0),
        Fault(cut_after=0),
        Fault(cut_after=1),
        Fault(is_expired=True),
        refused(403, "Forbidden"),
        refused(404, "NotFound"),
        refused(429, "TooManyRequests"),
        refused(500, "InternalError"),
        refused(410, "Expired"),
        refused(503),
        refused(504, "Timeout"),
    ]
)


@attrs.frozen
class Step:
    """Something happens to the cluster, after a while."""

    wait: float
    kind: str
    verb: str
    name: str


STEPS = st.builds(
    Step,
    wait=st.sampled_from([0.0, 0.01, 0.7, 5.0, 90.0]),
    kind=st.sampled_from(["nodes", "pods"]),
    verb=st.sampled_from(
        ["add", "add", "change", "finish", "delete", "delete", "compact", "restart", "dark", "light"]
    ),
    name=st.sampled_from("ab"),
)


@attrs.define
class Trouble:
    """Decides which request fails, until it is over."""

    faults: object
    is_over: bool = False
    is_dark: bool = False
    """The link is down."""

    def __call__(self, request):
        """The next fault; none when it is over."""
        if self.is_over:
            return NO_FAULT
        return Fault(is_dropped=True) if self.is_dark else next(self.faults, NO_FAULT)


def happen(store, step):
    """Do what *step* says; what is not possible is refused by the server, and nothing happens."""
    user = User(store)
    with suppress(Refused):
        if step.verb == "add":
            user.create(
                step.kind,
                pod_manifest(step.name) if step.kind == "pods" else {"metadata": {"name": step.name}},
            )
        elif step.verb == "change":
            user.patch(step.kind, step.name, {"metadata": {"labels": {"version": str(step.wait)}}})
        elif step.verb == "finish" and step.kind == "pods":
            user.patch("pods", step.name, {"status": {"phase": "Succeeded"}}, part="status")
        elif step.verb == "compact":
            store.storage.compact()
        elif step.verb == "restart":
            store.storage.restart()
        elif step.verb == "delete":
            user.delete(step.kind, step.name, grace=0)


def there(store, informers):
    """The server's objects of the followed kinds, with versions."""
    found = {}
    for kind, reflector in informers.reflectors.items():
        query = (
            "fieldSelector=status.phase%21%3DFailed%2Cstatus.phase%21%3DSucceeded" if kind == "Pod" else ""
        )
        for item in User(store).ask("GET", reflector.resource.path(), query=query)["items"]:
            metadata = item["metadata"]
            name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
            found[kind, name] = metadata["resourceVersion"]
    return found


BLIND = [
    *(Step(5.0, "nodes", "add", name) for name in "ab"),
    *(Step(5.0, "nodes", verb, "a") for verb in ("dark", "delete", "restart", "light")),
]
"""A node goes while the link is down and the server forgets it, so that only a list can tell."""


@pytest.mark.whole
@example(release="1.15", steps=BLIND, faults=[], seed=1)
@example(release="1.27", steps=BLIND, faults=[], seed=1)
@examples(1)
@given(
    release=st.sampled_from(["1.12", "1.15", "1.16", "1.27"]),
    steps=st.lists(STEPS, min_size=10, max_size=40),
    faults=st.lists(FAULTS, max_size=120),
    seed=st.integers(0, 99),
)
def test_informers_end_up_with_the_objects_of_the_server(release, steps, faults, seed):
    """After any changes and faults, and a quiet while, what was told is what the server has, version by
    version."""
    store = Store(
        NEW_SERVER
        if "PodDisruptionBudget"
        in {
            kind for kind, version in ALL_RELEASES[release].client.resources.items() if version.endswith("v1")
        }
        else OLD_SERVER
    )
    trouble = Trouble(iter(faults))
    followed = Followed()
    informers = Informers(
        StoreTransport(store, trouble),
        ALL_RELEASES[release].client,
        followed,
        report=lambda text: None,
        random=Random(seed).random,
    )

    async def play():
        following = asyncio.create_task(informers.run())
        for step in steps:
            await asyncio.sleep(step.wait)
            trouble.is_dark = step.verb == "dark" or (trouble.is_dark and step.verb != "light")
            if step.verb == "dark":
                store.storage.restart()
            happen(store, step)
        trouble.is_over = True
        await asyncio.sleep(QUIET)
        assert not following.done()
        following.cancel()

    run_virtually(play())
    assert informers.has_synced
    assert {key: item.metadata.resource_version for key, item in followed.objects.items()} == there(
        store, informers
    )
    stored = [
        item for reflector in informers.reflectors.values() for item in reflector.store._objects.values()
    ]
    assert {id(item) for item in stored} == {id(item) for item in followed.objects.values()}


@attrs.define(eq=False)
class Silent(StoreTransport):
    """From a certain time on open watches bring nothing more, and requests have no answer."""

    since: float = float("inf")

    @asynccontextmanager
    async def stream(self, request):
        """The watch, as long as anything comes."""
        async with StoreTransport.stream(self, request) as found:
            yield attrs.evolve(found, lines=self._heard(found.lines))

    async def _heard(self, lines):
        async for line in lines:
            if asyncio.get_running_loop().time() >= self.since:
                await asyncio.Event().wait()
            yield line


@pytest.mark.parametrize(
    "release, flavour, is_noticed", [("1.27", NEW_SERVER, True), ("1.15", OLD_SERVER, False)]
)
async def test_a_server_that_is_silent_on_open_watches(release, flavour, is_noticed):
    """Where watches have bookmarks, their absence is noticed after two and a half minutes; a quiet cluster is
    no absence."""
    transport = Silent(Store(flavour))
    informers = Informers(
        transport, ALL_RELEASES[release].client, Followed(), report=lambda text: None, random=Random(0).random
    )
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informers.run())
        await informers.synced()
        for _ in range(120):
            await asyncio.sleep(5.0)
            assert informers.seconds_behind == 0
        transport.since = asyncio.get_running_loop().time()
        await asyncio.sleep(80.0)  # the last bookmark came at most a minute before
        assert informers.seconds_behind == 0
        await asyncio.sleep(130.0)
        assert (informers.seconds_behind > 150) is is_noticed
        task.cancel()


@attrs.define(eq=False)
class Mixed(StoreTransport):
    """Watches begin with an object of another kind or version."""

    first: dict = attrs.field(factory=dict)

    @asynccontextmanager
    async def stream(self, request):
        """The watch, after that object."""
        async with StoreTransport.stream(self, request) as found:
            yield attrs.evolve(found, lines=self._mixed(found.lines))

    async def _mixed(self, lines):
        yield json.dumps({"type": "ADDED", "object": self.first}).encode()
        async for line in lines:
            yield line


@pytest.mark.parametrize("named", [{"kind": "Service"}, {"apiVersion": "v2"}])
async def test_an_event_of_another_kind(named):
    """It is no object of the kind that is watched, and its version is none to watch from."""
    told = []
    first = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "999"}, **named}
    cells = ALL_RELEASES["1.27"].client
    followed = Followed()
    informers = Informers(Mixed(Store(NEW_SERVER), first=first), cells, followed, told.append)
    task = asyncio.create_task(informers.run())
    await asyncio.sleep(2.0)
    task.cancel()
    assert ("Node", "a") not in followed.objects
    assert informers.reflectors["Node"].resource_version != "999"
    (got,) = named.values()
    assert any(got in line and "/api/v1/nodes: expected Node of v1, got" in line for line in told)
