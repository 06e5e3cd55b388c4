"""The live scheduler in process: how many pods a second it binds, and what becomes of pods when requests fail; see ../README.md.

``inprocess.py throughput`` makes pods as fast as the server takes them, and counts until the last one is bound. The server, the user who
makes the pods and the scheduler share one process, so all of them are in the number. ``inprocess.py faults`` plays on virtual time:
requests fail by chance, schedulers are killed and start again. It ends with status 1 if a pod was lost, bound twice, put on a full node or
left waiting beside room. Both print a line of JSON for each run.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import click

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]
import conftest  # noqa: E402, F401  # makes the helpers importable as tests.*

from kubeclassic.live.scheduler.events import connect_events  # noqa: E402
from kubeclassic.live.settings.livereleases import LIVE_RELEASES  # noqa: E402
from tests.apiserver.transport import StoreTransport  # noqa: E402
from tests.apiserver.watcher import Watcher  # noqa: E402
from tests.apiserver.watches import Change  # noqa: E402
from tests.live.scheduler.worlds import World  # noqa: E402
from tests.support.livetrial import Plan, shown, tried  # noqa: E402

AT_ONCE = 20
"""Pods that are made before the scheduler has its turn."""
PATIENCE = 600.0
"""Seconds after which a run without an end is given up."""


@attrs.define
class Stopwatch:
    """When each pod was made and bound."""

    made: dict[str, float] = attrs.field(factory=dict)
    took: list[float] = attrs.field(factory=list)
    """Seconds from made to bound, in the order of bindings."""

    def observe(self, change: Change) -> None:
        """Note a binding that the server stored."""
        if change.plural != "pods" or change.before is None or change.before["spec"].get("nodeName"):
            return
        if change.after["spec"].get("nodeName"):
            self.took.append(time.perf_counter() - self.made[change.key[1]])


async def throughput(release: str, nodes: int, pods: int) -> dict[str, Any]:
    """Pods a second from the first one made to the last one bound, as the server saw it."""
    world, watch = World(release), Stopwatch()
    watcher = Watcher(world.store.storage)
    world.store.storage.observers.append(watch.observe)
    for number in range(nodes):
        world.add_node(f"node-{number}", cpu="16", zone=f"zone-{number % 3}")
    events = await connect_events(StoreTransport(world.store), LIVE_RELEASES[release])
    world.schedule().state.recorder = events.recorder("default-scheduler")
    sending = asyncio.create_task(events.run())
    await asyncio.sleep(1.0)
    gc.collect()
    gc.freeze()
    begun, used = time.perf_counter(), time.process_time()
    for number in range(pods):
        watch.made[name := f"pod-{number}"] = time.perf_counter()
        world.add_pod(name, cpu=f"{100 + 100 * (number % 8)}m")
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    made = time.perf_counter() - begun
    while len(watch.took) < pods and time.perf_counter() - begun < PATIENCE:
        await asyncio.sleep(0.005)
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    sending.cancel()
    await world.stop()
    bad = {"bound_twice": len(watcher.bound_twice), "over_capacity": len(watcher.over_capacity), "waiting": len(watcher.waiting())}
    waits = sorted(watch.took)
    return {
        "release": release,
        "nodes": nodes,
        "pods": pods,
        "pods_a_second": round(len(waits) / seconds),
        "seconds": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "all_made_after": round(made, 2),
        "median_wait": round(waits[len(waits) // 2], 3) if waits else None,
        **bad,
    }


def _faults(asked: argparse.Namespace) -> bool:
    """Play all trials; whether each of them was clean."""
    is_clean = True
    for release in asked.release:
        for seed in asked.seed:
            given = {field.name: getattr(asked, field.name) for field in attrs.fields(Plan) if field.name not in ("release", "seed")}
            outcome = tried(Plan(release=release, seed=seed, **given))
            click.echo(json.dumps({"release": release, "seed": seed, **shown(outcome)}))
            if asked.verbose:
                click.echo("\n".join(outcome.reports), err=True)
            is_clean &= outcome.is_clean
    return is_clean


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    fast = commands.add_parser("throughput", help="pods a second")
    faults = commands.add_parser("faults", help="requests that fail, schedulers that are killed")
    for command, nodes, pods in ((fast, 5000, 5000), (faults, 200, 3000)):
        command.add_argument("--release", nargs="+", default=["1.16", "1.27"])
        command.add_argument("--nodes", type=int, default=nodes)
        command.add_argument("--pods", type=int, default=pods)
    faults.add_argument("--seed", type=int, nargs="+", default=[0])
    faults.add_argument("--verbose", action="store_true", help="print what the schedulers reported")
    faults.add_argument("--share", type=float, default=0.05, help="of all requests, those that fail")
    faults.add_argument("--rate", type=float, default=20.0, help="new pods a virtual second")
    faults.add_argument("--fill", type=float, default=0.9, help="what all pods ask for, as a share of what all nodes have")
    faults.add_argument("--leaving", type=float, default=0.1, help="share of pods that are deleted again")
    faults.add_argument("--urgent", type=float, default=0.0, help="share of pods that may preempt others")
    faults.add_argument("--kills", type=int, default=3)
    faults.add_argument("--restarts", type=int, default=2, help="of the API server")
    faults.add_argument("--replicas", type=int, default=1, help="schedulers at once; more than one elect a leader")
    return parser


def main() -> None:
    """Measure or play what is asked for."""
    asked = _parser().parse_args()
    if asked.command == "faults":
        sys.exit(0 if _faults(asked) else 1)
    for release in asked.release:
        click.echo(json.dumps(asyncio.run(throughput(release, asked.nodes, asked.pods))))


if __name__ == "__main__":
    main()
