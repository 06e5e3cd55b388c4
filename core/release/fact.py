"""A fact of a release: one thing that it decides otherwise than the release before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import attrs
from msgspec.structs import replace

from .release import Release

EVERYTHING = "*"
"""In place of a plugin: it may change what any rule says."""
SEARCH, TIES, PREEMPTION, CONFIGURATION = "search", "ties", "preemption", "configuration"
"""In place of a plugin: which nodes are looked at; which of several best nodes is taken; who makes room; which rules run."""
REASONS = "reasons"
"""In place of a plugin: which of the reasons against a node are said."""
PLUGINS = "framework/plugins"
"""Where upstream's plugins are."""

Cells = Mapping[str, Any]
"""Cell -> value. A cell is named by its path: ``framework.counts_images_late``, or ``configuration.point_plugins.POINT`` for the default
plugins of one point; None takes an entry out of a mapping."""


@attrs.frozen
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
    was: Cells = attrs.field(factory=dict, eq=False)
    """The cells of the table of releases that say it, from 1.17 to 1.27: with the values that the release before has."""
    now: Cells = attrs.field(factory=dict, eq=False)
    """The same in all others: with the values that the release has."""
    elsewhere: tuple[str, ...] = ()
    """Further such cells, of which another table has the values; ``gates.NAME`` is a gate's default."""
    others: tuple[str, ...] = ()
    """Further rules that it is about, as older releases call them too."""
    needs: tuple[str, ...] = ()
    """What a cluster must have for it to matter: names of :mod:`~kubeclassic.simulation.upgrade.traits`, all of them. Empty: nothing."""
    fixed: str = ""
    """The release that took it back, where it was a bug."""
    decides: bool = True
    """Whether a pod can get another node by it, or none; else it changes what is said alone."""

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells that say it."""
        return (*self.was, *self.now, *self.elsewhere)

    def is_about(self, rule: str | None) -> bool:
        """Whether *rule* may decide otherwise by it."""
        return rule is not None and (rule == self.plugin or rule in self.others)


# --- cells ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Edit:
    """In place of a cell's value that is a set or a list: what it has *more* than before, and what it no longer has."""

    more: tuple[Any, ...]
    but: frozenset[Any]

    def of(self, before: Any) -> Any:
        return type(before)((*(item for item in before if item not in self.but), *self.more))


def also(*more: Any, but: Iterable[Any] = ()) -> Any:
    """The value of a cell that is a set or a list: as before with *more*, and without the items of *but*."""
    return _Edit(more, frozenset(but))


def value_of(release: Release, cell: str) -> Any:
    """The value of *cell* in *release*; None for a gate, or an entry of a mapping, that it does not have."""
    return reduce(_part, cell.split("."), release)


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name)


def changed(whole: Any, values: Cells) -> Any:
    """*whole*, a release or a part of one, with other *values* of cells."""
    parts: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        parts.setdefault(name, {})[rest] = value
    found = {name: _changed_part(_part(whole, name), within) for name, within in parts.items()}
    if not isinstance(whole, Mapping):
        return replace(whole, **found)
    return MappingProxyType({name: value for name, value in {**whole, **found}.items() if value is not None})


def _changed_part(before: Any, within: dict[str, Any]) -> Any:
    if "" not in within:
        return changed(before, within)
    value = within[""]
    if isinstance(value, _Edit):
        return value.of(before)
    return MappingProxyType(value) if isinstance(value, dict) else value


def changed_by(release: Release, values: Iterable[Cells]) -> Release:
    """*release* with all of *values*, one after the other."""
    return reduce(changed, _at_once(values), release)


def _at_once(values: Iterable[Cells]) -> Iterator[Cells]:
    """The same in as few steps as there can be: a cell that is edited twice needs two."""
    found: dict[str, Any] = {}
    for each in values:
        if not found.keys().isdisjoint(each):
            yield found
            found = {}
        found.update(each)
    yield found
