"""Many tries with input that was changed at random: what came of them by entry point; whatever is undocumented is saved.

    python tests/bench/fuzz.py --tries 1000000 --log fuzz.log
    python tests/bench/fuzz.py --tries 5000 --log fuzz.log scenario cases
    python tests/bench/fuzz.py --log fuzz.log --tries 0

Entry points get shares of the tries, slow ones smaller shares. Tries run in rounds, each in a process of its own: one that dies or stands
still is an outcome too. The log has one line a round, so a later run goes on with seeds that no earlier one had, and the counts at the end
are those of all runs. Exit status 1 if anything was undocumented.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import resource
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import conftest  # noqa: F401  # makes the package and its helpers importable
from tests.support.fuzzing import ANSWER, ENTRY_POINTS, REFUSED, changed, seeds, tried

SHARES = {"decisions": 1, "cases": 1, "manifests": 4, "profile": 4, "scenario": 8}
"""Of how many parts each entry point gets; all others have :data:`USUAL_SHARE`."""
USUAL_SHARE = 10
ROUND = 5000
STANDSTILL = 30
"""Seconds without a new try after which a process is ended: it hangs where no signal reaches it."""
GROWTH = 500
"""MiB that a process may have more than before the round."""


def run(entry: str, first: int, tries: int, memory: int, folder: Path, at: mmap.mmap) -> Counter[str]:
    """The outcomes of so many tries, from seed *first* on; *at* has the seed that is tried."""
    resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
    outcomes: Counter[str] = Counter()
    allowed = _peak() + GROWTH
    for seed in range(first, first + tries):
        at[:8] = struct.pack("q", seed)
        content = changed(entry, seed)
        outcome = tried(entry, content)
        if _peak() > allowed:
            outcome, allowed = f"more than {GROWTH} MiB", _peak() + GROWTH
        if outcome not in (ANSWER, REFUSED) and outcomes[outcome] < 3:
            _keep(folder, entry, seed, content)
        outcomes[outcome] += 1
    return outcomes


def _peak() -> int:
    """The most MiB that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _keep(folder: Path, entry: str, seed: int, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{entry}-{seed}-{hashlib.sha256(content).hexdigest()[:8]}").write_bytes(content)


def _in_child(entry: str, first: int, tries: int, memory: int, folder: Path, at: mmap.mmap, sender: Any) -> None:
    sender.send(run(entry, first, tries, memory, folder, at))


def watched(entry: str, first: int, tries: int, memory: int, folder: Path) -> tuple[int, Counter[str]]:
    """Run a round in a process of its own: how many tries it got to, and their outcomes. One that ends the process is one of them."""
    at = mmap.mmap(-1, 8)
    at[:8] = struct.pack("q", first)
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(entry, first, tries, memory, folder, at, sender))
    child.start()
    sender.close()
    ended = _waited(child, receiver, at)
    if ended is None:
        try:
            found = receiver.recv()
        except EOFError:
            child.join()
            ended = f"the process ended with status {child.exitcode}"
        else:
            child.join()
            return tries, found
    (last,) = struct.unpack("q", at[:8])
    _keep(folder, entry, last, changed(entry, last))
    return last - first + 1, Counter({"lost with its process": last - first, ended: 1})


def _waited(child: Any, receiver: Any, at: mmap.mmap) -> str | None:
    """None as soon as the process has something to say or has ended; what is wrong if it stands still."""
    seen, since = at[:8], time.monotonic()
    while not receiver.poll(1):
        if at[:8] != seen:
            seen, since = at[:8], time.monotonic()
        elif time.monotonic() - since > STANDSTILL:
            child.kill()
            child.join()
            return f"no end within {STANDSTILL} s"
    return None


# --- the log --------------------------------------------------------------------------------------------------------


def logged(log: Path) -> Iterator[dict[str, Any]]:
    """The rounds of all runs so far."""
    if log.exists():
        yield from map(json.loads, log.read_text(encoding="utf-8").splitlines())


def totals(log: Path) -> dict[str, Counter[str]]:
    """The outcomes of all runs by entry point."""
    found: dict[str, Counter[str]] = {entry: Counter() for entry in ENTRY_POINTS}
    for line in logged(log):
        found[line["entry"]].update(line["outcomes"])
    return found


def rounds(entries: list[str], tries: int, log: Path, first: int) -> Iterator[tuple[str, int, int]]:
    """(entry point, first seed, tries) of each round of a run; the entry points take turns."""
    shares = {entry: SHARES.get(entry, USUAL_SHARE) for entry in entries}
    left = {entry: tries * share // sum(shares.values()) for entry, share in shares.items()}
    start = dict.fromkeys(entries, first)
    for line in logged(log):
        if line["entry"] in start:
            start[line["entry"]] = max(start[line["entry"]], line["first"] + line["tries"])
    while any(left.values()):
        for entry in filter(left.get, entries):
            size = min(left[entry], ROUND)
            yield entry, start[entry], size
            left[entry] -= size
            start[entry] += size


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entries", nargs="*", help="entry points; all without any")
    parser.add_argument("--tries", type=int, default=12000)
    parser.add_argument("--first", type=int, default=0, help="the lowest seed")
    parser.add_argument("--memory", type=int, default=2000, help="MiB of address space")
    parser.add_argument("--save", type=Path, default=Path("fuzz"), help="where input with undocumented outcomes goes")
    parser.add_argument("--log", type=Path, default=Path("fuzz.log"), help="where the counts of rounds are added")
    given = parser.parse_args()
    entries = given.entries or list(ENTRY_POINTS)
    for entry in entries:  # what is imported and kept here is there in every process
        tried(entry, seeds(entry)[0])
    for entry, first, tries in list(rounds(entries, given.tries, given.log, given.first)):
        done = 0
        while done < tries:  # a process that ended takes the rest of its round along
            begun = time.monotonic()
            came, outcomes = watched(entry, first + done, tries - done, given.memory, given.save)
            took = round(time.monotonic() - begun, 1)
            told = {"entry": entry, "first": first + done, "tries": came, "seconds": took, "outcomes": outcomes}
            with given.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
            done += came
    strange = False
    for entry, outcomes in totals(given.log).items():
        strange |= bool(outcomes.keys() - {ANSWER, REFUSED})
        came_of_it = ", ".join(f"{count:,} x {outcome}" for outcome, count in outcomes.most_common())
        sys.stdout.write(f"{entry}: {outcomes.total():,} tries: {came_of_it}\n")
    sys.exit(strange)


if __name__ == "__main__":
    main()
