"""What a page can ask for, as plain data: each action gives another configuration or other changes, and says what it did in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ..edits.apply import Edits, without_flag
from ..edits.paths import EditError
from ..scenario import Scenario
from .configurationchanges import switched, weighed, whole, with_release, with_setting, with_source
from .labconfiguration import LabConfiguration, LabError, Source, read_source
from .labinput import MOST_COPIES, Changes, Copies, check_node, cordon, drain
from .workbench import LabState

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
        for action, key in (("switch", "rule"), ("weight", "rule")):
            if self.name == action:
                return f"{action}:{self.values.get(key)}"
        return str(self.values.get("name") if self.name == "set" else self.name)

    def text(self, key: str) -> str:
        """A text."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise LabError(f"{key}: got {value!r}, wanted a text", "")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts, :data:`MOST_TEXTS` at most."""
        values = self.values.get(key)
        if not isinstance(values, list) or len(values) > MOST_TEXTS or not all(isinstance(one, str) and one.strip() for one in values):
            raise LabError(f"{key}: wanted a list of {MOST_TEXTS} texts at most", self.field)
        return values

    def number(self, key: str, least: int = 0, most: int = 2**31) -> int:
        """A whole number."""
        return whole(self.values.get(key), least, most, key)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise LabError(f"{key}: got {value!r}, wanted true or false", self.field)
        return value

    def choice(self, key: str, among: tuple[str, ...]) -> str:
        """One of some texts."""
        value = self.values.get(key)
        if not isinstance(value, str) or value not in among:
            raise LabError(f"{key}: got {value!r}, wanted one of {', '.join(among)}", key)
        return value


def changed(asked: ActionValues, state: LabState, start: LabState, sources: list[Source], scenario: FindScenario) -> Done:
    """What *asked* makes of *state*: configuration, changes, and what was done in words. A source that is loaded joins *sources*.

    Raises :class:`~.labconfiguration.LabError`.
    """
    if asked.name == "reset":
        return start.configuration, start.changes, "back to the start"
    if asked.name == "restore":
        return _restored(asked, start, sources)
    if asked.name in RULES:
        found, did = RULES[asked.name](asked, state.configuration, sources)
        return found, state.changes, did
    if asked.name in CLUSTER:
        changes, did = CLUSTER[asked.name](asked, state, scenario)
        return state.configuration, changes, did
    known = ("undo", "redo", "goto", "pin", "unpin", "reset", "restore", *RULES, *CLUSTER)
    raise LabError(f'do: got "{asked.name}", wanted one of {", ".join(known)}', "")


def _listed(asked: ActionValues, name: str) -> list[Any]:
    """What a link holds under *name*; nothing if it holds no list there."""
    found = asked.values.get(name)
    return found if isinstance(found, list) else []


def _restored(asked: ActionValues, start: LabState, sources: list[Source]) -> Done:
    """The state that a link holds: what was moved and edited since the start."""
    found, changes = start.configuration, Changes()
    for one in _listed(asked, "moves"):
        action = ActionValues(one if isinstance(one, dict) else {})
        if action.name not in RULES:
            raise LabError(f'restore: got "{action.name}", wanted one of {", ".join(RULES)}', "")
        found, _ = RULES[action.name](action, found, sources)
    changes = changes.edited(*map(_checked, asked.texts("edits") if asked.values.get("edits") else ()))
    for one in _listed(asked, "copies"):
        copy = ActionValues({"do": "copy", **(one if isinstance(one, dict) else {})})
        made = Copies(copy.text("like"), copy.number("count", 1, MOST_COPIES))
        changes = attrs.evolve(changes, copies=(*changes.copies, made))
    return found, changes, "the state of a link"


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
        raise LabError(f'source: got "{key}", wanted one of {", ".join(one.key for one in sources)}', "source")
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
        raise LabError(f"edit: got {len(text)} characters, wanted {MOST_EDIT} at most", "edit")
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
        raise LabError(f"count: got {before + count} copies of {like}, wanted {MOST_COPIES} at most", "copy")
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
