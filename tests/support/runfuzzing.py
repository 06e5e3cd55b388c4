"""Entry points of fuzzing for runs: sweeps."""

from __future__ import annotations

from collections.abc import Mapping

import kubeclassic
from kubeclassic.exceptions import KubeclassicError
from tests.support.questionfuzzing import EXAMPLES, Entry, file_with

MOST_RUNS = 8
"""Of a sweep."""
SWEEPS = (
    """cluster: {cluster}
runs:
- {{name: a}}
- {{name: b, policy: {policy}}}
grid:
  release: ['1.16']
  seed: [0]
objectives: [placed, imbalance]
""",
    """cluster: {cluster}
grid:
  release: ['1.16', '1.27']
  order: shuffled
objectives: [placed, cpu used, zone skew]
""",
    """cluster: {cluster}
grid:
  release: '1.15'
  tie-break: [first, random]
""",
)


def _sweep(content: bytes) -> None:
    def check(done: int, total: int) -> None:
        if total > MOST_RUNS:
            raise KubeclassicError("more runs than a try may take")

    kubeclassic.sweep(file_with(content, "sweep.yaml"), on_progress=check)


def _sweeps() -> list[bytes]:
    places = {"cluster": EXAMPLES / "cluster", "policy": EXAMPLES / "policies" / "bin-packing.json"}
    return [text.format_map(places).encode() for text in SWEEPS]


RUNS: Mapping[str, Entry] = {
    "sweep": Entry(_sweep, _sweeps),
}
