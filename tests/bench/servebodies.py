"""Bodies of any form, many of them: how the extender server answers, by status. Anything but 2xx and 4xx ends it.

The bodies are those of the tests (``tests/support/serverbodies.py``), each asked of one release in turn.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import click
from hypothesis import HealthCheck, Phase, given, settings

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
import conftest  # noqa: E402, F401  # makes the helpers importable as tests.*

from tests.support.serverbodies import calls  # noqa: E402
from tests.support.serverbuild import Caller, three_nodes  # noqa: E402


def main() -> None:
    """Ask, and print how many answers there were of each status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--release", nargs="+", default=["1.12", "1.16", "1.27"])
    asked = parser.parse_args()
    callers = [Caller.of(three_nodes(release=release)) for release in asked.release]
    statuses: Counter[int] = Counter()

    @settings(max_examples=asked.count, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(call=calls())
    def ask(call: tuple[str, bytes]) -> None:
        path, body = call
        found = callers[sum(statuses.values()) % len(callers)].post(path, body)
        statuses[found.status_code] += 1
        assert 200 <= found.status_code < 300 or 400 <= found.status_code < 500, (found.text, path, body)

    ask()
    click.echo(f"{sum(statuses.values())} bodies: {', '.join(f'{status}: {count}' for status, count in sorted(statuses.items()))}")


if __name__ == "__main__":
    main()
