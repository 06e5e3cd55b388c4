"""What a scheduler of a large cluster holds in memory, and what of it is what; see README.md beside this file."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections import Counter

from kubeclassic.simulation.bench.bench import peak_rss_mb
from kubeclassic.simulation.bench.cases import FORMS, CaseSize
from kubeclassic.simulation.conform import build


def main() -> None:
    """Feed a scheduler and print one line of JSON: the most memory ever held, and the megabytes of the kinds of objects that take most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(FORMS), default="basic")
    parser.add_argument("--nodes", type=int, default=15_000)
    parser.add_argument("--existing", type=int, default=300_000)
    parser.add_argument("--templates", type=int, default=1)
    arguments = parser.parse_args()
    before = peak_rss_mb()
    engine = build(CaseSize(**vars(arguments)).case("1.16"), {})
    engine.warm()
    held: Counter[str] = Counter()
    for item in gc.get_objects():
        held[type(item).__name__] += sys.getsizeof(item)
    most = {kind: round(size / 1e6, 1) for kind, size in held.most_common(10)}
    pods = sum(len(info.pods) for info in engine.cache.infos.values())
    found = {"start_mb": before, "peak_mb": peak_rss_mb(), "pods": pods, "by_type_mb": most}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
