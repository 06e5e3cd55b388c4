"""Loads a dump as ``kubectl`` prints it and says what that took; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measured(path: Path, feed: bool) -> dict[str, float]:
    """Load *path* in this process, and feed a scheduler with it; processor seconds and the most memory ever held."""
    from kubeclassic.algorithmprovider import RELEASES, resolve
    from kubeclassic.api.load import load
    from kubeclassic.core.classic import classic_engine
    from kubeclassic.core.feed import EventFeed

    before, started = _peak_mb(), time.process_time()
    objects = load(path).objects
    loaded, peak = time.process_time() - started, _peak_mb()
    found = {"objects": len(objects), "load_cpu_seconds": round(loaded, 2), "load_peak_mb": peak, "start_mb": before}
    if feed:
        started = time.process_time()
        engine = classic_engine(resolve(RELEASES["1.16"]))
        EventFeed(engine).put_all(objects)
        engine.warm()
        found |= {"feed_cpu_seconds": round(time.process_time() - started, 2), "peak_mb": _peak_mb()}
    return found


def _peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def main() -> None:
    """Make a dump, load it in a process of its own and print one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--file", type=Path, help="load this instead of a dump of our own making")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        sys.stdout.write(json.dumps(measured(arguments.measure, feed=True)) + "\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.file or Path(folder) / "dump.json"
        if arguments.file is None:
            sys.path.insert(0, str(HERE))
            from dump import write_dump

            write_dump(path, arguments.nodes, arguments.pods)
        line = subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True, capture_output=True, text=True).stdout
        sys.stdout.write(json.dumps({"file_mb": round(path.stat().st_size / 1e6, 1), **json.loads(line)}) + "\n")


if __name__ == "__main__":
    main()
