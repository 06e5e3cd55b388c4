"""A cycle of the framework, and what plugins answer that is more than a status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import msgspec

from ...api.objects import Pod
from ...core.cluster.nominations import Nominations
from ...core.cycle import Cycle, Predicate
from ...core.decision import Extender, Preemption
from ...core.preemption import ClaimUsers, DryRuns, PodLayout


@attrs.frozen(repr=False)
class PreFilterResult:
    """The nodes that a PreFilter leaves: only these have to be filtered; None: all."""

    node_names: frozenset[str] | None = None


@attrs.define(eq=False, repr=False)
class PostFilterResult:
    """The result of a PostFilter plugin. ``nominated``: the node that the pod is to wait for, "" for none any
    more, None: as before."""

    nominated: str | None = None
    message: str = ""
    """Why there is no node to wait for; empty on success."""
    is_error: bool = False
    plan: Preemption | None = None

    @classmethod
    def failed(cls, text: str) -> PostFilterResult:
        """The result of an attempt that ended with this error."""
        return cls(message=text, is_error=True, plan=Preemption(error=text))


@attrs.frozen(eq=False, repr=False)
class PostFilterContext:
    """The tools of a PostFilter plugin besides its cycle."""

    pre_filters: Sequence[Any]
    """The PreFilter plugins of the profile, in running order."""
    nominations: Nominations
    extenders: Sequence[Extender]
    shortlists: bool
    """Preemption ends with as many candidates as its arguments say."""
    runs: DryRuns

    @property
    def layout(self) -> PodLayout:
        """The pods of each row as arrays."""
        return self.runs.layout


class FrameworkCycle(Cycle, eq=False, kw_only=True):
    """A cycle of the framework. A plugin keeps its state in ``notes``: upstream's CycleState."""

    skipped: set[str] = msgspec.field(default_factory=set)
    """Plugins whose PreFilter returned Skip: their filters do not run in this cycle, and not in its
    trials."""
    pre_filtered: set[str] = msgspec.field(default_factory=set)
    """Plugins whose PreFilter ran, or was not needed for this pod."""
    node_count: int = 0
    """Nodes in the snapshot."""
    post_filter: PostFilterContext | None = None
    """What PostFilter plugins may use; set before they run."""
    claim_users: ClaimUsers | None = None
    """How many pods use which claims, in releases whose trials change that; None: the pods on the nodes
    do."""
    hint: str = ""
    """The node that is tried first, as it came next when an equal pod was scored; empty: none."""
    pods_to_activate: dict[str, Pod] = msgspec.field(default_factory=dict)
    """Key -> pod that a plugin wants to be tried next: it leaves the backoff queue or the parked pods when
    this cycle ends well, or when its binding does. Upstream: PodsToActivate."""

    @property
    def predicates(self) -> Sequence[Predicate]:
        found = self.template.notes.get(self.algorithm.slot) or self.algorithm.predicates_for(self.template)
        skipped = self.skipped
        return [predicate for predicate in found if predicate.name not in skipped] if skipped else found
