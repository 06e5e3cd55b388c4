"""Which of several best nodes a pod gets: by the release's rule, or by another one for comparison."""

from __future__ import annotations

import random
from collections.abc import Callable

from ..core.decision.ties import PickHost
from ..core.release import Release
from .cells import first_best, round_robin


class Lottery:
    """Takes one at random; its state can be saved."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def __call__(self, ties: int, times: int) -> tuple[int, bool]:
        return self._draw.randrange(ties), False


TIE_BREAKS: dict[str, Callable[[Release, int], PickHost]] = {
    "release": lambda release, seed: release.pick_host,
    "round-robin": lambda release, seed: round_robin,
    "first": lambda release, seed: first_best,
    "random": lambda release, seed: Lottery(seed),
}
"""Name -> (release, seed) -> which of the best; see :attr:`~kubeclassic.core.engine.Engine.pick_host`."""
