"""Which of several best nodes a pod gets: as the release has it, or another way for comparison."""

from __future__ import annotations

import random
from collections.abc import Callable

from ..algorithmprovider.cells import first_best, round_robin
from ..core.engine import PickHost
from ..core.release import Release


def _random(release: Release, seed: int) -> PickHost:
    draw = random.Random(seed)
    return lambda ties, times: (draw.randrange(ties), False)


TIE_BREAKS: dict[str, Callable[[Release, int], PickHost]] = {
    "release": lambda release, seed: release.pick_host,
    "round-robin": lambda release, seed: round_robin,
    "first": lambda release, seed: first_best,
    "random": _random,
}
"""Name -> (release, seed) -> which of the best; see :attr:`~kubeclassic.core.engine.Engine.pick_host`."""
