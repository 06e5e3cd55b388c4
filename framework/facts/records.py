"""A fact of a release as data, for answers."""

from __future__ import annotations

from typing import Annotated

from ...api.record import Record, says
from ...core.release.fact import Fact

OtherPatches = Annotated[str, says("What other patch levels are known to decide otherwise; empty: nothing is known.")]


class ReleaseFact(Record):
    """What a release does otherwise than the one before it."""

    id: str
    release: str
    rule: Annotated[str, says("The plugin, predicate or priority; or search, ties, preemption, configuration; * for every rule.")]
    sentence: str
    upstream: Annotated[str, says("The file below pkg/scheduler that changed.")]
    fixed: Annotated[str, says("The release that took it back, where it was a bug; else empty.")]
    decides: Annotated[bool, says("A pod can get another node by it, or none; else it changes what is said alone.")]

    @classmethod
    def of(cls, fact: Fact) -> ReleaseFact:
        """*fact* as data."""
        return cls(fact.id, fact.release, fact.plugin, fact.sentence, fact.upstream, fact.fixed, fact.decides)
