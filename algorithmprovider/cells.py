"""Behaviours for the cells of ``releases.py``, each named after its effect, and tie-breaks that replace a
release's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..api.meaning import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE, Labels, SelectorError
from ..core.arrays import Ints, rounded
from ..core.decision import PickHost, TopOfHeap
from ..core.release import Release

FEWEST_NODES = 100
"""The fewest feasible nodes to look for; a smaller cluster is searched completely."""


@lru_cache(1 << 10)
def fixed_share(nodes: int, percentage: int) -> int:
    """The number of feasible nodes to find: *percentage* of *nodes*; 0 means all of them."""
    if nodes < FEWEST_NODES or percentage <= 0 or percentage >= 100:
        return nodes
    return max(FEWEST_NODES, nodes * percentage // 100)


@lru_cache(1 << 10)
def adaptive_share(nodes: int, percentage: int) -> int:
    """The number of feasible nodes to find: *percentage* of *nodes*; 0 means a share that falls as the
    cluster grows, to 5 percent."""
    return fixed_share(nodes, percentage if percentage > 0 else max(5, 50 - nodes // 125))


def round_robin(ties: int, times: int) -> tuple[int, bool]:
    """The place among *ties* equally good nodes, which take turns, and that this choice counts. *times*: the
    choices that counted before."""
    return times % ties, True


def first_best(ties: int, times: int) -> tuple[int, bool]:
    """The place among *ties* equally good nodes: the first; the original takes one at random."""
    return 0, False


def listed(texts: Sequence[str]) -> str:
    """Several errors as one text: ``[a, b]``; a single one without brackets."""
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def listed_once(texts: Sequence[str]) -> str:
    """As :func:`listed`, with equal texts shown once."""
    return listed(list(dict.fromkeys(texts)))


def missing_plugins(points: str, plugin_name: str) -> Mapping[str, str]:
    """The cells that refuse a plugin at each of *points*; *plugin_name*: its name in messages."""
    words = {"queueSort": "queue sort", "postFilter": "post-filter"}
    return {
        point: f"{words.get(point, point.lower())} plugin {plugin_name} does not exist"
        for point in points.split()
    }


def truncated_mean(scores: Ints, weights: Ints) -> Ints:
    """The mean over the resources of *scores*, int64[R, n], cut to whole numbers; *weights* do not count."""
    return np.asarray(scores.sum(axis=0) // len(scores), np.int64)


def rounded_mean(scores: Ints, weights: Ints) -> Ints:
    """The mean of *scores*, int64[R, n], by *weights*, int64[R, n], halves rounded away from 0; 0 where no
    weight is above 0."""
    total = (scores * weights).sum(axis=0)
    weight = weights.sum(axis=0)
    return np.where(weight == 0, 0, rounded(total / np.where(weight == 0, 1, weight)))


def rounded_mean_of_positive(scores: Ints, weights: Ints) -> Ints:
    """As :func:`rounded_mean` over the resources that score above 0; *weights*: int64[R]."""
    return rounded_mean(scores, (scores > 0) * weights[:, None])


def without_key(error: SelectorError) -> str:
    """The text of an invalid selector, without the key of a bad value."""
    return error.without_key


def with_key(error: SelectorError) -> str:
    """The text of an invalid selector, with the key of a bad value."""
    return str(error)


def beta_zone_key(labels: Labels) -> str:
    """The zone of a node: region and zone of the beta failure-domain labels; empty without either."""
    region = labels.get(BETA_REGION, "")
    zone = labels.get(BETA_ZONE, "")
    return f"{region}:\x00:{zone}" if region or zone else ""


def zone_key(labels: Labels) -> str:
    """The zone key of a node: region and zone, each from the beta label if present, else from the newer
    label; empty without both."""
    zone = labels.get(BETA_ZONE, labels.get(TOPOLOGY_ZONE, ""))
    region = labels.get(BETA_REGION, labels.get(TOPOLOGY_REGION, ""))
    return f"{region}:\x00:{zone}" if region or zone else ""


class RandomPick:
    """A random choice among equally good nodes; its state can be saved."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def __call__(self, ties: int, times: int) -> tuple[int, bool]:
        return self._draw.randrange(ties), False


TIE_BREAKS: dict[str, Callable[[Release, int], PickHost]] = {
    "release": lambda release, seed: release.pick_host,
    "round-robin": lambda release, seed: round_robin,
    "first": lambda release, seed: first_best,
    "random": lambda release, seed: RandomPick(seed),
}
"""Name -> (release, seed) -> which of the best; see :attr:`~kubeclassic.core.engine.Engine.pick_host`."""


def in_words(release: Release, pick: PickHost) -> str:
    """The choice that *pick* makes among several best nodes, in words that follow "of these" or "of several
    best nodes".

    >>> from .releases import RELEASES
    >>> in_words(RELEASES["1.15"], RELEASES["1.15"].pick_host)
    'each gets its turn, as in the original'
    """
    is_own = pick == release.pick_host
    if pick is round_robin:
        return f"each gets its turn{', as in the original' if is_own else ''}"
    if pick is first_best:
        return f"the first in visiting order is taken{'; the original takes one at random' if is_own else ''}"
    if isinstance(pick, TopOfHeap):
        return (
            f"the one on top of the heap of scored nodes is taken{', as in the original' if is_own else ''}"
        )
    return "one is drawn at random" if isinstance(pick, RandomPick) else "a rule of your own picks one"
