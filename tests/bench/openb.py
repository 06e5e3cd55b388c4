"""Place the openb trace on a release, by default without preemption, and print the CPU time of the loop alone; reading is not in it."""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path

import click

from kubeclassic.api.objects import Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.run import Run
from kubeclassic.simulation.engines import engine_for
from kubeclassic.simulation.traces.openb import manifests


def main() -> None:
    """Print pods, placed pods, CPU seconds and pods a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", type=Path)
    parser.add_argument("pods", type=Path)
    parser.add_argument("--release", default="1.16")
    parser.add_argument("--preemption", action="store_true", help="make room for pods of higher priority")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    options = parser.parse_args()
    run = Run(engine_for(options.release, {"percentageOfNodesToScore": 100, "preemption": options.preemption}), details=False)
    waiting = []
    for item in read(options.nodes, options.pods):
        if isinstance(item, Pod):
            waiting.append(item)
        else:
            run.feed.put(item)
    run.engine.warm()
    gc.collect()
    gc.freeze()
    started = time.process_time()
    placed = sum(run.cycle(pod).host is not None for pod in waiting)
    seconds = time.process_time() - started
    if options.json:
        click.echo(json.dumps({"pods": len(waiting), "placed": placed, "cpu_seconds": round(seconds, 3)}))
        return
    click.echo(f"{len(waiting)} pods, {placed} placed, {seconds:.2f} s of CPU, {len(waiting) / seconds:.0f} pods/s")


def read(nodes: Path, pods: Path) -> list[object]:
    """The objects of the trace."""
    return [decode(document, strict=False) for document in manifests(nodes, pods)["items"]]


if __name__ == "__main__":
    main()
