"""What a page can ask for, as plain data: each action gives another configuration or other changes, and says what it did in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

import attrs

from ...algorithmprovider.cells import TIE_BREAKS
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.registry import Registry
from ...api.objects import Map
from ...exceptions import did_you_mean
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from ...simulation.edits import EditError, Edits, without_flag
from ...simulation.scenario import ORDERS, Scenario
from .labconfiguration import LabConfiguration, LabError, Source, check_release, default_source, read_source
from .labinput import MOST_COPIES, Changes, Copies, check_node, cordon, drain
from .workbench import LabState


@attrs.frozen
class FilterRule:
    """A predicate, or a plugin that filters."""

    name: str
    is_on: bool
    is_default: bool
    """Whether it is on in the source."""
    is_mandatory: bool = False
    """The release always runs it."""
    runs: bool = True
    """False for a name that the release accepts and never runs."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "on": self.is_on, "default": self.is_default, "mandatory": self.is_mandatory, "runs": self.runs}


@attrs.frozen
class ScoreRule:
    """A priority, or a plugin that scores."""

    name: str
    weight: int
    """0: off."""
    default: int
    """The weight in the source."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return attrs.asdict(self)


def filters_of(configuration: LabConfiguration) -> list[FilterRule]:
    """The predicates, or the plugins that filter, in running order."""
    known, switches, found = _known(_unmoved(configuration)), configuration.switches, []
    for name, runs in known.filters.items():
        default, mandatory = name in known.on, name in known.mandatory
        found.append(FilterRule(name, mandatory or switches.get(name, default), default or mandatory, mandatory, runs))
    return found


def scorers_of(configuration: LabConfiguration) -> list[ScoreRule]:
    """The priorities, or the plugins that score: those of the source first."""
    known, moved = _known(_unmoved(configuration)), configuration.weights
    found = [ScoreRule(name, moved.get(name, weight), weight) for name, weight in known.weights.items()]
    return sorted(found, key=lambda rule: not rule.default)


def _unmoved(configuration: LabConfiguration) -> LabConfiguration:
    """*configuration* as its source has it."""
    return LabConfiguration(start=configuration.start, release=configuration.release, source=configuration.source)


@attrs.frozen
class _Known:
    filters: Map[bool]
    """Name -> whether it ever runs."""
    on: frozenset[str]
    mandatory: frozenset[str]
    weights: Map[int]


@lru_cache(maxsize=64)
def _known(plain: LabConfiguration) -> _Known:
    if plain.runs_profiles:
        algorithm = plain.spec().engine().algorithm
        names = [predicate.name for predicate in algorithm.predicates]
        weights = {priority.name: weight for priority, weight in algorithm.priorities}
        return _Known(Map(dict.fromkeys(names, True)), frozenset(names), frozenset(), Map(weights))
    release = ALL_RELEASES[plain.release]
    registry = Registry.of(release, resolved_gates(release, plain.gates), plain.start.catalogue)
    policy = plain.base_policy()
    on = [entry.get("name", "") for entry in policy["predicates"]]
    order = {name: at for at, name in enumerate((*release.ordering, *plain.start.catalogue.added_predicates))}
    names = sorted(dict.fromkeys((*registry.predicates, *on)), key=lambda name: order.get(name, len(order)))
    weights = dict.fromkeys(registry.priorities, 0) | {entry.get("name", ""): entry.get("weight", 0) for entry in policy["priorities"]}
    return _Known(Map({name: name in order for name in names}), frozenset(on), frozenset(registry.mandatory), Map(weights))


# --- changes --------------------------------------------------------------------------------------------------------


MOST_WEIGHT = 1_000_000
CHOICES: Mapping[str, tuple[str, ...]] = {"order": ORDERS, "tieBreak": tuple(TIE_BREAKS)}
FIELDS = {"order": "order", "tieBreak": "tie_break", "seed": "seed", "preemption": "preemption", "percentage": "percentage",
          "hardPodAffinityWeight": "hard_weight"}  # fmt: skip
"""Name of a setting -> the field of :class:`~.labconfiguration.LabConfiguration`."""


def with_release(configuration: LabConfiguration, release: str, source: Source | None = None) -> LabConfiguration:
    """The same on another release. What that release does not have falls away. Raises :class:`~.labconfiguration.LabError`."""
    check_release(release)
    kept = source or (configuration.source if configuration.source.runs_on(release) else default_source(release))
    return _still_moved(attrs.evolve(configuration, release=release, source=kept))


def with_source(configuration: LabConfiguration, source: Source) -> LabConfiguration:
    """The rules of *source*, as it has them. Raises :class:`~.labconfiguration.LabError`."""
    if not source.runs_on(configuration.release):
        versions = FRAMEWORK_RELEASES[configuration.release].configuration.api_versions if configuration.runs_profiles else ()
        wanted = f"a configuration of {' or '.join(versions)}" if versions else "a Policy or a provider"
        raise LabError(f"{source.name}: release {configuration.release} wants {wanted}", "source")
    return attrs.evolve(configuration, source=source, switches=Map(), weights=Map())


def _check_rule(configuration: LabConfiguration, name: str, rules: Collection[str], field: str) -> None:
    if configuration.why_fixed:
        raise LabError(configuration.why_fixed, field)
    if name not in rules:
        raise LabError(f'expected a rule of {configuration.release}, got "{name}"{did_you_mean(name, rules)}', field)


def switched(configuration: LabConfiguration, name: str, on: bool) -> LabConfiguration:
    """With a predicate, or a plugin that filters, on or off. Raises :class:`~.labconfiguration.LabError`."""
    rules = {rule.name: rule for rule in filters_of(configuration)}
    _check_rule(configuration, name, rules, f"switch:{name}")
    if rules[name].is_mandatory and not on:
        raise LabError(f"{name}: release {configuration.release} always runs it", f"switch:{name}")
    moved = {key: value for key, value in configuration.switches.items() if key != name}
    return attrs.evolve(configuration, switches=Map(moved if on == rules[name].is_default else {**moved, name: on}))


def weighed(configuration: LabConfiguration, name: str, weight: object) -> LabConfiguration:
    """With another weight of a priority, or of a plugin that scores; 0 is off. Raises :class:`~.labconfiguration.LabError`."""
    rules = {rule.name: rule for rule in scorers_of(configuration)}
    _check_rule(configuration, name, rules, f"weight:{name}")
    number = whole(weight, 0, MOST_WEIGHT, f"weight:{name}")
    moved = {key: value for key, value in configuration.weights.items() if key != name}
    return attrs.evolve(configuration, weights=Map(moved if number == rules[name].default else {**moved, name: number}))


def with_setting(configuration: LabConfiguration, name: str, value: object) -> LabConfiguration:
    """With another value of one of :data:`FIELDS`; None: as the source or the release says. Raises :class:`~.labconfiguration.LabError`."""
    if name not in FIELDS:
        raise LabError(f'setting: expected one of {", ".join(FIELDS)}, got "{name}"', name)
    if name == "preemption" and not isinstance(value, bool):
        raise LabError(f"{name}: expected true or false, got {value!r}", name)
    if name in CHOICES and value not in CHOICES[name]:
        raise LabError(f"{name}: expected one of {', '.join(CHOICES[name])}, got {value!r}", name)
    if name == "seed":
        value = whole(value, -(2**53), 2**53, name)
    elif name in ("percentage", "hardPodAffinityWeight") and value is not None:
        value = whole(value, 1 if name != "percentage" and not configuration.runs_profiles else 0, 100, name)
    changes: dict[str, Any] = {FIELDS[name]: value}
    return attrs.evolve(configuration, **changes)


def whole(value: object, least: int, most: int, field: str) -> int:
    """*value*, a whole number in these bounds. Raises :class:`~.labconfiguration.LabError`."""
    if type(value) is not int or not least <= value <= most:
        raise LabError(f"{field.rpartition(':')[2]}: expected a whole number from {least} to {most}, got {value!r}", field)
    return value


def _still_moved(configuration: LabConfiguration) -> LabConfiguration:
    """Without what was moved of rules that the release does not have, or has so already."""
    plain = attrs.evolve(configuration, switches=Map(), weights=Map())
    if configuration.why_fixed:
        return plain
    filters, scorers = {rule.name: rule for rule in filters_of(plain)}, {rule.name: rule for rule in scorers_of(plain)}
    switches = {
        name: on for name, on in configuration.switches.items()
        if name in filters and filters[name].is_default != on and (on or not filters[name].is_mandatory)
    }  # fmt: skip
    weights = {name: weight for name, weight in configuration.weights.items() if name in scorers and scorers[name].default != weight}
    return attrs.evolve(configuration, switches=Map(switches), weights=Map(weights))


FindScenario = Callable[[LabState], Scenario]
Done = tuple[LabConfiguration, Changes, str]
MOST_EDIT, MOST_TEXTS = 2000, 500


@attrs.frozen
class ActionValues:
    """One action; each reader refuses values of another kind with :class:`~.labconfiguration.LabError`."""

    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Which action."""
        return self.text("do")

    @property
    def is_drag(self) -> bool:
        """Whether it goes on where the last one was: a slider that still moves."""
        return self.values.get("drag") is True

    @property
    def field(self) -> str:
        """The part of the page that errors are about."""
        if self.name in ("switch", "weight"):
            return f"{self.name}:{self.values.get('rule')}"
        return str(self.values.get("name") if self.name == "set" else self.name)

    def text(self, key: str) -> str:
        """A text."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise LabError(f"{key}: expected a text, got {value!r}", "")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts, :data:`MOST_TEXTS` at most."""
        values = self.values.get(key)
        if not isinstance(values, list) or len(values) > MOST_TEXTS or not all(isinstance(one, str) and one.strip() for one in values):
            raise LabError(f"{key}: expected a list of {MOST_TEXTS} texts at most", self.field)
        return values

    def number(self, key: str, least: int = 0, most: int = 2**31) -> int:
        """A whole number."""
        return whole(self.values.get(key), least, most, key)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise LabError(f"{key}: expected true or false, got {value!r}", self.field)
        return value

    def choice(self, key: str, among: tuple[str, ...]) -> str:
        """One of some texts."""
        value = self.values.get(key)
        if not isinstance(value, str) or value not in among:
            raise LabError(f"{key}: expected one of {', '.join(among)}, got {value!r}", key)
        return value


def changed(asked: ActionValues, state: LabState, start: LabState, sources: list[Source], scenario: FindScenario) -> Done:
    """What *asked* makes of *state*: configuration, changes, and what was done in words. A source that is loaded joins *sources*.

    Raises :class:`~.labconfiguration.LabError`.
    """
    if asked.name == "reset":
        return start.configuration, start.changes, "back to the start"
    if asked.name == "restore":
        # The state that a link holds: what was moved and edited since the start.
        found, changes = start.configuration, Changes()
        for one in _listed(asked, "moves"):
            action = ActionValues(one if isinstance(one, dict) else {})
            if action.name not in RULES:
                raise LabError(f'restore: expected one of {", ".join(RULES)}, got "{action.name}"', "")
            found, _ = RULES[action.name](action, found, sources)
        changes = changes.edited(*map(_checked, asked.texts("edits") if asked.values.get("edits") else ()))
        for one in _listed(asked, "copies"):
            copy = ActionValues({"do": "copy", **(one if isinstance(one, dict) else {})})
            made = Copies(copy.text("like"), copy.number("count", 1, MOST_COPIES))
            changes = attrs.evolve(changes, copies=(*changes.copies, made))
        return found, changes, "the state of a link"
    if asked.name in RULES:
        found, did = RULES[asked.name](asked, state.configuration, sources)
        return found, state.changes, did
    if asked.name in CLUSTER:
        changes, did = CLUSTER[asked.name](asked, state, scenario)
        return state.configuration, changes, did
    known = ("undo", "redo", "goto", "pin", "unpin", "reset", "restore", *RULES, *CLUSTER)
    raise LabError(f'do: expected one of {", ".join(known)}, got "{asked.name}"', "")


def _listed(asked: ActionValues, name: str) -> list[Any]:
    """What a link holds under *name*; nothing if it holds no list there."""
    found = asked.values.get(name)
    return found if isinstance(found, list) else []


# --- of the configuration -------------------------------------------------------------------------------------------


def _release(asked: ActionValues, found: LabConfiguration, sources: list[Source]) -> tuple[LabConfiguration, str]:
    wanted = asked.text("value")
    latest = next((source for source in sources if source.runs_on(wanted)), None)
    kept = None if found.source.runs_on(wanted) else latest
    return with_release(found, wanted, kept), f"release {wanted}"


def _source(asked: ActionValues, found: LabConfiguration, sources: list[Source]) -> tuple[LabConfiguration, str]:
    key = asked.text("key")
    source = next((one for one in sources if one.key == key), None)
    if source is None:
        raise LabError(f'source: expected one of {", ".join(one.key for one in sources)}, got "{key}"', "source")
    return with_source(found, source), f"rules of {source.name}"


def _load(asked: ActionValues, found: LabConfiguration, sources: list[Source]) -> tuple[LabConfiguration, str]:
    source = read_source(asked.text("text"), asked.text("name"))
    sources[:] = [source, *(one for one in sources if one.key != source.key)]
    return with_source(found, source), f"rules of {source.name}"


def _switch(asked: ActionValues, found: LabConfiguration, sources: list[Source]) -> tuple[LabConfiguration, str]:
    rule, on = asked.text("rule"), asked.flag("on")
    return switched(found, rule, on), f"{rule} {'on' if on else 'off'}"


def _weight(asked: ActionValues, found: LabConfiguration, sources: list[Source]) -> tuple[LabConfiguration, str]:
    rule = asked.text("rule")
    made = weighed(found, rule, asked.values.get("weight"))
    return made, f"weight of {rule} to {asked.values.get('weight')}"


def _set(asked: ActionValues, found: LabConfiguration, sources: list[Source]) -> tuple[LabConfiguration, str]:
    name, value = asked.text("name"), asked.values.get("value")
    made = with_setting(found, name, value)
    return made, f"{name} to {'the default' if value is None else str(value).lower() if isinstance(value, bool) else value}"


RULES: Mapping[str, Callable[[ActionValues, LabConfiguration, list[Source]], tuple[LabConfiguration, str]]] = {
    "release": _release, "source": _source, "load": _load, "switch": _switch, "weight": _weight, "set": _set,
}  # fmt: skip


# --- of the cluster -------------------------------------------------------------------------------------------------


def _edit(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    texts = [asked.text("text")] if "texts" not in asked.values else asked.texts("texts")
    made = [_checked(" ".join(text.split()) if "\n" in text else text.strip()) for text in texts]
    return state.changes.edited(*made), "; ".join(made)


def _checked(text: str) -> str:
    """*text*, an edit. Raises :class:`~.labconfiguration.LabError`."""
    if len(text) > MOST_EDIT:
        raise LabError(f"edit: expected at most {MOST_EDIT} characters, got {len(text)}", "edit")
    try:
        Edits.parse([text])
    except EditError as error:
        raise LabError(without_flag(str(error)), "edit") from None
    return text


def _unedit(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    edits = state.changes.edits
    at = asked.number("at", 0, len(edits) - 1)
    return attrs.evolve(state.changes, edits=(*edits[:at], *edits[at + 1 :])), f"without: {edits[at]}"


def _copy(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    like, count = asked.text("node"), asked.number("count", 1, MOST_COPIES)
    copies = [one for one in state.changes.copies if one.like != like]
    before = sum(one.count for one in state.changes.copies if one.like == like)
    if before + count > MOST_COPIES:
        raise LabError(f"count: expected at most {MOST_COPIES} copies of {like}, got {before + count}", "copy")
    made = attrs.evolve(state.changes, copies=(*copies, Copies(like, before + count)))
    return made, f"{count} {'node' if count == 1 else 'nodes'} like {like}"


def _uncopy(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    like = asked.text("node")
    return attrs.evolve(state.changes, copies=tuple(one for one in state.changes.copies if one.like != like)), f"no nodes like {like}"


def _cordon(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    node = check_node(asked.text("node"), scenario(state), "node")
    return state.changes.without(cordon(node.name)).edited(cordon(node.name)), f"{node.name} cordoned"


def _uncordon(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    node = check_node(asked.text("node"), scenario(state), "node")
    kept = state.changes.without(cordon(node.name))
    was_given = kept == state.changes
    return kept.edited(f"node {node.name} unschedulable-") if was_given else kept, f"{node.name} takes pods again"


def _drain(asked: ActionValues, state: LabState, scenario: FindScenario) -> tuple[Changes, str]:
    there = scenario(state)
    node = check_node(asked.text("node"), there, "node")
    texts = drain(node.name, there)
    return state.changes.without(*texts).edited(*texts), f"{node.name} drained"


CLUSTER: Mapping[str, Callable[[ActionValues, LabState, FindScenario], tuple[Changes, str]]] = {
    "edit": _edit, "unedit": _unedit, "copy": _copy, "uncopy": _uncopy, "cordon": _cordon, "uncordon": _uncordon, "drain": _drain,
}  # fmt: skip
