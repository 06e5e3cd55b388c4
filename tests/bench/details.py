"""Decides the pods of a case with all details (each node's reasons and scores) and says how many a second; one line of JSON."""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path

from kubeclassic.core.run import Run
from kubeclassic.simulation.bench.bench import calibration
from kubeclassic.simulation.bench.cases import read_case
from kubeclassic.simulation.conform import build, read_items


def main() -> None:
    """Print pods, CPU seconds, pods a second and the calibration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", type=Path)
    parser.add_argument("--release", default="1.16")
    options = parser.parse_args()
    case = read_case(options.case, options.release)
    run = Run(build(case, {}), details=True)
    waiting = [item for _, item in read_items(case)]
    run.engine.warm()
    gc.collect()
    gc.freeze()
    started = time.process_time()
    for pod in waiting:
        decision = run.cycle(pod)
        assert decision.details is not None
    seconds = time.process_time() - started
    found = {"pods": len(waiting), "cpu_seconds": round(seconds, 2), "loop_pods_per_s": round(len(waiting) / seconds, 1)}
    sys.stdout.write(json.dumps({**found, "calibration": calibration()}) + "\n")


if __name__ == "__main__":
    main()
