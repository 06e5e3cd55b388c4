"""Every fact, and a release without some of its facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated

from ..api.record import Record, says
from ..core.release import Release
from ..core.release.fact import Fact, changed, text_of, value_of
from .releases import ALL_RELEASES

_GATE = re.compile(r"with gate (\w+)")
OtherPatches = Annotated[
    str, says("What other patch levels are known to decide differently; empty: nothing is known.")
]


class ReleaseFact(Record):
    """A difference of a release from the one before it."""

    id: str
    release: str
    rule: str
    """The plugin, predicate or priority; or search, ties, preemption, configuration; * for every rule."""
    sentence: str
    upstream: str
    """The file below pkg/scheduler that changed."""
    fixed: str
    """The release that took it back, where it was a bug; else empty."""
    decides: bool
    """It can give a pod another node, or none; otherwise it changes messages only."""

    @classmethod
    def of(cls, fact: Fact) -> ReleaseFact:
        """*fact* as data; a gate that it speaks of says if it is off by default."""
        gates = ALL_RELEASES[fact.release].gates
        sentence = _GATE.sub(
            lambda found: found[0] if gates[found[1]].default else f"{found[0]}, off by default,",
            fact.sentence,
        )
        return cls(
            fact.id,
            fact.release,
            fact.plugin,
            sentence.removesuffix(","),
            fact.upstream,
            fact.fixed,
            fact.decides,
        )


FACTS: tuple[Fact, ...] = tuple(fact for release in ALL_RELEASES for fact in text_of(release).facts)
"""In the order of releases."""
BY_ID: Mapping[str, Fact] = MappingProxyType({fact.id: fact for fact in FACTS})
"""Id -> fact."""
_ORDER = list(ALL_RELEASES)


def facts_of(release: str) -> tuple[Fact, ...]:
    """The facts of one release: what it does otherwise than the one before it."""
    return text_of(release).facts


def facts_between(before: str, after: str) -> tuple[Fact, ...]:
    """The facts of the releases after *before*, up to *after*."""
    way = _ORDER[_ORDER.index(before) + 1 : _ORDER.index(after) + 1]
    return tuple(fact for release in way for fact in facts_of(release))


def release_before(release: str) -> Release:
    """The release before *release*."""
    return ALL_RELEASES[_ORDER[_ORDER.index(release) - 1]]


def undone(release: Release, facts: Iterable[Fact]) -> Release:
    """*release* as it would be without *facts*: with the cells that the release before each of them has."""
    for fact in reversed(list(facts)):
        before = release_before(fact.release)
        release = changed(release, {cell: value_of(before, cell) for cell in fact.cells})
    return release


def life_of(rule: str) -> Sequence[Fact]:
    """The facts about *rule*, oldest first."""
    return [fact for fact in FACTS if fact.is_about(rule)]
