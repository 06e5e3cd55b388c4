"""A fact of a release: one thing that it decides otherwise than the release before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import attrs

from ...core.release import Release

EVERYTHING = "*"
"""In place of a plugin: it may change what any rule says."""
SEARCH, TIES, PREEMPTION, CONFIGURATION = "search", "ties", "preemption", "configuration"
"""In place of a plugin: which nodes are looked at; which of several best nodes is taken; who makes room; which rules run."""
REASONS = "reasons"
"""In place of a plugin: which of the reasons against a node are said."""


@attrs.frozen(kw_only=True)
class Fact:
    """What *release* does otherwise than the one before it."""

    id: str
    release: str
    plugin: str
    """The plugin, the predicate or the priority that it is about, or :data:`SEARCH` and the like."""
    sentence: str
    """What the release does, in a few words that follow its number."""
    upstream: str
    """The file below ``pkg/scheduler`` that changed."""
    cells: tuple[str, ...] = ()
    """The cells of the table of releases that say it: ``framework.counts_images_late``, or ``gates.NAME`` for a gate's default
    and ``configuration.point_plugins.POINT`` for the default plugins of one point."""
    others: tuple[str, ...] = ()
    """Further rules that it is about, as older releases call them too."""
    needs: tuple[str, ...] = ()
    """What a cluster must have for it to matter: names of :mod:`~kubeclassic.simulation.upgrade.traits`, all of them. Empty: nothing."""
    fixed: str = ""
    """The release that took it back, where it was a bug."""
    decides: bool = True
    """Whether a pod can get another node by it, or none; else it changes what is said alone."""

    def is_about(self, rule: str | None) -> bool:
        """Whether *rule* may decide otherwise by it."""
        return rule is not None and (rule == self.plugin or rule in self.others)


def value_of(release: Release, cell: str) -> Any:
    """The value of *cell* in *release*; None for a gate, or an entry of a mapping, that it does not have."""
    return reduce(_part, cell.split("."), release)


def with_values_of(release: Release, other: Release, cells: Iterable[str]) -> Release:
    """*release* with the values that *other* has of *cells*."""
    for cell in cells:
        release = _with(release, cell.split("."), value_of(other, cell))
    return release


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name)


def _with(whole: Any, path: list[str], value: Any) -> Any:
    """*whole* with another *value* of the cell at *path*."""
    name, *rest = path
    if rest:
        value = _with(_part(whole, name), rest, value)
    if not isinstance(whole, Mapping):
        return attrs.evolve(whole, **{name: value})
    kept = {key: known for key, known in whole.items() if key != name}
    return MappingProxyType(kept if value is None else {**kept, name: value})


def by_release(facts: Iterable[Fact]) -> Mapping[str, tuple[Fact, ...]]:
    """Release -> its facts."""
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.release, []).append(fact)
    return MappingProxyType({release: tuple(its) for release, its in found.items()})
