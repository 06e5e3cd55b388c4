"""How fast the extender server answers: filter calls with the names of all nodes, from a client in a process of its own.

It starts ``kubeclassic serve`` on a generated cluster and sends calls at a fixed rate over kept-alive connections, about a few kinds of
pods in turn. It prints how many calls a second were answered, and p50, p99 and the longest time from sending to the whole answer.
A call that is late counts from the time at which it was due.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import httpx

Json = dict[str, Any]
READY = "listening on "


def node(number: int) -> Json:
    """A node of eight cores in one of three zones."""
    labels = {"kubernetes.io/hostname": f"node-{number}", "failure-domain.beta.kubernetes.io/zone": f"zone-{number % 3}"}
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": f"node-{number}", "labels": labels},
        "status": {"allocatable": allocatable},
    }


def pod(name: str, size: int, on: str = "") -> Json:
    """A pod of *size* half cores."""
    requests = {"cpu": f"{500 * size}m", "memory": f"{size}Gi"}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": f"app-{size}"}}
    spec: Json = {"containers": [{"name": "c", "image": "image", "resources": {"requests": requests}}], "priority": 0}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {**spec, **({"nodeName": on} if on else {})}}


def written(folder: Path, nodes: int, pods: int) -> Path:
    """A file with a cluster; every fifth node has less room than the others."""
    bound = [pod(f"bound-{i}", 1 + i % 4 + 8 * (i % 5 == 0), f"node-{i % nodes}") for i in range(pods)]
    file = folder / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*(node(i) for i in range(nodes)), *bound]}))
    return file


async def measure(url: str, rate: int, seconds: float, nodes: int, verb: str) -> list[float]:
    """The seconds that each call took, from the time when it was due."""
    names = [f"node-{i}" for i in range(nodes)]
    bodies = [json.dumps({"Pod": pod(f"asked-{i}", 1 + i), "Nodes": None, "NodeNames": names}).encode() for i in range(8)]
    took: list[float] = []
    async with httpx.AsyncClient(base_url=url, headers={"content-type": "application/json"}, timeout=60) as client:
        for body in bodies:
            (await client.post(f"/{verb}", content=body)).raise_for_status()
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                due = began + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                group.create_task(_call(client, verb, bodies[number % len(bodies)], due, took))
    click.echo(f"{len(took) / (time.perf_counter() - began):.0f} calls a second answered of {rate} sent")
    return sorted(took)


async def _call(client: httpx.AsyncClient, verb: str, body: bytes, due: float, took: list[float]) -> None:
    answer = await client.post(f"/{verb}", content=body)
    answer.raise_for_status()
    took.append(time.perf_counter() - due)


def main() -> None:
    """Start a server, measure, end it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=10000, help="bound ones")
    parser.add_argument("--rate", type=int, default=200, help="calls a second")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--verb", default="filter", choices=["filter", "prioritize"])
    parser.add_argument("--release", default="1.16")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), given.nodes, given.pods)
        words = ["serve", str(file), "--port", "0", "--max-requests", "10000", "--release", given.release]
        command = [sys.executable, "-m", "kubeclassic", *words]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                url = next(line for line in server.stderr if READY in line).partition(READY)[2].strip()
                took = asyncio.run(measure(url, given.rate, given.seconds, given.nodes, given.verb))
            finally:
                server.terminate()
    click.echo(
        f"p50 {1000 * took[len(took) // 2]:.1f} ms, p99 {1000 * took[len(took) * 99 // 100]:.1f} ms, longest {1000 * took[-1]:.1f} ms"
    )


if __name__ == "__main__":
    main()
