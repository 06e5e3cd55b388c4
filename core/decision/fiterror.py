"""The error of a pod that fits on no node: the reasons with their counts, and apart from them what PostFilter said."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

_MESSAGE = re.compile(r"\b0/(\d+) nodes are available: ?(.*)", re.DOTALL)
_COUNTED = re.compile(r"(?:^|, )(\d+) (.+?)(?=, \d+ |$)", re.DOTALL)
_POST_FILTER = re.compile(
    r"(?:^|\. )(?="
    r"(?:plugin disabled|no new claims to deallocate|still not schedulable|deallocation of ResourceClaim completed)(?:, |\.*$)"
    r"|preemption: )"
)
"""Where the message of upstream's PostFilter plugins begins: that of DynamicResources stands before that of preemption."""


@attrs.frozen
class FitError:
    """Why a pod fits on none of *nodes* nodes. Upstream's message is its text."""

    nodes: int
    reasons: Mapping[str, int]
    """Reason -> how many nodes have it; 0 for what is said of no node, as PreFilter's rejection in some releases."""
    post_filter: str = ""
    """What PostFilter said, where the release's message ends in that."""
    full_stop: bool = True
    """Whether one is added after that."""
    stops_always: bool = False
    """Whether one is there without any reason."""

    def __str__(self) -> str:
        reasons = ", ".join(sorted(f"{count} {text}" if count else text for text, count in self.reasons.items()))
        parts = f" {reasons}." if reasons or self.stops_always else ""
        if self.post_filter:
            parts += f" {self.post_filter}{'.' if self.full_stop else ''}"
        return f"0/{self.nodes} nodes are available:{parts}"

    @property
    def headline(self) -> str:
        """The message without what PostFilter said."""
        return str(attrs.evolve(self, post_filter=""))

    @property
    def most_first(self) -> dict[str, int]:
        """The reasons, that of most nodes first, else in the order of the message."""
        by_text = sorted(self.reasons.items(), key=lambda pair: f"{pair[1]} {pair[0]}")
        return dict(sorted(by_text, key=lambda pair: -pair[1]))


def read_fit_error(message: str) -> FitError | None:
    """The error that a *message* of any release tells, as it was recorded or came from a cluster; None for other messages.

    >>> found = read_fit_error("0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods. still not schedulable, preemption: none.")
    >>> found.reasons, found.headline
    ({'Insufficient cpu': 1, 'Too many pods': 2}, '0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods.')
    """
    found = _MESSAGE.search(message)
    if found is None:
        return None
    said = _POST_FILTER.search(found[2])
    text = (found[2] if said is None else found[2][: said.start()]).rstrip(". ")
    reasons = {reason: int(nodes) for nodes, reason in _COUNTED.findall(text)} or ({text: 0} if text else {})
    return FitError(int(found[1]), reasons, "" if said is None else found[2][said.end() :], full_stop=False)


def reasons_in(message: str) -> dict[str, int]:
    """Reason -> how many nodes have it, from upstream's message; the one of most nodes first. What is said of no node counts 0.

    >>> reasons_in("0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.")
    {'Insufficient cpu': 3, 'node(s) were unschedulable': 1}
    >>> reasons_in('persistentvolumeclaim "data" not found')
    {'persistentvolumeclaim "data" not found': 0}
    """
    found = read_fit_error(message)
    return found.most_first if found is not None and found.reasons else {message.rstrip(". "): 0}
