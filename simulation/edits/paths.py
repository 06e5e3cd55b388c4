"""Places in a manifest: ``spec.containers[app].resources.requests.cpu``, and how to reach them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

from ...exceptions import KubeclassicError, one_line

Json: TypeAlias = Any

FREE_KEYS = ("labels", "annotations", "nodeSelector", "matchLabels", "requests", "limits", "allocatable", "capacity", "parameters")
"""Fields whose keys are anything: all that follows their dot is one key, which may have dots itself."""
EVERY = "*"
_STEP = re.compile(r"([^.\[\]]+)((?:\[[^\[\]]*\])*)(?:\.|\Z)")
_INSIDE = re.compile(r"\[([^\[\]]*)\]")


class EditError(KubeclassicError):
    """An edit that cannot be read, or that does not fit what it is about; the text is one line."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


@attrs.frozen
class Step:
    """One step into a manifest: a key of an object, or with *is_item* items of a list: one by name or number, or ``*`` for all."""

    name: str
    is_item: bool = False

    def __str__(self) -> str:
        return f"[{self.name}]" if self.is_item else f".{self.name}"


Path: TypeAlias = tuple[Step, ...]


def parse_path(text: str) -> Path:
    """The path that *text* says. Raises :class:`EditError`.

    >>> text_of(parse_path("spec.containers[app].resources.requests.nvidia.com/gpu"))
    'spec.containers[app].resources.requests.nvidia.com/gpu'
    >>> len(parse_path("metadata.labels.app.kubernetes.io/name"))
    3
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if steps and steps[-1].name in FREE_KEYS and not steps[-1].is_item:
            steps.append(Step(text[at:]))
            break
        found = _STEP.match(text, at)
        if found is None:
            raise EditError(f'got the field "{text}", wanted names with dots between, such as spec.containers[app].image')
        steps.append(Step(found[1]))
        steps += [Step(inside.strip("'\""), is_item=steps[-1].name not in FREE_KEYS) for inside in _INSIDE.findall(found[2])]
        at = found.end()
    if not steps or text.endswith((".", "[]")):
        raise EditError(f'got the field "{text}", wanted names with dots between, such as spec.containers[app].image')
    return tuple(steps)


def text_of(path: Path) -> str:
    """*path* as it is written."""
    return "".join(map(str, path)).removeprefix(".")


def changed(value: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    """A copy of *value* where *change* made something else of what is at *path*; objects on the way are made where there are none.

    *change* gets None where nothing is there; where it answers None the key is left out. Raises :class:`EditError` if something else
    than an object or a list is on the way. What is not on the way is shared with *value*.
    """
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if step.is_item:
        return _changed_items(value, path, change)
    if value is not None and not isinstance(value, dict):
        raise EditError(f"{step.name}: got it inside {_kind_of(value)}, wanted an object around it")
    before = value or {}
    after = changed(before.get(step.name), rest, change)
    if after is None:
        return {key: held for key, held in before.items() if key != step.name} or None
    return {**before, step.name: after}


def _changed_items(value: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    if value is not None and not isinstance(value, list):
        raise EditError(f"{path[0]}: got it on {_kind_of(value)}, wanted a list")
    chosen = set(_chosen(value or [], path[0].name))
    found = [changed(item, path[1:], change) if number in chosen else item for number, item in enumerate(value or [])]
    return [item for item in found if item is not None] or None


def _chosen(items: list[Json], name: str) -> Iterator[int]:
    for number, item in enumerate(items):
        if name in (EVERY, str(number)) or (isinstance(item, dict) and item.get("name") == name):
            yield number


def _kind_of(value: Json) -> str:
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else f"the value {value!r}"
