"""The forms of conformance cases and answers. Everything else is refused, so no case passes that was not really compared."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..exceptions import ManifestError
from .queuescripts import OPERATIONS

Json = dict[str, Any]
FIELDS = ("pod", "host", "error", "feasible", "failed", "priorities", "scores", "preemption")
"""The fields of a cycle."""
STEP_FIELDS = ("popped", "error", "active", "backoff", "unschedulable", "nominated")
"""The fields of a step of a script."""
CALLS = "http"
"""The field of a cycle with the requests to extenders; a case with scripts of extenders has it."""
PROBLEM = ("name", "version", "config", "objects", "pending", "nominated", "extenders")
SCRIPT = ("name", "version", "podPriority", "namespaces", "script")
RESULTS = {"cycles": (*FIELDS, CALLS), "steps": STEP_FIELDS}
"""What an answer holds unless it is an error -> the fields of each entry."""


def check_case(case: Any, where: str) -> Json:
    """Return *case* if it is a scheduling problem or a script of the queue; else raise ManifestError with *where*, its file and line."""
    _check_named(case, where, "a case")
    is_script = "script" in case
    _check_known(case, SCRIPT if is_script else PROBLEM, where)
    if not isinstance(case.get("version"), str):
        raise ManifestError(f"{where}: no version")
    if "extenders" in case:
        _check_extenders(case["extenders"], where)
    if is_script:
        _check_script(case, where)
    elif not isinstance(case.get("pending"), list):
        raise ManifestError(f"{where}: neither pending, a list of pods, nor script, a list of operations")
    return dict(case)


def _check_script(case: Json, where: str) -> None:
    if not isinstance(case.get("podPriority"), bool):
        raise ManifestError(f"{where}: podPriority: got {case.get('podPriority')!r}, wanted true or false")
    operations = case["script"]
    if not isinstance(operations, list) or not operations:
        raise ManifestError(f"{where}: script: wanted a list of operations")
    for number, operation in enumerate(operations):
        if not isinstance(operation, dict):
            raise ManifestError(f"{where}: script[{number}]: got {operation!r}, wanted an object")
        if operation.get("op") not in OPERATIONS:
            raise ManifestError(f"{where}: script[{number}]: op: got {operation.get('op')!r}, wanted one of {', '.join(OPERATIONS)}")


def _check_extenders(scripts: Any, where: str) -> None:
    """A script of extenders is an object by URL prefix, of objects by role, of objects by pod."""
    levels = [scripts]
    for _ in range(4):
        for level in levels:
            if not isinstance(level, dict):
                raise ManifestError(f"{where}: extenders: got {level!r}, wanted URL prefix -> role -> pod -> reply")
        levels = [inner for level in levels for inner in level.values()]


def check_answer(answer: Any, where: str) -> Json:
    """Return *answer* if it is an error, or has cycles or steps; else raise ManifestError with *where*, its file and line."""
    _check_named(answer, where, "an answer")
    _check_known(answer, ("name", "error", *RESULTS), where)
    held = [key for key in ("error", *RESULTS) if key in answer]
    if len(held) != 1:
        raise ManifestError(f"{where}: got {' and '.join(held) or 'nothing'}, wanted one of error, {', '.join(RESULTS)}")
    if held != ["error"]:
        _check_entries(answer[held[0]], f"{where}: {held[0]}", RESULTS[held[0]])
    return dict(answer)


def _check_entries(entries: Any, where: str, fields: Collection[str]) -> None:
    if not isinstance(entries, list) or not entries:
        raise ManifestError(f"{where}: got none, wanted at least one")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise ManifestError(f"{where}[{number}]: got {entry!r}, wanted an object")
        _check_known(entry, fields, f"{where}[{number}]")


def _check_named(item: Any, where: str, what: str) -> None:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise ManifestError(f"{where}: wanted {what}: an object with a name")


def _check_known(item: Json, known: Collection[str], where: str) -> None:
    unknown = [field for field in item if field not in known]
    if unknown:
        raise ManifestError(f"{where}: field {unknown[0]} is not known: wanted {', '.join(known)}")
