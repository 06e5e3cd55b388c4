"""Answers as data, typed once: a class of fields, from which the JSON, its schema and its description follow.

>>> class Room(Record):
...     '''What is free.'''
...     node_name: str
...     free_cpu: Count = 0
...     '''Millicores.'''
>>> plain(Room("a", 250))
{'nodeName': 'a', 'freeCpu': 250}
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, ClassVar, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import astuple, force_setattr, replace

from .garbage import no_garbage_collection

__all__ = [
    "API_VERSION",
    "UNSET",
    "Amounts",
    "Annotated",
    "Count",
    "Counts",
    "DocumentRecord",
    "Meta",
    "Names",
    "PodKey",
    "Positive",
    "Record",
    "Share",
    "Size",
    "UnsetType",
    "as_document",
    "astuple",
    "copied",
    "derive",
    "field",
    "plain",
    "replace",
    "says",
    "schema_of",
]


API_VERSION = "kubeclassic/v1"
"""The version of all schemas. It moves when a field goes or changes its meaning, not when one is added."""
_WRITTEN: dict[str, Any] = {
    "frozen": True,
    "rename": "camel",
}  # a type checker would want to see "frozen" in every class again


class Record(Struct, **_WRITTEN):
    """The base of all answers that programs read. Fields are named as Python does; JSON has ``outOfReach``
    for ``out_of_reach``.

    A field that is left out where it has no value has ``| UnsetType`` and the default ``UNSET``. The
    docstring below a field is its description in the schema.
    """


class DocumentRecord(Record):
    """The base of whole documents, which are printed with ``apiVersion`` and ``kind`` before their fields."""

    KIND: ClassVar[str]
    """The ``kind`` of the document."""


def as_document(answer: DocumentRecord) -> dict[str, Any]:
    """*answer* as it is printed: ``apiVersion`` and ``kind`` first, as Kubernetes' own objects have them."""
    return {"apiVersion": API_VERSION, "kind": answer.KIND, **plain(answer)}


def says(description: str, **bounds: Any) -> Meta:
    """The description of a field's part, or of a field with *bounds* as in msgspec's Meta; other fields have
    docstrings."""
    return Meta(description=description, **bounds)


def derive(record: Record, **values: Any) -> None:
    """Set fields that follow from the others, in ``__post_init__``; such fields have a default, which is
    never seen.

    >>> class Lack(Record):
    ...     asked: int
    ...     free: int
    ...     missing: int = 0
    ...     def __post_init__(self) -> None:
    ...         derive(self, missing=self.asked - self.free)
    >>> Lack(500, 200)
    Lack(asked=500, free=200, missing=300)
    """
    for name, value in values.items():
        force_setattr(record, name, value)


Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Size = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Counts = Mapping[str, Count]
Names = tuple[str, ...]
PodKey = Annotated[str, Meta(pattern="^[^/]+/[^/]+$", description="NAMESPACE/NAME of a pod.")]
Amounts = Annotated[Mapping[str, int], Meta(description="Resource -> millicores, bytes or pieces.")]


def plain(answer: Any) -> Any:
    """*answer*, records and what they hold, as dicts, lists, texts and numbers."""
    with no_garbage_collection():
        try:
            # to_builtins leaves tuples as they are.
            return msgspec.msgpack.decode(msgspec.msgpack.encode(answer))
        except (OverflowError, ValueError):  # huge numbers, and halves of characters
            return copied(msgspec.to_builtins(answer))


def copied(value: Any) -> Any:
    """*value*, a JSON form, with objects and lists of its own; tuples become lists."""
    if isinstance(value, Mapping):
        return {name: copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list | tuple) else value


def schema_of(
    kind: Any, leading: Callable[[type[Record]], Mapping[str, Any]] = lambda kind: {}
) -> dict[str, Any]:
    """The JSON Schema of *kind*, a record or a union of some; *leading*: the schemas of fields that a
    document has before its own.

    Fields with a default are always there; only those whose default is ``UNSET`` may be left out.
    """
    union, notes = (get_args(kind)[0], get_args(kind)[1:]) if get_origin(kind) is Annotated else (kind, ())
    tops = get_args(union) or (union,)
    references, schemas = msgspec.json.schema_components(tops, ref_template="#/$defs/{name}")
    records = {kind.__name__: kind for kind in _subclasses(Record)}
    kinds = {name: _full_schema(schema, records.get(name, Record)) for name, schema in schemas.items()}
    for top, reference in zip(tops, references, strict=True):
        name = reference["$ref"].rpartition("/")[2]
        leading_fields = leading(top)
        properties = {**leading_fields, **kinds[name]["properties"]}
        required = [*leading_fields, *kinds[name]["required"]]
        kinds[name] = {**kinds[name], "properties": properties, "required": required}
    if len(tops) > 1:
        return {
            "description": " ".join(note.description for note in notes),
            "oneOf": list(references),
            "$defs": kinds,
        }
    is_nested = any(f"{references[0]['$ref']}'" in str(schema) for schema in kinds.values())
    top_schema = kinds[name] if is_nested else kinds.pop(name)
    return {**top_schema, "$defs": kinds} if kinds else top_schema


def _subclasses(kind: type[Record]) -> Iterator[type[Record]]:
    for subclass in kind.__subclasses__():
        yield from (subclass, *_subclasses(subclass))


def _full_schema(schema: dict[str, Any], kind: type[Record]) -> dict[str, Any]:
    """*schema* of what is written, not of what would be read: with each field required that has a default,
    and described."""
    fields = schema.get("properties", {})
    descriptions = dict[str, str]()
    # The docstring below a field, in the source of the class or of one that it extends, describes it.
    names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    for base in kind.__mro__[: kind.__mro__.index(Record)][::-1]:
        (declared,) = ast.parse(dedent(inspect.getsource(base))).body
        for line, text in pairwise(getattr(declared, "body", ())):
            match line, text:
                case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(docstring))) if name in names:
                    descriptions[names[name]] = " ".join(docstring.split())
    fields = {
        name: {"description": ""} | field | {"description": descriptions[name]}
        if name in descriptions
        else field
        for name, field in fields.items()
    }
    required = [
        name for name, field in fields.items() if name in schema.get("required", ()) or "default" in field
    ]
    properties = {
        name: {word: value for word, value in field.items() if word != "default"}
        for name, field in fields.items()
    }
    if "description" in schema:  # a paragraph is one line, however the source is wrapped
        paragraphs = schema["description"].split("\n\n")
        schema = {**schema, "description": "\n\n".join(" ".join(part.split()) for part in paragraphs)}
    return {**schema, "properties": properties, "required": required} if fields else schema
