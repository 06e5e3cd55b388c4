"""What a scenario gets, the schedulers that it starts, and what it has found in the end."""

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
"""For the API server of the tests: it does not keep a leader waiting, and the next one need not wait long."""
WARM_WITHIN = 120.0
"""Seconds for the first pod."""
AT_ONCE = 6
"""Pods that are made at the same time."""


@attrs.frozen
class Outcome:
    """A row of the table: *wrong* is what must not be, *found* the rest."""

    scenario: str
    who: str
    server: str
    found: dict
    wrong: tuple = ()
    load: float = attrs.field(factory=lambda: os.getloadavg()[0])


@attrs.frozen
class Site:
    """What every scenario gets."""

    kubernetes: object
    """None: the API server of the tests takes the place of the real one, and there is no kube-scheduler."""
    release: str
    folder: object
    pods: int
    nodes: int
    qps: int = 0
    """Requests a second; 0: the release's own limits."""
    patience: float = 600.0
    """Seconds after which what is waited for is given up."""
    python: str = ""

    def server(self, name):
        """A server that has not begun."""
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
        """The release has predicates."""
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
    """What is seen of pods, events and leases at a server from now on."""

    server: object
    watcher: Watcher = attrs.field(init=False)
    bound: dict = attrs.field(factory=dict, init=False)
    """Pod -> when it was first seen on a node."""
    events: int = attrs.field(default=0, init=False)
    """Of the reason Scheduled."""
    renewals: dict = attrs.field(factory=dict, init=False)
    """Who holds the lease -> when it was renewed."""

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
        """The seconds between two renewals of one holder, from *begin* on, in their order of size."""
        held = (
            [moment for moment in times if moment >= begin]
            for holder, times in self.renewals.items()
            if holder
        )
        return sorted(later - moment for times in held for moment, later in pairwise(times))

    def wrongs(self, pods):
        """What must not be at the end: pods lost, bound twice, over capacity."""
        there = len(self.server.remote.storage.of("pods"))
        lost = [f"{pods - there} pods are gone"] if there < pods else []
        waiting = self.watcher.waiting()
        left = [f"{len(waiting)} pods wait, such as {waiting[0]}"] if waiting else []
        return [*lost, *left, *self.watcher.faults[:5]]


def add_nodes(server, count):
    """So many equal nodes in three zones."""
    zones = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"

    def add(number):
        manifest = node_manifest(f"node-{number:04d}", cpu="8", memory="32Gi")
        manifest["metadata"]["labels"] |= dict.fromkeys(zones, f"zone-{number % 3}")
        server.remote.user.add_node(manifest)

    with ThreadPoolExecutor(AT_ONCE) as executor:
        list(executor.map(add, range(count)))
    until(lambda: len(server.remote.storage.of("nodes")) >= count, WARM_WITHIN, "the nodes do not show")


def small_pod(number):
    """One of three sizes."""
    return pod_manifest(
        f"pod-{number:05d}", cpu=f"{100 + 100 * (number % 3)}m", labels={"app": f"app-{number % 10}"}
    )


def add_pods(server, count):
    """Pods as fast as the server takes them; one that it does not take is tried again."""

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
    """Make a pod, and wait until it is bound: a scheduler works."""
    server.remote.user.create("pods", pod_manifest("warm", cpu="10m"))
    until(lambda: "warm" in account.bound, WARM_WITHIN, "no scheduler binds")


@attrs.define(eq=False)
class Replicas:
    """Two schedulers that elect a leader. One that ends is started again, as a Deployment does."""

    site: object
    server: object
    running: dict = attrs.field(factory=dict)
    lost: list = attrs.field(factory=list)
    """The exit statuses of those that ended by themselves."""
    _started: int = 0
    _mine: set = attrs.field(factory=set)
    """Those that were ended here."""
    _is_over: object = attrs.field(factory=threading.Event)

    @contextmanager
    def at_work(self):
        """A context in which they run."""
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
        """The one that has said so."""
        alive = (running for running in list(self.running.values()) if running.status is None)
        return next((running for running in alive if "acquired lease" in running.text()), None)

    def end_leader(self, number):
        """The exit status of the leader, which gets a signal."""
        until(lambda: self.leader is not None, WARM_WITHIN, "no replica leads")
        leader = self.leader
        self._mine.add(leader.process.pid)
        leader.send(number)
        return leader.process.wait()

    @property
    def seconds(self):
        """The processor time of those that run now."""
        return sum(running.seconds for running in self.running.values())


def middle(values, share=0.5):
    """The value that so large a *share* of sorted *values* is below; None of none."""
    return round(values[min(len(values) - 1, int(share * len(values)))], 2) if values else None


def compact(found):
    """What was found, in a cell of a table."""
    return ", ".join(
        f"{name} {value if isinstance(value, int | float | str) else json.dumps(value)}"
        for name, value in found.items()
    )
