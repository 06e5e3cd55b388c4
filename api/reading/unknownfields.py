"""Fields that a JSON object has beyond those that are known, and other looks at values in JSON form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from ...exceptions import ManifestError, did_you_mean
from ..objects.metadata import Map, attributes, is_value, json_names
from .typed import ReadBy

_STEP = re.compile(r"[^.\[\]]+")
"""One step of a path such as ``profiles[0].plugins``."""


Fields: TypeAlias = "Mapping[str, Fields | None]"
"""JSON name -> the fields of the object, or of each object of the list, that the field holds; None: it holds something else."""


def named(names: str, **nested: Fields) -> dict[str, Fields | None]:
    """Fields by name: *names*, separated by blanks, with any values, and *nested* ones.

    >>> named("name weight", tlsConfig=named("insecure"))
    {'name': None, 'weight': None, 'tlsConfig': {'insecure': None}}
    """
    return {**dict.fromkeys(names.split()), **nested}


TYPE_META = named("kind apiVersion")
"""Fields of every object that become no attribute: the kind picks the class."""


@cache
def fields_of(annotation: Any) -> Fields | None:
    """The fields of a class that is read, or of the class in an annotation; None for what has none."""
    if any(isinstance(note, ReadBy) for note in get_args(annotation)):
        return None
    if is_value(annotation):
        hints, names = get_type_hints(annotation, include_extras=True), json_names(annotation)
        return {names[attribute]: fields_of(hints[attribute]) for attribute in attributes(annotation)}
    parts = () if get_origin(annotation) is Map else get_args(annotation)
    return next((found for part in parts if (found := fields_of(part)) is not None), None)


def unknown_fields(value: Any, fields: Fields | None, path: str = "", *, any_case: bool = False) -> Iterator[str]:
    """The paths of the fields in the JSON *value* that *fields* does not have, with *any_case* in any case of letters.

    >>> list(unknown_fields({"items": [{"name": 1}, {"nam": 2}]}, named("", items=named("name"))))
    ['items[1].nam']
    """
    return (path for path, _ in misnamed(value, fields, path, any_case))


def misnamed(value: Any, fields: Fields | None, path: str = "", any_case: bool = False) -> Iterator[tuple[str, str]]:
    """Like :func:`unknown_fields`, with the names that are near.

    >>> list(misnamed({"nam": 2}, named("name")))
    [('nam', '; did you mean "name"?')]
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from misnamed(item, fields, f"{path}[{index}]", any_case)
    elif isinstance(value, Mapping) and fields is not None:
        known = {name.lower(): part for name, part in fields.items()} if any_case else fields
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            if (key := str(name).lower() if any_case else name) in known:
                yield from misnamed(item, known[key], inner, any_case)
            else:
                yield inner, did_you_mean(str(name), fields)


def pruned(value: Any, fields: Fields | None) -> Any:
    """*value* without the fields that *fields* does not have.

    >>> pruned([{"name": 1, "other": 2}], named("name"))
    [{'name': 1}]
    """
    if isinstance(value, list):
        return [pruned(item, fields) for item in value]
    if not isinstance(value, Mapping) or fields is None:
        return value
    return {name: pruned(item, fields[name]) for name, item in value.items() if name in fields}


def copied(value: Any) -> Any:
    """*value*, with objects and lists of its own."""
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def removed(data: dict[str, Any], path: str) -> bool:
    """Whether the field at *path* was there and could be taken out of *data*; its kind and version cannot.

    >>> data = {"a": [{"b": 1, "c": 2}]}
    >>> removed(data, "a[0].b"), removed(data, "a[1].b"), data
    (True, False, {'a': [{'c': 2}]})
    """
    *way, last = _STEP.findall(path) or [""]
    whole: Any = data
    for step in way:
        whole = whole.get(step) if isinstance(whole, dict) else _item(whole, step)
    if not isinstance(whole, dict) or last not in whole or (not way and last in ("kind", "apiVersion")):
        return False
    del whole[last]
    return True


def _item(items: Any, index: str) -> Any:
    return items[int(index)] if isinstance(items, list) and index.isdecimal() and int(index) < len(items) else None


MAX_NESTING = 200
"""How many levels an object may have that is kept in JSON form; the API's own have 20 or so."""


def check_nesting(value: Any, where: object) -> None:
    """Raise :class:`~kubeclassic.exceptions.ManifestError` for objects and lists in one another beyond :data:`MAX_NESTING`."""
    level, depth = [value], 0
    while level := [part for part in level if isinstance(part, (dict, list))]:
        depth += 1
        if depth > MAX_NESTING:
            raise ManifestError(f"{where}: nested too deeply, expected at most {MAX_NESTING} levels")
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]
