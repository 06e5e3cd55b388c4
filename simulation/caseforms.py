"""The forms of conformance cases and answers. Everything else is refused, so no case passes that was not really compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..api.reading.mismatch import shown
from ..exceptions import ManifestError, did_you_mean
from ..framework.queue.events import EVENTS
from ..framework.releases import FRAMEWORK_RELEASES
from .queuescripts import OPERATIONS

Json = dict[str, Any]
Form = Mapping[str, tuple[Callable[[Any], bool], str]]
"""Field -> whether a value is right, and what is wanted."""
FIELDS = ("pod", "host", "error", "feasible", "failed", "priorities", "scores", "preemption", "allocations")
"""The fields of a cycle."""
STEP_FIELDS = ("popped", "error", "active", "backoff", "unschedulable", "nominated")
"""The fields of a step of a script."""
CALLS = "http"
"""The field of a cycle with the requests to extenders; a case with scripts of extenders has it."""
LONGEST_ADVANCE = 1e9
"""Seconds that one operation of a script can let pass: 31 years."""
VERBS = ("add", "update", "delete")


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) < 1 << 31


def _is_duration(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= LONGEST_ADVANCE


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _map_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(is_right, value.values()))


def _or_null(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_right(value)


_is_text, _is_flag, _is_object = _is(str), _is(bool), _is(dict)
TEXT, FLAG, OBJECT = (_is_text, "a string"), (_is_flag, "true or false"), (_is_object, "an object")
TEXT_OR_NULL, OBJECT_OR_NULL = (_or_null(_is_text), "a string"), (_or_null(_is_object), "an object")
OBJECTS, TEXTS = (_list_of(_is_object), "a list of objects"), (_list_of(_is_text), "a list of strings")
PLACES = (_or_null(_map_of(_is_text)), "an object of strings")
SCRIPTS = (_map_of(_map_of(_map_of(_is_object))), "an object: URL prefix -> role -> pod -> reply")
PROBLEM: Form = {
    "name": TEXT, "version": TEXT, "config": OBJECT_OR_NULL, "objects": OBJECTS, "pending": OBJECTS,
    "nominated": PLACES, "extenders": SCRIPTS,
}  # fmt: skip
CONFIG: Form = {
    "policy": OBJECT_OR_NULL, "profile": OBJECT_OR_NULL, "provider": TEXT_OR_NULL,
    "featureGates": (_or_null(_map_of(_is_flag)), "an object of true and false"), "preemption": FLAG, "equivalenceCache": FLAG,
    "hardPodAffinitySymmetricWeight": (_is_whole, "a whole number"), "percentageOfNodesToScore": (_is_whole, "a whole number"),
}  # fmt: skip
EVENT: Form = {"event": (lambda value: value in VERBS, ", ".join(VERBS)), "object": OBJECT}
SCRIPT: Form = {
    "name": TEXT, "version": TEXT, "podPriority": FLAG, "namespaces": OBJECTS,
    "script": (lambda value: isinstance(value, list) and bool(value), "a list of operations"),
}  # fmt: skip
_OP: Form = {"op": TEXT}
_WITH_POD: Form = {**_OP, "pod": OBJECT}
_WITH_KEY: Form = {**_OP, "pod": TEXT}
STEPS: Mapping[str, Form] = {
    "unschedulable": {**_WITH_KEY, "object": OBJECT, "plugins": TEXTS}, "delete": _WITH_KEY, "unnominate": _WITH_KEY,
    "nominate": {**_WITH_KEY, "node": TEXT}, "pop": _OP, "move": {**_OP, "event": TEXT},
    "advance": {**_OP, "seconds": (_is_duration, f"a number from 0 to {LONGEST_ADVANCE:.0f}")},
}  # fmt: skip
"""Operation -> its form; the others have a pod as an object."""
OPTIONAL = {"config", "objects", "nominated", "namespaces", "object", "plugins", "event"}
CYCLE: Form = {
    "pod": TEXT, "host": TEXT_OR_NULL, "error": TEXT_OR_NULL, "feasible": (_or_null(_list_of(_is_text)), "a list of strings"),
    "failed": OBJECT_OR_NULL, "priorities": OBJECT_OR_NULL, "scores": OBJECT_OR_NULL, "preemption": OBJECT_OR_NULL,
    "allocations": (_map_of(_list_of(_is_text)), "an object of lists of strings"), CALLS: OBJECTS,
}  # fmt: skip
STEP: Form = {
    "popped": TEXT_OR_NULL, "error": TEXT, "active": TEXTS, "backoff": TEXTS, "unschedulable": TEXTS,
    "nominated": (_map_of(_list_of(_is_text)), "an object of lists"),
}  # fmt: skip
RESULTS: Mapping[str, Form] = {"cycles": CYCLE, "steps": STEP}
"""What an answer holds unless it is an error -> the form of each entry."""


def check_case(case: Any, where: str) -> Json:
    """Return *case* if it is a scheduling problem or a script of the queue; else raise ManifestError with *where*, its file and line."""
    _check_named(case, where, "a case")
    if "script" in case:
        _check(case, SCRIPT, where, needed=("version", "podPriority"))
        _check_script(case, where)
    elif "pending" not in case:
        raise ManifestError(f"{where}: neither pending, a list of pods, nor script, a list of operations")
    else:
        _check(case, PROBLEM, where, needed=("version",))
        _check(case.get("config") or {}, CONFIG, f"{where}: config")
        for number, item in enumerate(case["pending"]):
            if "event" in item:
                _check(item, EVENT, f"{where}: pending[{number}]", needed=EVENT)
    return dict(case)


def _check_script(case: Json, where: str) -> None:
    is_classic = case["version"] not in FRAMEWORK_RELEASES
    for number, operation in enumerate(case["script"]):
        place = f"{where}: script[{number}]"
        if not isinstance(operation, dict):
            raise ManifestError(f"{place}: expected an object, got {shown(operation)}")
        if operation.get("op") not in tuple(OPERATIONS):
            raise ManifestError(f"{place}: op: expected one of {', '.join(OPERATIONS)}, got {shown(operation.get('op'))}")
        form = STEPS.get(operation["op"], _WITH_POD)
        _check(operation, form, place, needed=[field for field in form if field not in OPTIONAL])
        if operation["op"] == "move" and not is_classic and operation.get("event") not in tuple(EVENTS):
            near = did_you_mean(operation.get("event", ""), EVENTS)
            raise ManifestError(f"{place}: event: expected an event of the framework, got {shown(operation.get('event'))}{near}")


def check_answer(answer: Any, where: str) -> Json:
    """Return *answer* if it is an error, or has cycles or steps; else raise ManifestError with *where*, its file and line."""
    _check_named(answer, where, "an answer")
    _check_known(answer, ("name", "error", *RESULTS), where)
    held = [key for key in ("error", *RESULTS) if key in answer]
    if len(held) != 1:
        raise ManifestError(f"{where}: expected one of error, {', '.join(RESULTS)}, got {' and '.join(held) or 'nothing'}")
    if held != ["error"]:
        _check_entries(answer[held[0]], f"{where}: {held[0]}", RESULTS[held[0]])
    elif not isinstance(answer["error"], str):
        raise ManifestError(f"{where}: error: expected a string, got {shown(answer['error'])}")
    return dict(answer)


def _check_entries(entries: Any, where: str, form: Form) -> None:
    if not isinstance(entries, list) or not entries:
        raise ManifestError(f"{where}: expected at least one, got none")
    for number, entry in enumerate(entries):
        place = f"{where}[{number}]"
        if not isinstance(entry, dict):
            raise ManifestError(f"{place}: expected an object, got {shown(entry)}")
        _check(entry, form, place)
        cleared = (entry.get("preemption") or {}).get("clearNominations")
        if not _or_null(_list_of(_is_text))(cleared):
            raise ManifestError(f"{place}: preemption.clearNominations: expected a list of strings, got {shown(cleared)}")


def _check(item: Json, form: Form, where: str, needed: Collection[str] = ()) -> None:
    _check_known(item, form, where)
    for field in needed:
        if field not in item:
            raise ManifestError(f"{where}: no {field}: expected {form[field][1]}")
    for field, value in item.items():
        is_right, wanted = form[field]
        if not is_right(value):
            raise ManifestError(f"{where}: {field}: expected {wanted}, got {shown(value)}")


def _check_named(item: Any, where: str, what: str) -> None:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise ManifestError(f"{where}: expected {what}: an object with a name")


def _check_known(item: Json, known: Collection[str], where: str) -> None:
    unknown = [field for field in item if field not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise ManifestError(f"{where}: field {shown(unknown[0])[1:-1]} is not known: expected {', '.join(known)}{near}")
