"""Sweep configurations of the openb trace in one process and in two, in turns, and print how many times as fast two are.

Wall times of a busy machine say little, so the load beside them is printed too, and what both runs took of the processors together.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import click

import kubeclassic

CORES = 2


def main() -> None:
    """Print a line a pair, and the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", type=Path)
    parser.add_argument("pods", type=Path)
    parser.add_argument("--runs", type=int, default=64, help="how many configurations, a multiple of 4")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        manifests = Path(folder) / "openb.json"
        kubeclassic.traces.import_openb(options.nodes, options.pods).write(manifests)
        spec = spec_of(str(manifests), options.runs)
        ratios = [pair(spec) for _ in range(options.repeat)]
    click.echo(f"median: {statistics.median(ratios):.2f} times")


def spec_of(cluster: str, runs: int) -> dict[str, Any]:
    """A sweep of so many configurations."""
    grid = {"release": ["1.14", "1.16"], "percentage": [50, 100], "order": "shuffled", "seed": list(range(runs // 4))}
    return {"cluster": cluster, "grid": grid}


def pair(spec: dict[str, Any]) -> float:
    """One process, then two: the ratio of their wall times. Both must come to the same table."""
    one, first = timed(spec, 1)
    two, second = timed(spec, CORES)
    assert first == second
    told = [f"{wall:.1f} s (CPU {cpu:.1f} s)" for wall, cpu in (one, two)]
    click.echo(f"{len(first)} runs: one process {told[0]}, {CORES} processes {told[1]}, load {os.getloadavg()[0]:.1f}")
    return one[0] / two[0]


def timed(spec: dict[str, Any], jobs: int) -> tuple[tuple[float, float], tuple[dict[str, Any], ...]]:
    """Wall time and processor time of all its processes, and the rows."""
    started, before = time.perf_counter(), sum(os.times()[:4])
    rows = kubeclassic.sweep(spec, jobs=jobs).rows
    return (time.perf_counter() - started, sum(os.times()[:4]) - before), rows


if __name__ == "__main__":
    main()
