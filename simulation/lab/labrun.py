"""What a state of the lab comes to: where each pod is, why some are nowhere, and how two answers differ, in numbers and in words."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from ...api.reading.notices import Notice
from ...api.record import plain
from ...core.arrays.types import Ints
from ..simulate import Simulation
from ..summary import summarise
from .clusterlayout import ClusterLayout

NOWHERE = -1
MOST_TOLD = 2000
"""That many pods are named where answers differ; all are counted."""


@attrs.define(eq=False)
class NumberedTexts:
    """Texts by number, each once."""

    texts: list[str] = attrs.field(factory=lambda: [""])
    _numbers: dict[str, int] = attrs.field(factory=lambda: {"": 0})

    def number(self, text: str) -> int:
        """The number of *text*, a new one where it was never seen."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found


@attrs.frozen(eq=False)
class LabRun:
    """A finished run. ``hosts``: int64[pods], index of the node or -1; ``whys``: int64[pods], number of the text that says why not."""

    layout: ClusterLayout
    hosts: Ints
    whys: Ints
    summary: dict[str, Any]
    texts: NumberedTexts
    notices: tuple[Notice, ...] = ()
    """What is odd in the cluster, and what of it the release does not read."""

    @classmethod
    def of(cls, simulation: Simulation, layout: ClusterLayout, texts: NumberedTexts) -> LabRun:
        """The answer of a finished *simulation*."""
        hosts, whys = np.array(layout.bound, np.int64), np.zeros(len(layout.bound), np.int64)
        for key, outcome in simulation.outcomes.items():
            at = layout.pod_at[key]
            hosts[at] = NOWHERE if outcome.host is None else layout.node_at.get(outcome.host, NOWHERE)
            whys[at] = 0 if outcome.error is None else texts.number(outcome.error)
        for eviction in simulation.evictions:
            at = layout.pod_at[eviction.pod.key]
            hosts[at], whys[at] = NOWHERE, texts.number(f"evicted to make room for {eviction.by}")
        return cls(layout, hosts, whys, plain(summarise(simulation)), texts)

    def host_of(self, pod: str) -> str | None:
        """The node of a pod, by its key; None: it has none."""
        at = int(self.hosts[self.layout.pod_at[pod]])
        return None if at == NOWHERE else self.layout.nodes[at]

    def record(self, before: LabRun | None) -> dict[str, Any]:
        """As plain data: [pod, node, why] by index of what differs from *before*, or of everything; with the texts that they name."""
        known = 0 if before is None or not self.layout.extends(before.layout) else len(before.hosts)
        changed = np.arange(len(self.hosts))
        if before is not None and known:
            is_other = (self.hosts[:known] != before.hosts) | (self.whys[:known] != before.whys)
            changed = np.concatenate([np.flatnonzero(is_other), changed[known:]])
        rows = np.stack([changed, self.hosts[changed], self.whys[changed]], axis=1)
        named = {number: self.texts.texts[number] for number in set(self.whys[changed].tolist()) if number}
        return {"whole": not known, "plot": self.layout.number, "rows": rows.tolist(), "texts": named}


@attrs.frozen
class RunDifference:
    """How an answer differs from an earlier one, pod by pod: (pod, node before, node after, why it has none)."""

    moved: tuple[tuple[str, str, str], ...]
    lost: tuple[tuple[str, str, str], ...]
    """(pod, node before, why)."""
    found: tuple[tuple[str, str], ...]
    come: tuple[str, ...] = ()
    """Pods that were not there before."""
    gone: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: LabRun, after: LabRun) -> RunDifference:
        """From *before* to *after*."""
        if before.layout.is_like(after.layout):
            changed = np.flatnonzero(before.hosts != after.hosts).tolist()
            pairs = [(at, at) for at in changed]
            return cls._of(before, after, pairs, (), ())
        there, here = before.layout.pod_at, after.layout.pod_at
        pairs = [(at, here[key]) for key, at in there.items() if key in here]
        return cls._of(before, after, pairs, tuple(k for k in here if k not in there), tuple(k for k in there if k not in here))

    @classmethod
    def _of(
        cls, before: LabRun, after: LabRun, pairs: list[tuple[int, int]], come: tuple[str, ...], gone: tuple[str, ...]
    ) -> RunDifference:
        moved, lost, found = [], [], []
        for then, now in pairs:
            was, here = int(before.hosts[then]), int(after.hosts[now])
            old = before.layout.nodes[was] if was != NOWHERE else None
            new = after.layout.nodes[here] if here != NOWHERE else None
            pod = after.layout.pods[now]
            if old == new:
                continue
            if old is not None and new is not None:
                moved.append((pod, old, new))
            elif old is not None:
                lost.append((pod, old, after.texts.texts[int(after.whys[now])]))
            elif new is not None:
                found.append((pod, new))
        return cls(tuple(moved), tuple(lost), tuple(found), come, gone)

    @property
    def words(self) -> str:
        """In one sentence.

        >>> RunDifference((("a", "n1", "n2"),), (("shop/b", "n1", "0/2 nodes are available: 2 Insufficient cpu."),), ()).words
        '1 pod moves, 1 no longer fits: shop/b'
        """
        parts: list[str] = []
        for found, one, several in (
            (self.moved, "moves", "move"), (self.come, "is new", "are new"), (self.gone, "is not there any more", "are not there any more"),
            (self.found, "finds a node now", "find a node now"), (self.lost, "no longer fits", "no longer fit"),
        ):  # fmt: skip
            if found:
                count = f"{len(found):,}" if parts else f"{len(found):,} {'pod' if len(found) == 1 else 'pods'}"
                parts.append(f"{count} {one if len(found) == 1 else several}")
        named = [pod for pod, *_ in self.lost or self.found]
        names = f": {', '.join(named[:3])}{' and others' if len(named) > 3 else ''}" if named else ""
        return f"{', '.join(parts)}{names}" if parts else "every pod stays where it is"

    def record(self) -> dict[str, Any]:
        """As plain data; of long lists the first :data:`MOST_TOLD`, and the counts of all."""
        lists = {"moved": self.moved, "lost": self.lost, "found": self.found, "come": self.come, "gone": self.gone}
        counts = {name: len(found) for name, found in lists.items()}
        return {"words": self.words, "counts": counts, **{name: found[:MOST_TOLD] for name, found in lists.items()}}
