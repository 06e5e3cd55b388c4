"""Whole processes of ``kubeclassic run`` beside each other against one server, on virtual time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs

from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.live.process.process import Process
from kubeclassic.live.scheduler.runsettings import settings_of
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.apiserver.resources import Flavour
from tests.apiserver.transport import NO_FAULT, Decide, StoreTransport
from tests.live.scheduler.recorded import EPOCH
from tests.live.scheduler.worlds import World
from tests.support.logs import log_to

LOCK = ("leader-elect-resource-lock", "leases")


@attrs.define(eq=False)
class Replica:
    """A process, and what it says."""

    process: Process
    transport: StoreTransport
    end: asyncio.Event
    task: asyncio.Task[None]
    said: list[str]
    warned: list[str]

    async def stop(self) -> None:
        """SIGTERM, and the end of the process."""
        self.end.set()
        await self.task

    def metrics(self) -> dict[str, float]:
        """Its metrics: name with labels -> value."""
        lines = (line for line in self.process.metrics.text().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def called(self, method: str, part: str) -> int:
        """How many requests of that method had *part* in their path."""
        return sum(one.method == method and part in one.path for one in self.transport.requests)


@attrs.define(eq=False)
class Site(World):
    """A world with processes."""

    replicas: list[Replica] = attrs.field(factory=list)

    def start(self, name: str = "a", *, is_dry: bool = False, faults: Decide = lambda request: NO_FAULT, **flags: str) -> Replica:
        """Start a process with flags, underscores for hyphens; it does not listen unless they say where."""
        loop = asyncio.get_running_loop()
        serving = LIVE_RELEASES[self.release].serving
        given = {name: "0" for name, port in (("port", serving.port), ("secure_port", serving.secure_port)) if port} | flags
        if self.release not in ("1.12", "1.13"):
            given = dict([LOCK]) | given
        flags = {key.replace("_", "-"): value for key, value in given.items()}
        options, settings = settings_of(options_of({"release": self.release}), flags, is_dry=is_dry)
        transport = StoreTransport(self.store, faults, records=True)
        process = Process(
            settings=settings, engine=SchedulerSpec.of(options).engine(), link=transport, server="http://there", is_dry=is_dry,
            wall=lambda: EPOCH + loop.time(), identity=name,
        )  # fmt: skip
        end = asyncio.Event()
        replica = Replica(process, transport, end, loop.create_task(process.run(end)), [], [])
        process.log = log_to(replica.said, replica.warned, settings.logs.level)
        self.replicas.append(replica)
        return replica

    def lock(self) -> dict[str, Any]:
        """What the lock says."""
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
        spec: dict[str, Any] = json.loads(self.store.handle("GET", path).encoded())["spec"]
        return spec


@asynccontextmanager
async def at(release: str, flavour: Flavour | None = None) -> AsyncIterator[Site]:
    """A site, at whose end all processes end that still run."""
    site = Site(release, flavour=flavour)
    yield site
    for replica in site.replicas:
        if not replica.task.done():
            await replica.stop()
