"""Many tries with input that was changed at random: what came of them by entry point; whatever is undocumented is saved.

    python tests/bench/fuzz.py --tries 1000 --memory 1500 scenario cases

Each entry point runs in a process of its own with *memory* MiB of address space. Exit status 1 if anything was undocumented.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def run(entry: str, tries: int, first: int, memory: int, folder: str) -> Counter[str]:
    """The outcomes of so many tries, from seed *first* on."""
    from tests import conftest  # noqa: F401  # makes the package and its helpers importable
    from tests.support.fuzzing import ANSWER, REFUSED, changed, tried

    resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + tries):
        content = changed(entry, seed)
        outcome = tried(entry, content)
        if outcome not in (ANSWER, REFUSED) and not outcomes[outcome]:
            Path(folder).mkdir(parents=True, exist_ok=True)
            Path(folder, f"{entry}-{seed}-{hashlib.sha256(content).hexdigest()[:8]}").write_bytes(content)
        outcomes[outcome] += 1
    return outcomes


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", nargs="*", help="entry points; all without any")
    parser.add_argument("--tries", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--memory", type=int, default=1500, help="MiB of address space")
    parser.add_argument("--save", default="fuzz", help="where input with undocumented outcomes goes")
    given = parser.parse_args()
    from tests import conftest  # noqa: F401
    from tests.support.fuzzing import ANSWER, ENTRY_POINTS, REFUSED

    strange = False
    for entry in given.entries or ENTRY_POINTS:
        with get_context("spawn").Pool(1) as pool:
            outcomes = pool.apply(run, (entry, given.tries, given.first, given.memory, given.save))
        strange |= bool(outcomes.keys() - {ANSWER, REFUSED})
        told = ", ".join(f"{count} x {outcome}" for outcome, count in outcomes.most_common())
        sys.stdout.write(f"{entry}: {told}\n")
        sys.stdout.flush()
    sys.exit(strange)


if __name__ == "__main__":
    main()
