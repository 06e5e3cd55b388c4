"""How long `capacity` takes to count: 5,000 nodes of 4 cpu, and a pod of 200m that fits 100,000 times; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kubeclassic import Cluster, capacity
from kubeclassic.framework.options import options_of
from kubeclassic.simulation.bench.bench import calibration
from kubeclassic.simulation.bench.cases import CaseSize

RELEASES = ("1.12", "1.14", "1.16", "1.27")
TEMPLATE = {
    "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "img", "resources": {"requests": {"cpu": "200m", "memory": "500Mi"}}}]},
}  # fmt: skip


def seconds(cluster: Any, release: str, percentage: int) -> tuple[float, int]:
    """Processor time of one count, and how many fit."""
    began = time.process_time()
    found = capacity(cluster, TEMPLATE, scheduler=options_of({"release": release, "percentage_of_nodes_to_score": percentage}))
    return time.process_time() - began, found.fits


def main() -> None:
    """Count several times for each release, from a file and from a Cluster, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--release", nargs="*", default=RELEASES)
    parser.add_argument("--percentage", type=int, default=0, help="of nodes to score; 0: as the release does")
    arguments = parser.parse_args()
    documents = list(CaseSize(nodes=arguments.nodes, existing=0).case("1.16")["objects"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": documents}), encoding="utf-8")
        cluster = Cluster.load(path)
        sys.stdout.write(f"calibration {calibration():.3f}; CPU seconds, median of {arguments.repeat}\n")
        sys.stdout.write(f"{'release':>8} {'fits':>8} {'count':>7} {'with reading':>13}\n")
        for release in arguments.release:
            runs = [[seconds(given, release, arguments.percentage) for given in (cluster, path)] for _ in range(arguments.repeat)]
            counted, read = (statistics.median(run[at][0] for run in runs) for at in (0, 1))
            sys.stdout.write(f"{release:>8} {runs[0][0][1]:>8} {counted:>7.2f} {read:>13.2f}\n")


if __name__ == "__main__":
    main()
