"""Derives readers from attrs classes: the JSON name is the attribute's name in camelCase, the reader follows from the annotation.

>>> @attrs.frozen
... class Port:
...     host_ip: str = ""
...     number: Int32 | None = None
>>> Schema().reader(Port)({"hostIP": "10.0.0.1", "number": 80, "unknown": True})
Port(host_ip='10.0.0.1', number=80)

Where the API differs from the class, a :class:`Field` says how. An attribute without a reader is an error, if not :data:`UNREAD`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Generic, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

from ..objects import Map
from ..objects.metadata import attributes, is_value
from ..objects.quantity import INT32, INT64, Int32, Quantity
from .apifields import noting_unknown
from .fields import (
    FieldTable,
    Reader,
    V,
    content,
    entries,
    flag,
    list_of,
    member,
    quantities,
    quantity,
    record,
    text,
    texts,
    whole_in,
    within,
)
from .shapes import ANYTHING, Shape

_SPELLED = {"cidr": "CIDR", "cidrs": "CIDRs", "https": "HTTPS", "id": "ID", "ip": "IP", "ips": "IPs", "uri": "URI", "uuid": "UUID"}


def json_name(attribute: str) -> str:
    """The API's name of *attribute*: camelCase; initialisms after the first word are in capitals.

    >>> json_name("node_name"), json_name("host_ip"), json_name("csi")
    ('nodeName', 'hostIP', 'csi')
    """
    first, *rest = attribute.split("_")
    return first + "".join(_SPELLED.get(word, word.capitalize()) for word in rest)


@attrs.frozen(repr=False)
class Form(Generic[V]):
    """How a value looks in JSON: its reader, and the fields in it."""

    read: Reader[V]
    shape: Shape = ANYTHING


@attrs.frozen(repr=False)
class Field:
    """How an attribute looks in JSON, if it does not follow from the class. What is not given is derived."""

    name: str = ""
    inside: str = attrs.field(default="", kw_only=True)
    """The inner object with the field; ``outer.inner`` if nested. Several attributes may share it."""
    absent: Any = attrs.field(default=None, kw_only=True)
    """The value if the inner object exists without the field; None: the default of the class."""
    read: Reader[Any] | None = attrs.field(default=None, kw_only=True)
    shape: Shape = attrs.field(default=ANYTHING, kw_only=True)
    """The fields in the value, if *read* is given."""
    whole: bool = attrs.field(default=False, kw_only=True)
    """*read* gets the object that the attribute belongs to, and no field in it is the attribute's own."""
    fields: Mapping[str, Override] = attrs.field(factory=dict, kw_only=True)
    """Overrides of the class of the value (or of the items) for this attribute only."""


Override: TypeAlias = "Field | Reader[Any]"
"""A reader is short for a :class:`Field` with nothing else."""
Overrides: TypeAlias = Mapping[type[Any], Mapping[str, Override]]
"""Class -> attribute -> how it looks in JSON."""
Wrapper: TypeAlias = Callable[[Form[Any]], Form[Any]]

# These three are equal: compare them with `is`.
UNREAD = Field()
"""An attribute that is not read from JSON."""
INLINE = Field()
"""An attribute whose fields are fields of the outer object."""
_DERIVED = Field()

LEAVES: Mapping[Any, Form[Any]] = {
    str: Form(text),
    bool: Form(flag),
    int: Form(whole_in(INT64), Shape(limits=INT64)),
    Int32: Form(whole_in(INT32), Shape(limits=INT32)),
    bytes: Form(content),
    Quantity: Form(quantity),
    Map[str]: Form(texts),
    Map[Quantity]: Form(quantities),
    Mapping[str, Any]: Form(entries),
}
"""Annotation -> how its values look in JSON."""


def over(wrap: Callable[[Reader[V]], Reader[V]]) -> Callable[[Form[V]], Form[V]]:
    """A wrapper for forms that changes the reader and keeps the shape."""
    return lambda form: Form(wrap(form.read), form.shape)


@attrs.frozen(repr=False)
class Schema:
    """How attrs classes look in JSON. Each class is derived once, on first use."""

    overrides: Overrides = attrs.field(factory=dict)
    known: Mapping[type[Any], Mapping[str, Shape]] = attrs.field(factory=dict, kw_only=True)
    """Class -> fields that the API has, but nothing here reads."""
    unread: Mapping[type[Any], Shape] = attrs.field(factory=dict, kw_only=True)
    """Class -> all fields that the API has: others are unknown, and counted as such (:data:`~.fields.UNKNOWN`)."""
    wrappers: Mapping[Any, Wrapper] = attrs.field(factory=dict, kw_only=True)
    """Annotation -> change of its form, for example to share equal values."""
    leaves: Mapping[Any, Form[Any]] = attrs.field(default=LEAVES, kw_only=True)
    never_null: Collection[type[Any]] = attrs.field(default=(), kw_only=True)
    """Classes whose lists refuse null items; in other lists a null becomes an object with the defaults."""
    _forms: dict[Any, Form[Any]] = attrs.field(factory=dict, init=False)

    def extended(
        self,
        overrides: Overrides,
        *,
        known: Mapping[type[Any], Mapping[str, Shape]] = MappingProxyType({}),
        leaves: Mapping[Any, Form[Any]] = MappingProxyType({}),
    ) -> Schema:
        """A schema with more *overrides*, *known* fields and *leaves*; the new ones win."""
        merged = {kind: {**self.overrides.get(kind, {}), **more} for kind, more in overrides.items()}
        all_overrides = {**self.overrides, **merged}
        return attrs.evolve(self, overrides=all_overrides, known={**self.known, **known}, leaves={**self.leaves, **leaves})

    def reader(self, kind: type[V]) -> Reader[V]:
        """The reader of objects of class *kind*."""
        return self._form(kind).read

    def shape(self, kind: type[Any]) -> Shape:
        """The JSON fields of objects of class *kind*."""
        return self._form(kind).shape

    # --- deriving ---------------------------------------------------------------------------------------------------

    def _form(self, annotation: Any) -> Form[Any]:
        found = self._forms.get(annotation)
        if found is None:
            wrap = self.wrappers.get(annotation, _unchanged)
            found = self._forms[annotation] = wrap(self._derived(annotation, {}))
        return found

    def _derived(self, annotation: Any, changes: Mapping[str, Override]) -> Form[Any]:
        """The form of an annotation; *changes* are further overrides of its class."""
        if annotation in self.leaves:
            return self.leaves[annotation]
        if is_value(annotation):
            return self._record(annotation, changes)
        origin, inner = get_origin(annotation), [part for part in get_args(annotation) if part not in (type(None), ...)]
        if len(inner) != 1 or origin not in (Union, UnionType, tuple):
            raise TypeError(f"got the annotation {annotation}, which has no reader")
        form = self._derived(inner[0], changes) if changes else self._form(inner[0])
        return Form(list_of(form.read, self._null(inner[0])), form.shape) if origin is tuple else form

    def _null(self, item: Any) -> Any:
        """The value for a null item of a list; None: it is refused."""
        if item is str:
            return ""
        return item() if is_value(item) and item not in self.never_null else None

    def _record(self, kind: Any, changes: Mapping[str, Override]) -> Form[Any]:
        overrides, hints, parts = {**self.overrides.get(kind, {}), **changes}, _hints(kind), _Parts()
        for attribute in attributes(kind):
            override = overrides.pop(attribute, _DERIVED)
            field = override if isinstance(override, Field) else Field(read=override)
            if field is not UNREAD:
                parts.add(attribute, field, self._field(hints[attribute], field))
        if overrides:
            raise TypeError(f"got overrides of {', '.join(overrides)}, which {kind.__name__} does not have")
        if kind in self.unread:
            parts.complete(self.unread[kind])
        shape = Shape({**self.known.get(kind, {}), **parts.shapes})
        return Form(record(kind, parts.table, **parts.inline), shape)

    def _field(self, annotation: Any, field: Field) -> Form[Any]:
        if field.read is not None:
            return Form(field.read, field.shape)
        return self._derived(annotation, field.fields) if field.fields else self._form(annotation)


def _unchanged(form: Form[V]) -> Form[V]:
    return form


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


@attrs.define(repr=False)
class _Parts:
    """The fields of one object while they are collected."""

    table: FieldTable = attrs.field(factory=FieldTable)
    shapes: dict[str, Shape] = attrs.field(factory=dict)
    inline: dict[str, Reader[Any]] = attrs.field(factory=dict)
    inner: dict[str, _Parts] = attrs.field(factory=dict)
    partly: set[str] = attrs.field(factory=set)
    """Fields of which the reader does not see all that is in them."""

    def add(self, attribute: str, field: Field, form: Form[Any]) -> None:
        """Add an attribute."""
        name = field.name or json_name(attribute)
        if field.read is not None or field.absent is not None:
            self.partly.add(field.inside or name)
        if field is INLINE or field.whole:
            self.inline[attribute] = form.read
            self.shapes.update(form.shape.fields or {})
        elif not field.inside:
            self._put(name, attribute, form)
        elif field.absent is None:
            self._at(field.inside)._put(name, attribute, form)
        else:
            self._put(field.inside, attribute, Form(member(name, form.read, field.absent), Shape({name: form.shape})))

    def complete(self, api: Shape) -> None:
        """Add the fields that the API has and nothing reads, so that all others are unknown."""
        self.table.is_complete = True
        for name, shape in (api.fields or {}).items():
            if name in self.inner:
                self.inner[name].complete(shape)
            elif name not in self.table:
                self.table[name] = None if shape.fields is None else ("", noting_unknown(shape))
            elif name in self.partly and shape.fields is not None:
                attribute, read = self.table[name] or ("", entries)
                self.table[name] = (attribute, noting_unknown(shape, read))

    def _at(self, path: str) -> _Parts:
        """The fields of an inner object."""
        name, _, rest = path.partition(".")
        if name not in self.inner:
            parts = self.inner[name] = _Parts()
            self._put(name, "", Form(within(parts.table), Shape(parts.shapes)))
        return self.inner[name]._at(rest) if rest else self.inner[name]

    def _put(self, name: str, attribute: str, form: Form[Any]) -> None:
        if name in self.shapes:
            raise TypeError(f"got the field {name} twice, wanted it for one attribute")
        self.table[name] = (attribute, form.read)
        self.shapes[name] = form.shape
