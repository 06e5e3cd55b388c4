"""The extension points: the methods of a plugin at each of them, and the plugins of a profile by point.

Upstream: pkg/scheduler/framework/interface.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Protocol

import attrs

from ..api.objects import Pod
from ..core.arrays.batch import Batch
from ..core.arrays.types import Scores
from ..core.failures import Failures
from ..core.pods.notes import StateKey
from ..core.pods.template import Template
from ..core.rule import Reads
from .cycle.diagnosis import Diagnosis
from .cycle.state import FrameworkCycle, PostFilterResult, PreFilterResult
from .status import Status

OURS = f"{__package__}.plugins."
"""Where upstream's plugins are."""
POINTS: Mapping[str, str] = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "less",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}
"""Extension point as a configuration names it -> the method that makes a plugin join it."""


class Named(Protocol):
    """A plugin at any extension point."""

    @property
    def name(self) -> str: ...


class PreEnqueue(Named, Protocol):
    """Can keep a pod out of the active queue."""

    def pre_enqueue(self, pod: Pod) -> Status | None: ...


class QueueSort(Named, Protocol):
    """Orders the queue."""

    @property
    def less(self) -> Callable[[Any, Any], bool]: ...


class PreFilter(Named, Protocol):
    """Runs once for a pod, before any node is filtered."""

    @property
    def pre_filter_by_class(self) -> bool: ...
    @property
    def pre_filter_slot(self) -> StateKey[PreFilterResult | Status | None]: ...

    @property
    def pre_filter_skips(self) -> bool: ...

    @property
    def follows_pods(self) -> str | None: ...

    def concerns(self, pod: Template) -> bool: ...

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> PreFilterResult | Status | None: ...


class Filter(Named, Protocol):
    """Rejects nodes."""

    @property
    def filter_reads(self) -> Reads: ...

    @property
    def without_pre_filter(self) -> str | None: ...

    def concerns(self, pod: Template) -> bool: ...

    def filter_key(self, pod: Template) -> Hashable: ...

    @property
    def filter(self) -> Callable[[Template, Batch, Any], Failures | None]: ...


class Score(Named, Protocol):
    """Scores nodes."""

    @property
    def score_reads(self) -> Reads: ...

    @property
    def scores_together(self) -> bool: ...

    @property
    def without_pre_score(self) -> str | None: ...

    def score_concerns(self, pod: Template) -> bool: ...

    def score_key(self, pod: Template) -> Hashable: ...

    @property
    def score(self) -> Callable[[Template, Batch, Any], Scores]: ...


class PostFilter(Named, Protocol):
    """Runs when a pod fits nowhere."""

    def post_filter(self, pod: Template, found: Diagnosis, cycle: FrameworkCycle) -> PostFilterResult | Status | None: ...


class PreScore(Named, Protocol):
    """Runs once for all feasible nodes, before they are scored."""

    @property
    def pre_score_by_class(self) -> bool: ...

    @property
    def pre_score_skips(self) -> bool: ...

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None: ...


class Reserve(Named, Protocol):
    """Reserves something for a pod on its node."""

    def reserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None: ...

    def unreserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> None: ...


class Permit(Named, Protocol):
    """Allows a binding, rejects it, or makes it wait: a status with code Wait says how long."""

    def permit(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None: ...


class PreBind(Named, Protocol):
    """Prepares a binding."""

    def pre_bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None: ...


class Bind(Named, Protocol):
    """Binds the pod, or skips, so that the next plugin runs."""

    def bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None: ...


class PostBind(Named, Protocol):
    """Is notified of a binding."""

    def post_bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> None: ...


@attrs.frozen(kw_only=True, repr=False)
class Points:
    """The plugins of a profile at each extension point, in running order. Filter and Score plugins run as rules: ``Profile.algorithm``."""

    pre_enqueue: tuple[PreEnqueue, ...] = ()
    less: tuple[QueueSort, ...] = ()
    pre_filter: tuple[PreFilter, ...] = ()
    filter: tuple[Filter, ...] = ()
    post_filter: tuple[PostFilter, ...] = ()
    pre_score: tuple[PreScore, ...] = ()
    score: tuple[Score, ...] = ()
    reserve: tuple[Reserve, ...] = ()
    permit: tuple[Permit, ...] = ()
    pre_bind: tuple[PreBind, ...] = ()
    bind: tuple[Bind, ...] = ()
    post_bind: tuple[PostBind, ...] = ()

    @classmethod
    def of(cls, plugins: Mapping[str, tuple[Any, ...]]) -> Points:
        """*plugins*: extension point, as a configuration names it -> plugins."""
        return cls(**{POINTS[point]: found for point, found in plugins.items()})

    def items(self) -> Iterator[tuple[str, tuple[Named, ...]]]:
        """Extension point, as a configuration names it, and its plugins."""
        return ((point, getattr(self, method)) for point, method in POINTS.items())
