"""A cycle of the framework, and what plugins answer that is more than a status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from ...core.cluster.nominations import Nominations
from ...core.cycle import Cycle
from ...core.decision.extender import Extender
from ...core.decision.plan import Preemption
from ...core.preemption.layout import PodLayout
from ...core.rule import Predicate


class FollowsPods(Protocol):
    """What a dry run asks of a PreFilter plugin."""

    @property
    def name(self) -> str: ...

    @property
    def follows_pods(self) -> str | None: ...


@attrs.frozen
class PreFilterResult:
    """A PreFilter's narrowing: only these nodes need be looked at; None: all."""

    node_names: frozenset[str] | None = None


@attrs.define(eq=False)
class PostFilterResult:
    """What a PostFilter plugin came to. ``nominated``: the node that the pod is to wait for, "" for none any more, None: as before."""

    nominated: str | None = None
    message: str = ""
    """Why there is no node to wait for; empty on success."""
    is_error: bool = False
    plan: Preemption | None = None


@attrs.frozen(eq=False)
class PostFilterContext:
    """What a PostFilter plugin may use besides its cycle."""

    pre_filters: Sequence[FollowsPods]
    """Those of the profile, in running order."""
    nominations: Nominations
    extenders: Sequence[Extender]
    shortlists: bool
    """Preemption ends with as many candidates as its arguments say."""
    layout: PodLayout


@attrs.define(eq=False, kw_only=True)
class FrameworkCycle(Cycle):
    """A cycle of the framework. Listings, binder and gates are as in every cycle; ``notes[name]`` is a plugin's own state."""

    skipped: set[str] = attrs.field(factory=set)
    """Plugins whose PreFilter answered Skip: their filters are not asked in this cycle, in trials neither."""
    pre_filtered: set[str] = attrs.field(factory=set)
    """Plugins whose PreFilter ran, or that have none to say."""
    node_count: int = 0
    """Nodes in the snapshot."""
    post_filter: PostFilterContext | None = None
    """What PostFilter plugins may use; set before they run."""

    @property
    def predicates(self) -> Sequence[Predicate]:
        found = self.algorithm.predicates_for(self.template)
        return [predicate for predicate in found if predicate.name not in self.skipped] if self.skipped else found
