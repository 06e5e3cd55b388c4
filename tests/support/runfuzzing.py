"""Entry points of fuzzing for runs: replays that are resumed from a checkpoint, and sweeps."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from itertools import islice
from pathlib import Path

import kubeclassic
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.simulation.replay.checkpoint import Header, load
from kubeclassic.simulation.replay.inputs.inputs import Inputs
from kubeclassic.simulation.replay.recording import Recording
from kubeclassic.simulation.replay.replay import Replay
from kubeclassic.simulation.replay.settings import Places
from tests.support.questionfuzzing import EXAMPLES, Entry, bytes_of, file_with
from tests.support.replaybuild import BUSY, engine, of_file

RELEASES = ("1.15", "1.27")
STEPS = 40
"""Of a replay, after it was resumed."""
MOST_RUNS = 8
"""Of a sweep."""
SMALL = BUSY.replace("count: 25", "count: 3")
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


@cache
def _folder() -> Path:
    """A folder of this process, with what two stopped replays have written."""
    folder = Path(tempfile.mkdtemp(prefix="kubeclassic-fuzz-"))
    for release in RELEASES:
        made = _recording(_places(folder, release), release)
        made.begin()
        for _ in islice(made.run(), 90):
            pass
        made.save()
        made.close()
    return folder


def _places(folder: Path, name: str) -> Places:
    return Places(
        events=folder / f"{name}.jsonl", series=folder / f"{name}.csv", checkpoint=folder / f"{name}.state", checkpoint_every=10**9
    )


def _header(release: str) -> Header:
    return Header(inputs="digest", options={"--release": release, "--seed": "1"})


def _recording(where: Places, release: str) -> Recording:
    return Recording(Replay(_inputs(), engine(release), seed=1), where, _header(release))


@cache
def _inputs() -> Inputs:
    folder = Path(tempfile.mkdtemp(prefix="kubeclassic-fuzz-"))
    found = of_file(folder, SMALL)
    shutil.rmtree(folder)
    return found


def _resume(content: bytes) -> None:
    """Go on from a checkpoint beside the results that were there when it was made."""
    release = "1.27" if b'"1.27"' in content[:2000] else "1.15"
    where = _places(file_with(content, f"{release}.state").parent, release)
    for path in (where.events, where.series):
        assert path is not None
        shutil.copyfile(_folder() / path.name, path)
    made = _recording(where, release)
    try:
        assert where.checkpoint is not None
        made.begin(load(where.checkpoint))
        for _ in islice(made.run(), STEPS):
            pass
    finally:
        made.close()


def _sweep(content: bytes) -> None:
    def check(done: int, total: int) -> None:
        if total > MOST_RUNS:
            raise KubeclassicError("more runs than a try may take")

    kubeclassic.sweep(file_with(content, "sweep.yaml"), on_progress=check)


def _sweeps() -> list[bytes]:
    places = {"cluster": EXAMPLES / "cluster", "policy": EXAMPLES / "policies" / "bin-packing.yaml"}
    return [text.format_map(places).encode() for text in SWEEPS]


RUNS: Mapping[str, Entry] = {
    "resume": Entry(_resume, lambda: bytes_of(*(_folder() / f"{release}.state" for release in RELEASES))),
    "sweep": Entry(_sweep, _sweeps),
}
