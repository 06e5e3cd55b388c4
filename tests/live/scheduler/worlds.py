"""Small live clusters on virtual time: a server of the tests, schedulers or whole processes beside each
other, and what happens."""

import asyncio
from contextlib import asynccontextmanager

import attrs

from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.live.client.api import Api
from kubeclassic.live.informers.informers import informers_of, retries_of
from kubeclassic.live.process.process import Process
from kubeclassic.live.scheduler.flags import read_settings
from kubeclassic.live.scheduler.scheduler import LiveScheduler
from kubeclassic.live.scheduler.shadow.shadow import Shadow
from kubeclassic.live.scheduler.state import ClusterApi, DryApi, LiveState
from kubeclassic.simulation.conform import engine_for
from tests.apiserver import (
    NEW_SERVER,
    NO_FAULT,
    OLD_SERVER,
    Storage,
    Store,
    StoreTransport,
    User,
    node_manifest,
    pod_manifest,
)
from tests.live.scheduler.recorded import EPOCH, Events
from tests.support.logs import log_to
from tests.support.virtualtime import run_virtually


@attrs.define(eq=False)
class World:
    """A server, and the schedulers that follow it."""

    release: str
    faults: object = lambda request: NO_FAULT
    flavour: object = None
    """The version of the server; None: the one of the release's time."""
    store: Store = attrs.field(init=False)
    events: Events = attrs.field(factory=Events)
    reports: list = attrs.field(factory=list)
    tasks: list = attrs.field(factory=list)

    def __attrs_post_init__(self):
        loop = asyncio.get_running_loop()
        of_its_time = NEW_SERVER if engine_for(self.release, {}).flow.profiles else OLD_SERVER
        self.store = Store(self.flavour or of_its_time, Storage(clock=lambda: EPOCH + loop.time()))

    # --- what users do --------------------------------------------------------------------------------------

    @property
    def user(self):
        """The user for requests that have no method below."""
        return User(self.store)

    def add_node(self, name, cpu="4", pods="110", **labels):
        """A new node, ready, without the taint that admission adds."""
        form = node_manifest(name, cpu=cpu, pods=pods)
        form["metadata"]["labels"] |= labels
        self.user.add_node(form)

    def add_pod(self, name, **form):
        """A new pod."""
        self.user.create("pods", pod_manifest(name, **form))

    def drop_pod(self, name):
        """Delete a pod at once."""
        self.user.delete("pods", name, grace=0)

    def bind(self, name, node):
        """Bind a pod as another scheduler does."""
        self.user.bind(name, node)

    @property
    def hosts(self):
        """Pod -> its node; empty where it has none."""
        return {
            name: item["spec"].get("nodeName", "")
            for (_, name), item in self.store.storage.of("pods").items()
        }

    # --- schedulers -----------------------------------------------------------------------------------------

    def state(self, api, config=None, release="", scheduler_name="default-scheduler", engine=None):
        """The state of a scheduler, of *engine* or of one with *config*."""
        loop = asyncio.get_running_loop()
        engine = engine or engine_for(release or self.release, config or {})
        return LiveState(
            engine, api, self.events, lambda: EPOCH + loop.time(), scheduler_name, log=log_to(self.reports)
        )

    def schedule(self, config=None, *, dry=False, engine=None, make=LiveScheduler, name="default-scheduler"):
        """Start a scheduler called *name*, which *make* makes."""
        transport = StoreTransport(self.store, self.faults)
        client = engine_for(self.release, {}).algorithm.release.client
        api = (
            DryApi()
            if dry
            else ClusterApi(
                Api(transport, retries_of(client)), client.device_api, client.names_device_requests
            )
        )
        scheduler = make(self.state(api, config, scheduler_name=name, engine=engine))
        self.follow(transport, scheduler.state, scheduler.run)
        return scheduler

    def shadow(self, release, config=None):
        """Start a shadow."""
        told = []
        shadow = Shadow(self.state(DryApi(), config, release), told.append)
        self.follow(StoreTransport(self.store), shadow, shadow.run)
        return shadow, told

    def follow(self, transport, handler, run):
        """Let informers tell *handler*, and *run* once all lists are there."""
        algorithm = engine_for(self.release, {}).algorithm
        informers = informers_of(algorithm.release, algorithm.gates, transport, handler, self.reports.append)

        async def work():
            async with asyncio.TaskGroup() as group:
                group.create_task(informers.run())
                await informers.synced()
                await run()
                raise AssertionError("expected a scheduler that runs until it is stopped, got one that ended")

        self.tasks.append(asyncio.get_running_loop().create_task(work()))

    async def stop(self, *tasks):
        """End schedulers, without *tasks* all, as by kill -9; a defect of one of them is raised."""
        ended = tasks or self.tasks
        self.tasks = [task for task in self.tasks if task not in ended]
        for task in ended:
            task.cancel()
        for error in await asyncio.gather(*ended, return_exceptions=True):
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error


@asynccontextmanager
async def lived(release, faults=lambda request: NO_FAULT):
    """A world, at whose end all its schedulers end."""
    world = World(release, faults)
    yield world
    await world.stop()


def live(release, play, faults=lambda request: NO_FAULT):
    """The world after *play* in it."""

    async def work():
        async with lived(release, faults) as world:
            await play(world)
        return world

    found = run_virtually(work())
    assert found is not None
    return found


def numbers(metrics):
    """Name with labels -> value."""
    lines = (line for line in metrics.text().decode().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@attrs.define(eq=False)
class Replica:
    """A process, and what it says."""

    process: Process
    transport: StoreTransport
    end: object
    task: object
    said: list
    warned: list

    async def stop(self):
        """SIGTERM, and the end of the process."""
        self.end.set()
        await self.task

    def metrics(self):
        """The metrics: name with labels -> value."""
        return numbers(self.process.metrics)

    def called(self, method, part):
        """The number of requests of *method* with *part* in their path."""
        return sum(one.method == method and part in one.path for one in self.transport.requests)


@attrs.define(eq=False)
class Site(World):
    """A world with processes."""

    replicas: list = attrs.field(factory=list)

    def start(self, name="a", *, is_dry=False, faults=lambda request: NO_FAULT, **flags):
        """Start a process with flags, underscores for hyphens; it does not listen unless they say where."""
        loop = asyncio.get_running_loop()
        flags = {key.replace("_", "-"): value for key, value in ({"port": "0"} | flags).items()}
        options = options_of({"release": self.release})
        settings = read_settings(flags, is_dry=is_dry)
        transport = StoreTransport(self.store, faults, records=True)
        process = Process(
            settings=settings,
            engine=SchedulerSpec.of(options).engine(),
            link=transport,
            server="http://there",
            is_dry=is_dry,
            wall=lambda: EPOCH + loop.time(),
            identity=name,
        )
        end = asyncio.Event()
        replica = Replica(process, transport, end, loop.create_task(process.run(end)), [], [])
        process.log = log_to(replica.said, replica.warned, settings.log_level)
        self.replicas.append(replica)
        return replica

    def lock(self):
        """The record in the lock."""
        return dict(self.user.get("leases", "kube-scheduler", namespace="kube-system")["spec"])


@asynccontextmanager
async def at(release, flavour=None):
    """A site, at whose end all processes end that still run."""
    site = Site(release, flavour=flavour)
    yield site
    for replica in site.replicas:
        if not replica.task.done():
            await replica.stop()
