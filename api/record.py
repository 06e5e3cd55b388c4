"""Answers as data, typed once: a class of fields, from which the JSON, its schema and its description follow.

>>> class Room(Record):
...     '''What is free.'''
...     node_name: str
...     free_cpu: Annotated[Count, says("Millicores.")] = 0
>>> plain(Room("a", 250))
{'nodeName': 'a', 'freeCpu': 250}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from .garbage import no_garbage_collection

__all__ = [
    "UNSET",
    "Amounts",
    "Annotated",
    "Count",
    "Counts",
    "Meta",
    "Record",
    "Share",
    "UnsetType",
    "field",
    "plain",
    "says",
    "schema_of",
]


_WRITTEN: dict[str, Any] = {"frozen": True, "rename": "camel"}  # a type checker would want to see "frozen" in every class again


class Record(Struct, **_WRITTEN):
    """The base of all answers that programs read. Fields are named as Python does; JSON has ``outOfReach`` for ``out_of_reach``.

    A field that is left out where there is nothing to say has ``| UnsetType`` and the default ``UNSET``.
    """


def says(description: str, **bounds: Any) -> Meta:
    """What a field means, for the schema and for readers: ``Annotated[int, says("How many fit.")]``; *bounds* as in msgspec's Meta."""
    return Meta(description=description, **bounds)


Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Counts = Mapping[str, Count]
Amounts = Annotated[Mapping[str, int], Meta(description="Resource -> millicores, bytes or pieces.")]


def plain(answer: Any) -> Any:
    """*answer*, records and what they hold, as dicts, lists, texts and numbers."""
    with no_garbage_collection():
        try:
            return msgspec.msgpack.decode(msgspec.msgpack.encode(answer))  # to_builtins leaves tuples as they are
        except (OverflowError, ValueError):  # huge numbers, and halves of characters
            return _lists(msgspec.to_builtins(answer))


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lists(part) for name, part in value.items()}
    return [_lists(part) for part in value] if isinstance(value, list | tuple) else value


def schema_of(kind: type[Record], leading: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON Schema of *kind*; *leading*: the schemas of fields that its documents have before its own.

    Fields with a default are always there; only those whose default is ``UNSET`` may be left out.
    """
    found = msgspec.json.schema(kind, ref_template="#/$defs/{name}")
    kinds = {name: _written_whole(schema) for name, schema in found.pop("$defs").items()}
    name = found["$ref"].rpartition("/")[2]
    is_nested = any(f"#/$defs/{name}'" in str(schema) for schema in kinds.values())
    top = dict(kinds[name]) if is_nested else kinds.pop(name)
    top["properties"] = {**(leading or {}), **top["properties"]}
    top["required"] = [*(leading or {}), *top["required"]]
    return {**top, "$defs": kinds} if kinds else top


def _written_whole(schema: dict[str, Any]) -> dict[str, Any]:
    """*schema* of what is written, not of what would be read: with each field required that has a default."""
    fields = schema.get("properties", {})
    needed = [name for name, field in fields.items() if name in schema.get("required", ()) or "default" in field]
    shown = {name: {word: value for word, value in field.items() if word != "default"} for name, field in fields.items()}
    return {**schema, "properties": shown, "required": needed} if fields else schema
