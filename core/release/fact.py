"""The facts of a release, which are its differences from the release before, and its feature gates. Both are
read from text files.

``facts/1.28.txt`` begins with the patch level that the release behaves like, known differences of other patch
levels, and the cells that no fact states. Each further paragraph is a :class:`Fact`: its id and rule, its
sentence, its attributes, and its cells::

    missing-claim-is-no-error: NodeVolumeLimits
      a missing claim turns nodes down where volumes are counted; it was an error
      others: EBSLimits, GCEPDLimits
      needs: volumes
      upstream: framework/plugins/nodevolumelimits/csi.go
      volumes.missing_claim_is_reason = true

A cell has its value as JSON. ``was`` marks the value in the release before; ``+=`` and ``-=`` give the items
that are added and removed. ``tables`` names further cells, whose values are in the tables in Python or in
that of the gates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, reduce
from pkgutil import get_data
from types import MappingProxyType
from typing import Any, NamedTuple

import attrs
from msgspec.structs import replace

from .release import FeatureGate, Release

EVERYTHING = "*"
"""In place of a plugin: any rule may answer differently."""
SEARCH = "search"
TIES = "ties"
PREEMPTION = "preemption"
CONFIGURATION = "configuration"
"""In place of a plugin: which nodes are looked at; which of several best nodes is taken; which pods make
room; which rules run."""
REASONS = "reasons"
"""In place of a plugin: which of the reasons against a node are reported."""

Cells = Mapping[str, Any]
"""Cell -> value. A cell is named by its path: ``framework.counts_images_late``, or
``configuration.point_plugins.POINT`` for the default plugins of one point; value None removes an entry of a
mapping."""


@attrs.frozen(kw_only=True)
class Fact:
    """A difference of *release* from the one before it."""

    id: str
    release: str
    plugin: str
    """The plugin, predicate or priority concerned, or :data:`SEARCH` and the like."""
    sentence: str
    """The new behaviour in a few words, which follow the release's number."""
    upstream: str
    """The file below ``pkg/scheduler`` that changed."""
    values: Cells = attrs.field(eq=False)
    """The cells that express it: with values of the release before from 1.17 to 1.27, else with those of the
    release."""
    tables: tuple[str, ...]
    """Further such cells, with values in a table; ``gates.NAME`` is a gate's default."""
    others: tuple[str, ...]
    """Further rules concerned, also by their names in older releases."""
    needs: tuple[str, ...]
    """The traits of a cluster in which it matters, all required: names of ``TRAITS`` in
    :mod:`~kubeclassic.questions.upgrade.upgrade`. Empty: every cluster."""
    fixed: str
    """The release that undid it, where it was a bug."""
    decides: bool
    """Whether it can give a pod another node, or none; else it changes messages only."""

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells that express it."""
        return (*self.values, *self.tables)

    def is_about(self, rule: str | None) -> bool:
        """Whether *rule* may decide differently by it."""
        return rule is not None and (rule == self.plugin or rule in self.others)


@attrs.frozen
class ReleaseText:
    """The text of a release."""

    like: str
    """The patch level that it behaves like."""
    other_patches: str
    """The known differences of other patch levels; empty: none are known."""
    values: Cells
    """The cells that no fact states, with values as those of a fact."""
    facts: tuple[Fact, ...]

    @property
    def cells(self) -> Iterator[Cells]:
        """All of its cells."""
        yield from (fact.values for fact in self.facts)
        yield self.values


@cache
def text_of(version: str) -> ReleaseText:
    """The text of a release in ``facts/VERSION.txt``."""
    (_, like, other_patches, _, values), *paragraphs = _paragraphs(version)
    facts = tuple(
        Fact(
            id=name,
            release=version,
            plugin=rule,
            sentence=sentence,
            upstream=attributes["upstream"],
            values=cells,
            fixed=attributes.get("fixed", ""),
            decides="decides" not in attributes,
            **{key: _names(attributes.get(key, "")) for key in ("tables", "others", "needs")},
        )
        for name, rule, sentence, attributes, cells in paragraphs
    )
    return ReleaseText(like, other_patches, values, facts)


@attrs.frozen(kw_only=True)
class RuleFact:
    """The successor of a predicate, a priority or something built in, in the first release with plugins."""

    rule: str
    """Its name; of what was built in, that of the plugin."""
    kind: str
    """``predicate``, ``priority``, ``argument`` (a priority that a Policy makes by it) or ``built in``."""
    plugins: tuple[str, ...]
    """The plugins that take its place in the newest release, in order; none where it has no successor."""
    sentence: str
    """The difference in behaviour."""
    first: tuple[str, ...]
    """The plugins that first took its place, in order."""
    is_noted: bool
    """Whether a migration notes it."""
    is_refused: bool
    """Whether upstream's own translation of Policies does not know the rule."""
    holds_always: bool
    """Whether the sentence is true in each release with plugins (no: only in those without Policies)."""


@cache
def rule_facts() -> Mapping[str, RuleFact]:
    """Rule -> its successor, from ``facts/1.17-rules.txt``."""
    return {
        name: RuleFact(
            rule=name,
            kind=attributes["kind"],
            plugins=_names(plugins),
            sentence=sentence,
            first=_names(attributes.get("first", "")),
            is_noted="noted" in attributes,
            is_refused="upstream" in attributes,
            holds_always="since" in attributes,
        )
        for name, plugins, sentence, attributes, _ in _paragraphs("1.17-rules")
    }


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(", ")))


_CELL = re.compile(r"(\S+) (?:was )?([+-]?)= (.*)")
_MORE = re.compile("(others|needs|fixed|decides|upstream|tables|kind|first|noted|since): (.*)")


def _paragraphs(name: str) -> Iterator[tuple[str, str, str, Mapping[str, str], Cells]]:
    """The parts of each paragraph: both halves of its first line, its sentence, its attributes, and its
    cells."""
    text = (get_data(__package__, f"facts/{name}.txt") or b"").decode().replace("\n      ", " ")
    for head, *lines in map(str.splitlines, re.split(r"\n{2,}", text.strip())):
        about, _, rule = head.partition(":")
        yield about, rule.strip(), *_parse_paragraph(line.strip() for line in lines)


def _parse_paragraph(lines: Iterable[str]) -> tuple[str, Mapping[str, str], Cells]:
    sentence = ""
    attributes = dict[str, str]()
    cells: dict[str, Any] = {}
    for line in lines:
        if (match := _CELL.fullmatch(line)) is not None:
            cell = match[1]
            edit = match[2]
            value = _frozen(json.loads(match[3]))
            previous = cells.get(cell, SetEdit())
            if edit == "-":
                cells[cell] = SetEdit(previous.more, value)
            else:
                cells[cell] = SetEdit(value, previous.but) if edit else value
        elif (match := _MORE.fullmatch(line)) is not None:
            attributes[match[1]] = match[2]
        elif sentence:
            raise ValueError(f"a second sentence: {line}")
        else:
            sentence = line
    return sentence, attributes, cells


def _frozen(value: Any) -> Any:
    """*value* of JSON with tuples in place of lists."""
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


# --- cells --------------------------------------------------------------------------------------------------


@attrs.frozen
class SetEdit:
    """In place of a cell's value that is a set or a list: the items added to it (*more*) and removed from it
    (*but*)."""

    more: Iterable[Any] = ()
    but: Iterable[Any] = ()

    def of(self, before: Any) -> Any:
        return type(before)((*(item for item in before if item not in self.but), *self.more))


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
    changed_parts = {
        name: _changed_part(_part(whole, name), part_values) for name, part_values in parts.items()
    }
    if not isinstance(whole, Mapping):
        return replace(whole, **changed_parts)
    return MappingProxyType(
        {name: value for name, value in {**whole, **changed_parts}.items() if value is not None}
    )


def _changed_part(old_part: Any, part_values: dict[str, Any]) -> Any:
    if "" not in part_values:
        return changed(old_part, part_values)
    value = part_values[""]
    if isinstance(value, SetEdit):
        return value.of(old_part)
    if isinstance(old_part, frozenset):
        return frozenset(value)
    return MappingProxyType(value) if isinstance(value, dict) else value


def changed_by(release: Release, values: Iterable[Cells]) -> Release:
    """*release* with all of *values*, one after the other."""
    return reduce(changed, _merged_steps(values), release)


def _merged_steps(values: Iterable[Cells]) -> Iterator[Cells]:
    """The same changes in as few steps as possible: a cell that is edited twice needs two."""
    merged: dict[str, Any] = {}
    for cells in values:
        if not merged.keys().isdisjoint(cells):
            yield merged
            merged = {}
        merged.update(cells)
    yield merged


# --- The feature gates of each release ----------------------------------------------------------------------
# ``gates.txt`` lists new and changed gates, release by release, and the effects of gates. ``alpha``, ``beta``
# and the like are stages, with the default of most of their gates; ``on`` and ``off`` give another default,
# and ``locked`` means that the gate cannot be set. ``gone``: the release no longer has it. ``needs``: a gate
# cannot be on without others; nothing after the colon ends that. Upstream: pkg/features/kube_features.go; the
# gates of apiserver, client-go and component-base, which are registered, too.


GateWords = Mapping[str, str]
"""Gate -> its effect, or why it changes no answer; empty where another of these tables says it."""


class GatesOfRelease(NamedTuple):
    """The gates of a release."""

    known: Mapping[str, FeatureGate]
    needs: Mapping[str, tuple[str, ...]]
    """Gate -> the gates that it needs, without those that are always on."""
    settled: frozenset[str]
    """The gates of older releases that were removed while on: their features are always there."""


@cache
def _gate_table() -> Mapping[str, Mapping[str, str]]:
    text = (get_data(__package__, "gates.txt") or b"").decode().replace("\n      ", " ")
    split = (paragraph.splitlines() for paragraph in text.split("\n\n"))
    return {
        head: {key: rest for key, _, rest in (line.strip().partition(": ") for line in lines)}
        for head, *lines in split
    }


def gates_that(table: str) -> GateWords:
    """The *table* of gates that "decides", "decided earlier", "changes no answer" or "decides up to 1.16"."""
    return _gate_table()[table]


def gates_of(version: str) -> GatesOfRelease:
    """The gates of a release."""
    return _by_release()[version]


@cache
def _by_release() -> Mapping[str, GatesOfRelease]:
    gates_by_release: dict[str, GatesOfRelease] = {}
    gates: dict[str, FeatureGate] = {}
    needs: dict[str, tuple[str, ...]] = {}
    settled: set[str] = set()
    for version, kinds in _gate_table().items():
        for kind, names in kinds.items() if version[0].isdigit() else ():
            for name in names.split():
                gate, _, needs_text = name.partition(":")
                if kind == "needs":
                    needs[gate] = tuple(filter(None, needs_text.split(",")))
                elif kind != "gone":
                    gates[gate] = _gate(*kind.split())
                elif gates.pop(gate).default:
                    settled.add(gate)
        sorted_gates = MappingProxyType(dict(sorted(gates.items())))
        needed_gates = MappingProxyType(
            {gate: gates_needed for gate, gates_needed in needs.items() if gates_needed}
        )
        gates_by_release[version] = GatesOfRelease(
            sorted_gates, needed_gates, frozenset(settled - gates.keys())
        )
    return gates_by_release


def _gate(stage: str, *more: str) -> FeatureGate:
    default = "on" in more or (stage in ("beta", "ga", "locked") and "off" not in more)
    return FeatureGate(
        default, "" if stage in ("ga", "locked") else stage.upper(), "locked" in (stage, *more)
    )
