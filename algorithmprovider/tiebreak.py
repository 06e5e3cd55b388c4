"""Which of several best nodes a pod gets: by the release's rule, or by another one for comparison."""

from __future__ import annotations

import random
from collections.abc import Callable

from ..core.decision.ties import PickHost
from ..core.release import Release
from .cells import first_best, round_robin


class _Lottery:
    """Takes one at random; its state can be saved."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def __call__(self, ties: int, times: int) -> tuple[int, bool]:
        return self._draw.randrange(ties), False


TIE_BREAKS: dict[str, Callable[[Release, int], PickHost]] = {
    "release": lambda release, seed: release.pick_host,
    "round-robin": lambda release, seed: round_robin,
    "first": lambda release, seed: first_best,
    "random": lambda release, seed: _Lottery(seed),
}
"""Name -> (release, seed) -> which of the best; see :attr:`~kubeclassic.core.engine.Engine.pick_host`."""


def in_words(release: Release, pick: PickHost) -> str:
    """Which of several best nodes *pick* takes, in words that follow "of these" or "of several best nodes".

    >>> from .releases import RELEASES
    >>> in_words(RELEASES["1.15"], RELEASES["1.15"].pick_host)
    'each gets its turn, as in the original'
    """
    if pick is round_robin:
        return "each gets its turn" + (", as in the original" if release.pick_host is round_robin else "")
    if pick is first_best:
        return "the first in visiting order is taken" + ("; the original takes one at random" if release.pick_host is first_best else "")
    return "one is drawn at random" if isinstance(pick, _Lottery) else "a rule of your own picks one"
