"""Label and field selectors of lists and watches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from .answers import Object, bad_request

Matcher: TypeAlias = Callable[[Object], bool]

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|[^\s=!,()]+)")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "Event": (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
        "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "source", "type", "reportingComponent",
    ),
    "Node": ("spec.unschedulable",),
    "Namespace": ("status.phase",),
    "Pod": ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP",
            "status.nominatedNodeName"),
}  # fmt: skip
"""Kind -> the field labels that it has besides the name and the namespace."""


def selector(labels: str, fields: str, kind: str) -> Matcher | None:
    """The test of both selectors; None where both are empty. An unknown field or a wrong selector is a 400."""
    tests = [*_label_tests(labels), *_field_tests(fields, kind)]
    return (lambda item: all(test(item) for test in tests)) if tests else None


def _label_tests(text: str) -> list[Matcher]:
    return [_label_test(words) for words in _requirements(text)]


def _requirements(text: str) -> list[list[str]]:
    """The words of each requirement; a set's values are one word, joined by commas."""
    found: list[list[str]] = [[]]
    depth = 0
    for word in _TOKEN.findall(text):
        depth += (word == "(") - (word == ")")
        if word == "," and not depth:
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


def _label_test(words: list[str]) -> Matcher:
    match words:
        case ["!", key]:
            return lambda item: key not in _labels(item)
        case ["=" | "==" | "!=", *_]:
            raise bad_request(f"found '{words[0]}', expected: !, identifier, or 'end of string'")
        case [key]:
            return lambda item: key in _labels(item)
        case [key, "=" | "==", *value]:
            return lambda item: _labels(item).get(key) == "".join(value)
        case [key, "!=", *value]:
            return lambda item: _labels(item).get(key) != "".join(value)
        case [key, "in", "(", *values, ")"]:
            return lambda item: _labels(item).get(key) in values[::2]
        case [key, "notin", "(", *values, ")"]:
            return lambda item: _labels(item).get(key) not in values[::2]
    raise bad_request(f"unable to parse requirement: {' '.join(words)}")


def _labels(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}


def _field_tests(text: str, kind: str) -> list[Matcher]:
    return [_field_test(part, kind) for part in text.split(",") if part]


def _field_test(part: str, kind: str) -> Matcher:
    path, operator, value = re.split(r"(!=|==|=)", part, maxsplit=1)
    if path not in ("metadata.name", "metadata.namespace", *_FIELDS.get(kind, ())):
        raise bad_request(f"field label not supported: {path}")
    steps = tuple(path.split("."))
    if operator == "!=":
        return lambda item: _field(item, steps) != value
    return lambda item: _field(item, steps) == value


def _field(item: Object, steps: tuple[str, ...]) -> str:
    found: object = item
    for step in steps:
        found = found.get(step, "") if isinstance(found, dict) else ""
    return str(found).lower() if isinstance(found, bool) else str(found or "")
