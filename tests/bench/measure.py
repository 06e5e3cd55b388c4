"""Single measurements, a command each, which prints a line of JSON for whatever it measures; README.md beside this file has them all.

Seconds are those of the processor, and reading is not in them unless their name says so.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import click

import kubeclassic
from kubeclassic import Cluster, capacity
from kubeclassic.api.objects import Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.run import Run
from kubeclassic.framework.options import options_of
from kubeclassic.simulation.bench.bench import calibration, peak_rss_mb
from kubeclassic.simulation.bench.cases import FORMS, CaseSize, read_case
from kubeclassic.simulation.conform import build, read_items
from kubeclassic.simulation.engines import engine_for
from kubeclassic.simulation.traces.openb import manifests

Json = dict[str, Any]
T = TypeVar("T")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
CORES = 2
COPIED = {
    "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "img", "resources": {"requests": {"cpu": "200m", "memory": "500Mi"}}}]},
}  # fmt: skip
"""It fits 20 times on a node."""


@click.group(help=__doc__)
def main() -> None:
    """Measure one thing."""


def say(**figures: Any) -> None:
    """Print a line of JSON."""
    click.echo(json.dumps({name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}))


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The processor seconds that *work* takes, and its answer."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def settle(run: Run | None = None) -> None:
    """Let no garbage be collected, and no array be made, while something is timed."""
    if run is not None:
        run.engine.warm()
    gc.collect()
    gc.freeze()


@main.command("capacity")
@click.option("--nodes", default=5000)
@click.option("--repeat", default=5)
@click.option("--release", "releases", multiple=True, default=("1.12", "1.14", "1.16", "1.27"))
@click.option("--percentage", default=0, help="Of nodes to score; 0: as the release does.")
def count(nodes: int, repeat: int, releases: tuple[str, ...], percentage: int) -> None:
    """How long it takes to count that a pod fits 20 times on each node: medians, of a cluster that was read, and with reading."""
    documents = list(CaseSize(nodes=nodes, existing=0).case("1.16")["objects"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": documents}), encoding="utf-8")
        cluster = Cluster.load(path)
        for release in releases:
            options = options_of({"release": release, "percentage_of_nodes_to_score": percentage})
            runs = [[timed(lambda: capacity(given, COPIED, scheduler=options)) for given in (cluster, path)] for _ in range(repeat)]  # noqa: B023
            counted, read = (statistics.median(run[at][0] for run in runs) for at in (0, 1))
            fits = runs[0][0][1].fits
            say(release=release, fits=fits, cpu_seconds=counted, with_reading=read, calibration=calibration())


@main.command()
@click.argument("case", type=FILE)
@click.option("--release", default="1.16")
def details(case: Path, release: str) -> None:
    """How many pods of a case are decided a second with all details: each node's reasons and scores."""
    document = read_case(case, release)
    run, waiting = Run(build(document, {}), details=True), [item for _, item in read_items(document) if isinstance(item, Pod)]
    settle(run)
    seconds, found = timed(lambda: [run.cycle(pod).details is not None for pod in waiting])
    assert all(found)
    say(pods=len(found), cpu_seconds=seconds, loop_pods_per_s=len(found) / seconds, calibration=calibration())


@main.command()
@click.option("--kind", type=click.Choice(list(FORMS)), default="basic")
@click.option("--nodes", default=15_000)
@click.option("--existing", default=300_000)
@click.option("--templates", default=1)
def memory(**size: Any) -> None:
    """What a scheduler of a large cluster holds: the most memory ever held, and the megabytes of the kinds of objects that take most."""
    before = peak_rss_mb()
    engine = build(CaseSize(**size).case("1.16"), {})
    engine.warm()
    held: Counter[str] = Counter()
    for item in gc.get_objects():
        held[type(item).__name__] += sys.getsizeof(item)
    most = {kind: round(size / 1e6, 1) for kind, size in held.most_common(10)}
    say(start_mb=before, peak_mb=peak_rss_mb(), pods=sum(len(info.pods) for info in engine.cache.infos.values()), by_type_mb=most)


@main.command()
@click.argument("nodes", type=FILE)
@click.argument("pods", type=FILE)
@click.option("--release", default="1.16")
@click.option("--preemption", is_flag=True, help="Make room for pods of higher priority.")
def openb(nodes: Path, pods: Path, release: str, preemption: bool) -> None:
    """Place the openb trace: the loop alone."""
    run = Run(engine_for(release, {"percentageOfNodesToScore": 100, "preemption": preemption}), details=False)
    items = [decode(document, strict=False) for document in manifests(nodes, pods)["items"]]
    waiting = [item for item in items if isinstance(item, Pod)]
    for item in items:
        if item is not None and not isinstance(item, Pod):
            run.feed.put(item)
    settle(run)
    seconds, placed = timed(lambda: sum(run.cycle(pod).host is not None for pod in waiting))
    say(pods=len(waiting), placed=placed, cpu_seconds=seconds, pods_per_s=len(waiting) / seconds)


@main.command()
@click.option("--nodes", "sizes", multiple=True, type=int, default=(5000,))
@click.option("--pods", default=30, help="Bound pods a node, all of lower priority.")
@click.option("--preemptors", type=click.IntRange(2), default=40, help="Pods that wait.")
@click.option("--release", "releases", multiple=True, default=("1.16", "1.27"))
def preemption(sizes: tuple[int, ...], pods: int, preemptors: int, releases: tuple[str, ...]) -> None:
    """How long one attempt at preemption takes: the first, the median of the others, the best, and its ratio to the first line.

    Every pod that waits finds all nodes full. Each release has a scheduler for each size, and they take turns pod by pod, so that all of
    them see the same machine. Victims leave at once, and the pod stays nominated.
    """
    cases = [
        (release, nodes, CaseSize(kind="preemption", nodes=nodes, existing=nodes * pods, pods=preemptors).case(release))
        for release, nodes in product(releases, sizes)
    ]
    runs = [Run(build(case, {}), details=False) for _, _, case in cases]
    for run in runs:
        run.engine.snapshot.refresh()
    settle()
    times: list[list[float]] = [[] for _ in runs]
    for waiting in zip(*(read_items(case) for _, _, case in cases), strict=True):
        for run, (_, pod), taken in zip(runs, waiting, times, strict=True):
            assert isinstance(pod, Pod)
            seconds, decision = timed(lambda: run.cycle(pod))  # noqa: B023
            taken.append(1000 * seconds)
            if decision.preemption is None or decision.preemption.node is None:
                raise click.ClickException(f"pod {decision.pod.key} preempted nobody: {decision.error}")
    typical = [statistics.median(taken[1:]) for taken in times]
    for (release, nodes, _), taken, median in zip(cases, times, typical, strict=True):
        say(release=release, nodes=nodes, first_ms=taken[0], median_ms=median, best_ms=min(taken), ratio=median / typical[0])


@main.command()
@click.argument("nodes", type=FILE)
@click.argument("pods", type=FILE)
@click.option("--runs", default=64, help="How many configurations, a multiple of 4.")
@click.option("--repeat", default=3)
def sweep(nodes: Path, pods: Path, runs: int, repeat: int) -> None:
    """How many times as fast a sweep of the openb trace is in two processes as in one, with the load of the machine beside it."""
    grid = {"release": ["1.14", "1.16"], "percentage": [50, 100], "order": "shuffled", "seed": list(range(runs // 4))}
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder) / "openb.json"
        kubeclassic.traces.import_openb(nodes, pods).write(cluster)
        for _ in range(repeat):
            walls, cpus, rows = zip(*(swept({"cluster": str(cluster), "grid": grid}, jobs) for jobs in (1, CORES)), strict=True)
            assert rows[0] == rows[1]
            say(runs=len(rows[0]), wall_seconds=walls, cpu_seconds=cpus, times=walls[0] / walls[1], load=os.getloadavg()[0])


def swept(spec: Json, jobs: int) -> tuple[float, float, tuple[Json, ...]]:
    """Wall time and processor time of all processes of a sweep, and its rows."""
    began, before = time.perf_counter(), sum(os.times()[:4])
    rows = kubeclassic.sweep(spec, jobs=jobs).rows
    return round(time.perf_counter() - began, 2), round(sum(os.times()[:4]) - before, 2), rows


if __name__ == "__main__":
    main()
