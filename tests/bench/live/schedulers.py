"""The inputs of a scenario, the schedulers that it starts, and its outcome."""

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import attrs
import httpx

from tests.apiserver import NEW_SERVER, OLD_SERVER, Refused, Watcher, node_manifest, pod_manifest

from .programs import MissingProgramsError, Running, kubeclassic
from .servers import ORIGINAL, SCHEDULER, OfTests, Real, until

LOCK = "kubeclassic"
"""Name and namespace of the lease."""
SOON = (
    "--leader-elect-lease-duration=6s",
    "--leader-elect-renew-deadline=4s",
    "--leader-elect-retry-period=1s",
)
"""Flags with the API server of the tests, which never keeps a leader waiting: the next leader need not wait
long."""
WARM_WITHIN = 120.0
"""The seconds within which the first pod must be bound."""
AT_ONCE = 6
"""The number of objects that are created at the same time."""


@attrs.frozen
class Outcome:
    """A row of the table: *wrong* are the violations, *found* the other results."""

    scenario: str
    who: str
    server: str
    found: dict
    wrong: tuple = ()
    load: float = attrs.field(factory=lambda: os.getloadavg()[0])


@attrs.frozen
class Site:
    """The inputs of every scenario."""

    kubernetes: object
    """The programs of Kubernetes; None: the API server of the tests takes the place of the real one, and
    there is no kube-scheduler."""
    release: str
    folder: object
    pods: int
    nodes: int
    qps: int = 0
    """Requests a second; 0: the release's own limits."""
    patience: float = 600.0
    """The seconds after which a wait is given up."""
    python: str = ""

    def server(self, name):
        """A server that is not yet started."""
        if self.kubernetes is None:
            return OfTests(self.folder / name, OLD_SERVER if self.is_classic else NEW_SERVER)
        return Real(self.folder / name, self.kubernetes)

    def real(self):
        """The programs of Kubernetes. Raises :class:`~.programs.MissingProgramsError` where there are
        none."""
        if self.kubernetes is None:
            raise MissingProgramsError(
                "this scenario runs kube-apiserver and kube-scheduler: expected --kube FOLDER or KUBECLASSIC_KUBE"
            )
        return self.kubernetes

    @property
    def is_classic(self):
        """Whether the release has predicates."""
        return int(self.release.split(".")[1]) < 17

    def ours(self, server, name, *, elects=False):
        """Start ``kubeclassic run``."""
        flags = ["--port=0", f"--leader-elect={str(elects).lower()}"]
        if elects:
            flags += [f"--leader-elect-resource-name={LOCK}", f"--leader-elect-resource-namespace={LOCK}"]
            flags += SOON if self.kubernetes is None else ()
        command = [
            *kubeclassic(self.python),
            "run",
            "--kubeconfig",
            server.kubeconfig(SCHEDULER),
            "--release",
            self.release,
        ]
        return Running([*command, *flags, *self._limits()], server.folder / f"{name}.log")

    def original(self, server, name="kube-scheduler"):
        """Start kube-scheduler, without election."""
        kubernetes = self.real()
        insecure = ["--port=0"] if kubernetes.minor < 23 else []
        command = [
            kubernetes.program("kube-scheduler"),
            "--kubeconfig",
            server.kubeconfig(ORIGINAL),
            "--leader-elect=false",
        ]
        return Running(
            [*command, "--secure-port=0", *insecure, "--v=2", *self._limits()], server.folder / f"{name}.log"
        )

    def _limits(self):
        return [f"--kube-api-qps={self.qps}", f"--kube-api-burst={self.qps}"] if self.qps else []


@attrs.define(eq=False)
class Account:
    """A record of pods, events and leases at a server from now on."""

    server: object
    watcher: Watcher = attrs.field(init=False)
    bound: dict = attrs.field(factory=dict, init=False)
    """Pod -> the time when it was first seen on a node."""
    events: int = attrs.field(default=0, init=False)
    """The number of events with reason Scheduled."""
    renewals: dict = attrs.field(factory=dict, init=False)
    """Holder of the lease -> the times of renewal."""

    def __attrs_post_init__(self):
        storage = self.server.remote.storage
        self.watcher = Watcher(storage)
        storage.observers.append(self._see)

    def _see(self, change):
        if change.is_deletion:
            return
        if change.plural == "pods" and change.after["spec"].get("nodeName"):
            self.bound.setdefault(change.key[1], time.monotonic())
        elif (
            change.plural == "events" and change.before is None and change.after.get("reason") == "Scheduled"
        ):
            self.events += 1
        elif change.plural == "leases" and change.key == (LOCK, LOCK):
            self._renewed(change.after["spec"])

    def _renewed(self, spec):
        self.renewals.setdefault(spec.get("holderIdentity") or "", []).append(time.monotonic())

    def gaps(self, begin):
        """The seconds between two renewals of one holder, from *begin* on, in ascending order."""
        held = (
            [moment for moment in times if moment >= begin]
            for holder, times in self.renewals.items()
            if holder
        )
        return sorted(later - moment for times in held for moment, later in pairwise(times))

    def wrongs(self, pods):
        """The violations at the end: pods lost, unbound, bound twice, or over capacity."""
        there = len(self.server.remote.storage.of("pods"))
        lost = [f"{pods - there} pods are gone"] if there < pods else []
        waiting = self.watcher.waiting()
        left = [f"{len(waiting)} pods wait, such as {waiting[0]}"] if waiting else []
        return [*lost, *left, *self.watcher.faults[:5]]


def add_nodes(server, count):
    """Add *count* equal nodes in three zones."""
    zones = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"

    def add(number):
        manifest = node_manifest(f"node-{number:04d}", cpu="8", memory="32Gi")
        manifest["metadata"]["labels"] |= dict.fromkeys(zones, f"zone-{number % 3}")
        server.remote.user.add_node(manifest)

    with ThreadPoolExecutor(AT_ONCE) as executor:
        list(executor.map(add, range(count)))
    until(lambda: len(server.remote.storage.of("nodes")) >= count, WARM_WITHIN, "the nodes do not show")


def small_pod(number):
    """A pod of one of three sizes."""
    return pod_manifest(
        f"pod-{number:05d}", cpu=f"{100 + 100 * (number % 3)}m", labels={"app": f"app-{number % 10}"}
    )


def add_pods(server, count):
    """Add *count* pods as fast as the server takes them; a request that fails is repeated."""

    def add(number):
        for _ in range(200):
            try:
                server.remote.user.create("pods", small_pod(number))
            except Refused as error:
                if error.status == 409:
                    return
            except httpx.HTTPError:
                pass
            else:
                return
            time.sleep(0.5)

    with ThreadPoolExecutor(AT_ONCE) as executor:
        list(executor.map(add, range(count)))


def warm(server, account):
    """Create a pod, and wait until it is bound, so that a scheduler is known to work."""
    server.remote.user.create("pods", pod_manifest("warm", cpu="10m"))
    until(lambda: "warm" in account.bound, WARM_WITHIN, "no scheduler binds")


@attrs.define(eq=False)
class Replicas:
    """Two schedulers that elect a leader. If one ends, another is started, as by a Deployment."""

    site: object
    server: object
    running: dict = attrs.field(factory=dict)
    lost: list = attrs.field(factory=list)
    """The exit statuses of schedulers that ended by themselves."""
    _started: int = 0
    _mine: set = attrs.field(factory=set)
    """The process ids of schedulers that were ended here."""
    _is_over: object = attrs.field(factory=threading.Event)

    @contextmanager
    def at_work(self):
        """A context in which the schedulers run."""
        for name in ("x", "y"):
            self._start(name)
        keeper = self.server.remote.thread(self._keep)
        try:
            yield self
        finally:
            self._is_over.set()
            keeper.join()
            for running in self.running.values():
                running.kill()

    def _start(self, name):
        self._started += 1
        self.running[name] = self.site.ours(self.server, f"{name}-{self._started}", elects=True)

    def _keep(self):
        while not self._is_over.wait(0.2):
            for name, running in list(self.running.items()):
                if running.status is not None:
                    if running.process.pid not in self._mine:
                        self.lost.append(running.status)
                    self._start(name)

    @property
    def leader(self):
        """The scheduler that has logged its election; None if none has."""
        alive = (running for running in list(self.running.values()) if running.status is None)
        return next((running for running in alive if "acquired lease" in running.text()), None)

    def end_leader(self, number):
        """Send the leader a signal, and return its exit status."""
        until(lambda: self.leader is not None, WARM_WITHIN, "no replica leads")
        leader = self.leader
        self._mine.add(leader.process.pid)
        leader.send(number)
        return leader.process.wait()

    @property
    def seconds(self):
        """The processor time of the schedulers that run now."""
        return sum(running.seconds for running in self.running.values())


def middle(values, share=0.5):
    """The quantile of sorted *values* at *share*; None if there are none."""
    return round(values[min(len(values) - 1, int(share * len(values)))], 2) if values else None


def compact(found):
    """The results in a cell of a table."""
    return ", ".join(
        f"{name} {value if isinstance(value, int | float | str) else json.dumps(value)}"
        for name, value in found.items()
    )
