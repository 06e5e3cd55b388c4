"""``kubeclassic run`` as a process of its own: what a pod of a burst costs it, and how far apart the renewals of its lease are.

The API server of the tests runs in this process, over TLS. All pods are made at once; the line of JSON says how many of them were bound, in
which time, with how much of the scheduler's processor time, how many Scheduled events were there at the last binding and a while later, and
the seconds between two renewals as the server saw them. ``--busy N`` lets N other processes do nothing but count meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import click

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
import conftest  # noqa: E402, F401  # makes the helpers importable as tests.*
import trustme  # noqa: E402
import uvicorn  # noqa: E402

from kubeclassic.framework.releases import find_any_release  # noqa: E402
from kubeclassic.live.settings.livereleases import LIVE_RELEASES  # noqa: E402
from tests.apiserver.app import make_app  # noqa: E402
from tests.apiserver.transport import StoreTransport  # noqa: E402
from tests.apiserver.watches import Change  # noqa: E402
from tests.live.scheduler.worlds import World  # noqa: E402

LEASE = "leases"
AT_ONCE = 50
"""Pods that are made before the server has its turn."""
TICK = os.sysconf("SC_CLK_TCK")


@attrs.define
class Seen:
    """What the server saw."""

    bound: list[float] = attrs.field(factory=list)
    events: list[float] = attrs.field(factory=list)
    renewals: list[float] = attrs.field(factory=list)

    def observe(self, change: Change) -> None:
        """Note a binding, an event Scheduled or a renewal."""
        if change.plural == "pods" and change.before is not None and not change.before["spec"].get("nodeName"):
            if change.after["spec"].get("nodeName"):
                self.bound.append(time.monotonic())
        elif change.plural == "events" and change.before is None and change.after.get("reason") == "Scheduled":
            self.events.append(time.monotonic())
        elif change.plural == LEASE:
            self.renewals.append(time.monotonic())

    def gaps(self, begin: float) -> list[float]:
        """The seconds between two renewals, from *begin* on."""
        times = [moment for moment in self.renewals if moment >= begin]
        return sorted(later - moment for moment, later in pairwise(times))


@attrs.define
class Scheduler:
    """The process under test."""

    process: subprocess.Popen[bytes]
    last: float = 0.0

    @property
    def seconds(self) -> float:
        """Its processor time so far; at its end, what it was when it was last asked for."""
        if self.process.poll() is not None:
            return self.last
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        self.last = (int(fields[11]) + int(fields[12])) / TICK
        return self.last

    def end(self) -> int:
        """Its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def command(asked: argparse.Namespace, kubeconfig: Path) -> list[str]:
    """The command line of the scheduler."""
    serving = LIVE_RELEASES[asked.release].serving
    ports = [flag for flag, port in (("--port=0", serving.port), ("--secure-port=0", serving.secure_port)) if port]
    lock = [] if asked.release in ("1.12", "1.13") else ["--leader-elect-resource-lock=leases"]
    limits = [f"--kube-api-qps={asked.qps}", f"--kube-api-burst={asked.qps}"] if asked.qps else []
    started = [asked.python, "-P", "-m", "kubeclassic", "run"]
    return [*started, "--kubeconfig", str(kubeconfig), "--release", asked.release, *ports, *lock, *limits]


@asynccontextmanager
async def served(world: World, folder: Path) -> AsyncIterator[Path]:
    """The world behind TLS; the kubeconfig for it."""
    authority = trustme.CA()
    pair = authority.issue_cert("127.0.0.1")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in pair.cert_chain_pems))
    pair.private_key_pem.write_to_path(key)
    authority.cert_pem.write_to_path(folder / "ca.pem")
    config = uvicorn.Config(
        make_app(StoreTransport(world.store)), port=0, log_config=None, ws="none", lifespan="off", timeout_graceful_shutdown=1,
        ssl_certfile=str(certificate), ssl_keyfile=str(key),
    )  # fmt: skip
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(folder / "ca.pem")}
    kubeconfig = folder / "kubeconfig"
    document = {
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {"token": "abc"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x",
    }  # fmt: skip
    kubeconfig.write_text(json.dumps(document))
    try:
        yield kubeconfig
    finally:
        server.should_exit = True
        await serving


async def burst(asked: argparse.Namespace) -> dict[str, Any]:
    """One run."""
    world, seen = World(asked.release), Seen()
    world.store.storage.observers.append(seen.observe)
    for number in range(asked.nodes):
        world.add_node(f"node-{number}", cpu="64", zone=f"zone-{number % 3}")
    with TemporaryDirectory() as folder:
        async with served(world, Path(folder)) as kubeconfig:
            with Path(asked.log).open("wb") as log:
                process = subprocess.Popen(command(asked, kubeconfig), cwd="/", stderr=log)
            try:
                found = await measured(asked, world, seen, Scheduler(process))
                return {"release": asked.release, "nodes": asked.nodes, "pods": asked.pods, **found}
            finally:
                process.kill()


async def measured(asked: argparse.Namespace, world: World, seen: Seen, scheduler: Scheduler) -> dict[str, Any]:
    """Make the pods and wait."""
    world.add_pod("warm", cpu="10m")
    while not seen.bound and scheduler.process.poll() is None:
        await asyncio.sleep(0.2)
    await asyncio.sleep(5.0)
    begin, used, spent = time.monotonic(), scheduler.seconds, 0.0
    for number in range(asked.pods):
        world.add_pod(f"pod-{number}", cpu=f"{50 + 50 * (number % 4)}m")
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    while len(seen.bound) <= asked.pods and scheduler.process.poll() is None and time.monotonic() - begin < asked.patience:
        await asyncio.sleep(0.1)
        spent = scheduler.seconds - used
    status = scheduler.process.poll()
    seconds, events = seen.bound[-1] - begin, len(seen.events)
    till = time.monotonic() + asked.wait
    while len(seen.events) <= asked.pods and time.monotonic() < till:
        await asyncio.sleep(0.1)
    gaps = seen.gaps(begin - 5.0) or [0.0]
    pods = len(seen.bound) - 1
    return {
        "bound": pods, "seconds": round(seconds, 1), "pods_a_second": round(pods / seconds),
        "processor_ms_a_pod": round(1000 * spent / max(pods, 1), 2),
        "events_at_last_binding": events - 1, "events_later": len(seen.events) - 1,
        "events_took": round(seen.events[-1] - seen.bound[-1], 1),
        "renewals": len(gaps) + 1, "gap_median": round(gaps[len(gaps) // 2], 1), "gap_max": round(gaps[-1], 1),
        "ended_early": status, "load": os.getloadavg()[0],
        "status": await asyncio.to_thread(scheduler.end) if status is None else status,
    }  # fmt: skip


def _parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="1.27", type=lambda text: find_any_release(text).version)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--qps", type=int, default=0, help="requests a second; 0: the release's default")
    parser.add_argument("--busy", type=int, default=0, help="that many other busy processes")
    parser.add_argument("--wait", type=float, default=30.0, help="seconds for events after the last binding")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds after which a run is given up")
    parser.add_argument("--python", default=sys.executable, help="the Python that runs the scheduler")
    parser.add_argument("--log", default=os.devnull, help="a file for what the scheduler says")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure one run."""
    asked = _parsed()
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(asked.busy)]
    try:
        click.echo(json.dumps(asyncio.run(burst(asked))))
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
