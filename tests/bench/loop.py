"""The timing of the scheduling loop on one case, printed as a line of JSON.

    python tests/bench/loop.py [--repeat N] [--check HOSTS] [--release R] [--bare] CASE

``cpu_seconds`` is processor time of the first snapshot of the cluster and of all decisions, the median of the
runs; ``loop_seconds`` that of the decisions alone, the best run; ``calibration`` that of a fixed loop, a
measure of the machine. Pods have the fields that admission and controllers add, above all a token volume;
with ``--bare`` they are as in the file. With ``--check`` each pod must get its host in the file, else the
exit status is 1.
"""

import argparse
import gc
import json
import sys
import time
from pathlib import Path
from statistics import median

import attrs
import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kubeclassic.api.garbage import settled
from kubeclassic.api.reading.documents import parsed
from kubeclassic.api.reading.formats.files import read_file
from kubeclassic.core.run import Run
from kubeclassic.exceptions import KubeclassicError, ManifestError
from kubeclassic.simulation.conform import build, decisions, read_items
from tests.bench.cases import read_case

SHOWN = 5
"""The number of pods with another host that are named."""


@attrs.frozen
class Timing:
    """One run over a case, in seconds of processor time."""

    hosts: dict
    load_seconds: float
    prepare_seconds: float
    loop_seconds: float

    @property
    def cpu_seconds(self):
        """The processor time of the loop with the first snapshot."""
        return self.prepare_seconds + self.loop_seconds

    @property
    def rate(self):
        """Pods per second of the loop alone."""
        return len(self.hosts) / self.loop_seconds


def timed(case):
    """Load *case* and time its decisions, which are made without the details of every node."""
    gc.collect()
    begun = time.process_time()
    run = Run(build(case, {}), details=False)
    items = read_items(case, keeps_manifests=bool(run.engine.extenders))
    loaded = time.process_time()
    with settled():
        began = time.process_time()
        run.engine.warm()
        prepared = time.process_time()
        made = list(decisions(run, items, case.get("nominated") or {}))
        ended = time.process_time()
    hosts = {decision.pod.key: decision.host for decision in made}
    return Timing(hosts, loaded - begun, prepared - began, ended - prepared)


def calibration():
    """Seconds of processor time for a fixed loop of Python and numpy, best of three: a measure of the
    machine."""
    return round(min(_fixed_loop() for _ in range(3)), 4)


def _fixed_loop():
    started = time.process_time()
    counts = {}
    for number in range(300_000):
        counts[number % 997] = counts.get(number % 997, 0) + number
    numbers = np.arange(5_000, dtype=np.int64)
    for _ in range(2_000):
        numbers = np.where(numbers % 3 == 0, numbers + 7, numbers - 1)
    return time.process_time() - started


def read_hosts(path, release):
    """The hosts that pods should get: ``{"pods": [...], "hosts": [...]}``, or hosts by release."""
    try:
        (document,) = parsed(read_file(str(path)), str(path))
        hosts = document["hosts"]
        return dict(zip(document["pods"], hosts[release] if isinstance(hosts, dict) else hosts, strict=True))
    except (ValueError, KeyError, TypeError):
        raise ManifestError(
            f'{path}: expected {{"pods": [...], "hosts": [...]}} with hosts of {release}, got none'
        ) from None


def differing(found, wanted):
    """A line for each pod with another host than it should have. A pod may be given by its name without
    namespace."""
    by_name = {key.partition("/")[2]: host for key, host in found.items()}
    for pod, host in wanted.items():
        known = found if "/" in pod else by_name
        if pod not in known:
            yield f"pod {pod}: not in the case"
        elif known[pod] != (host or None):
            yield f"pod {pod}: expected {host}, got {known[pod]}"
    if len(wanted) < len(found):
        yield f"expected {len(wanted)}, got {len(found)} pods"


def main(words=None):
    """Time, check and print; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "case",
        type=Path,
        metavar="CASE",
        help="a conformance case, or manifests, whose pods without a node wait",
    )
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs (default: 5)")
    parser.add_argument(
        "--check", type=Path, metavar="HOSTS", help="a file with the host that each pod must get"
    )
    parser.add_argument("--release", metavar="R", help="in place of the release of the case")
    parser.add_argument("--bare", action="store_true", help="leave pods as the file has them")
    asked = parser.parse_args(words)
    if asked.repeat < 1:
        parser.error(f"--repeat: expected 1 or more, got {asked.repeat}")
    try:
        case = read_case(asked.case, asked.release, bare=asked.bare)
        wanted = None if asked.check is None else read_hosts(asked.check, case["version"])
        runs = [timed(case) for _ in range(asked.repeat)]
    except KubeclassicError as error:
        parser.error(str(error))
    others = (
        [] if wanted is None else next(filter(None, (list(differing(run.hosts, wanted)) for run in runs)), [])
    )
    if others:
        click.echo("\n".join(f"{asked.check}: {line}" for line in others[:SHOWN]), err=True)
        click.echo(f"{asked.check}: {len(others)} of {len(runs[0].hosts)} pods differ", err=True)
        return 1
    figures = {
        "pods": len(runs[0].hosts),
        "cpu_seconds": round(median(run.cpu_seconds for run in runs), 4),
        "loop_seconds": round(min(run.loop_seconds for run in runs), 4),
        "calibration": calibration(),
    }
    click.echo(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
