"""Metadata of objects of every kind: name, labels, owners, conditions. And :class:`Map`, the hashable dict
for maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn, TypeAlias, TypeVar, get_type_hints

import attrs
from msgspec import Meta, Struct, field
from msgspec.structs import astuple

from .quantity import Int32, Int64, Quantity

V = TypeVar("V")
JsonObject: TypeAlias = Mapping[str, Any]
"""An object in JSON form, such as a manifest, a configuration or a part of one, as it is read."""
JsonDict: TypeAlias = dict[str, Any]
"""An object in JSON form that this package makes."""
Time: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z\Z"
    ),
]
"""A time as the API writes it: in UTC, to the second. Reading turns other forms of RFC 3339 into this one."""

_SPELLED = {
    "cidr": "CIDR",
    "cidrs": "CIDRs",
    "https": "HTTPS",
    "id": "ID",
    "ip": "IP",
    "ips": "IPs",
    "uri": "URI",
    "uuid": "UUID",
}


def json_name(attribute: str) -> str:
    """The API's name of *attribute*: camelCase; initialisms after the first word are in capitals.

    >>> json_name("node_name"), json_name("host_ip"), json_name("csi")
    ('nodeName', 'hostIP', 'csi')
    """
    first_word, *rest = attribute.split("_")
    return first_word + "".join(_SPELLED.get(word, word.capitalize()) for word in rest)


class OneOf:
    """The allowed words of a text that the API server checks; with *optional* it may also be empty."""

    def __init__(self, *words: str, optional: bool = False) -> None:
        self.words: tuple[str, ...] = (*words, "") if optional else words
        self.told: str = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


class FieldWords:
    """The allowed words in fields of a list's items, by attribute."""

    def __init__(self, **fields: OneOf) -> None:
        self.fields = fields


_FROZEN: dict[str, Any] = {"frozen": True}  # a type checker would want to see "frozen" in every class again


class Part(Struct, rename=json_name, **_FROZEN):
    """An immutable object of the API, or a part of one, with the fields that are read here. Fields are nested
    and named as in the API."""


def shortcut(*paths: str) -> Any:
    """A property for the inner attributes at *paths*, which are read without a call of a Python function."""
    return property(attrgetter(*paths), doc="")


class HashedPart(Part, cache_hash=True):
    """A part that is hashed often, and caches its hash."""


class Map(dict[str, V]):
    """A hashable dict with strings as keys, for frozen values. It cannot be changed.

    >>> Map(a="1") == Map(a="1"), hash(Map(a="1")) == hash(Map({"a": "1"}))
    (True, True)
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # dict says it has none
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a Map cannot be changed")

    if not TYPE_CHECKING:  # type checkers know a dict's own methods
        __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (Map, (dict(self),))


NO_STRINGS: Map[str] = Map()
Quantities: TypeAlias = Map[Quantity]
NO_QUANTITIES: Quantities = Map()
NOTHING: Map[Any] = Map()


def strings(pairs: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Map[str]:
    """A :class:`Map` of strings; without any, the shared empty one."""
    string_map: Map[str] = Map(pairs)
    return string_map or NO_STRINGS


class OwnerReference(Part):
    """An owner of an object; *controller* marks the one that manages it."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool = False


class ObjectMeta(Part):
    """Name, namespace, labels and so on. Timestamps are texts in RFC 3339, None when absent."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: Map[str] = NO_STRINGS
    annotations: Map[str] = NO_STRINGS
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object: the first with ``controller: true``."""
        for owner in (
            self.owner_references
        ):  # a generator would take thrice as long, and every pod that is fed is asked
            if owner.controller:
                return owner
        return None


class TemplateMeta(HashedPart):
    """The metadata that a template gives to its objects."""

    labels: Map[str] = NO_STRINGS
    annotations: Map[str] = NO_STRINGS


MANIFEST = "manifest"
"""The attribute of objects for their manifest: it is no field of the API, is not compared and not shown."""


def is_value(kind: Any) -> bool:
    """Whether *kind* is a class of objects, or of parts of them."""
    return attrs.has(kind) or (isinstance(kind, type) and issubclass(kind, Struct))


def attributes(kind: Any) -> JsonObject:
    """The attributes of a class of objects or parts that are fields of the API, each with its default."""
    if attrs.has(kind):
        return {field.name: field.default for field in attrs.fields(kind) if not field.metadata.get("unread")}
    pairs = zip(kind.__struct_fields__, kind.__struct_defaults__, strict=True)
    return {name: default for name, default in pairs if name != MANIFEST}


def json_names(kind: Any) -> Mapping[str, str]:
    """The API's names of the attributes of a class."""
    if attrs.has(kind):
        return {
            field.name: field.metadata.get("name") or json_name(field.name) for field in attrs.fields(kind)
        }
    return dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))


def annotated(kind: Any) -> Iterator[tuple[str, str, Any]]:
    """The attributes of a class, each with the API's name and the annotation."""
    hints = get_type_hints(kind, include_extras=True)
    names = json_names(kind)
    for attribute in attributes(kind):
        yield attribute, names[attribute], hints[attribute]


class KubeObject(Part):
    """An object of any kind: its metadata, with shortcuts."""

    kind: ClassVar[str] = ""
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = ObjectMeta()
    name: ClassVar[str] = shortcut("metadata.name")
    labels: ClassVar[Map[str]] = shortcut("metadata.labels")
    annotations: ClassVar[Map[str]] = shortcut("metadata.annotations")
    controller: ClassVar[OwnerReference | None] = shortcut("metadata.controller")
    manifest: JsonObject | None = field(default=None, name="")
    """The JSON form that the object was read from, if it is kept: to write the object back, or to send it
    on."""

    def __eq__(self, other: object) -> bool:
        return self._compared == other._compared if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._compared)

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name != MANIFEST)
        return f"{type(self).__name__}({', '.join(fields)})"

    @property
    def _compared(self) -> tuple[Any, ...]:
        metadata, _, *rest = astuple(self)
        return (metadata, *rest)

    @property
    def namespace(self) -> str:
        """The namespace; ``default`` if none is given, empty for kinds without namespaces."""
        return (self.metadata.namespace or "default") if self.namespaced else ""

    @property
    def key(self) -> str:
        """``namespace/name``; only the name for kinds without namespaces."""
        metadata = self.metadata
        return f"{metadata.namespace or 'default'}/{metadata.name}" if self.namespaced else metadata.name

    @property
    def identity(self) -> tuple[str, str]:
        """Kind and key, which are unique in a cluster."""
        return self.kind, self.key

    @property
    def uid(self) -> str:
        """The UID; the key if none is given."""
        return self.metadata.uid or self.key


def of_kind(kind: type[V], objects: Iterable[object]) -> list[V]:
    """The *objects* of one class, in order."""
    return [item for item in objects if isinstance(item, kind)]


class Condition(Part):
    """A condition of a pod or node; *status* is ``True``, ``False`` or ``Unknown``."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_probe_time: str | None = None
    last_transition_time: str | None = None


# --- Label selectors, node selectors and affinities ---------------------------------------------------------


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class Requirement(HashedPart):
    """One expression of a label or node selector: key, operator (``In``, ``Exists``, ``Gt``, ...), values."""

    key: str = ""
    operator: Annotated[str, OneOf(*_LABEL_OPERATORS, "Gt", "Lt")] = ""
    given_values: tuple[str, ...] | None = field(default=None, name="values")
    """None: absent; upstream's messages tell it from an empty list."""

    @property
    def values(self) -> tuple[str, ...]:
        return self.given_values or ()


class LabelSelector(HashedPart):
    """A selector of labels: all pairs of match_labels and all of match_expressions. Empty matches everything,
    None nothing."""

    match_labels: Map[str] = NO_STRINGS
    match_expressions: Annotated[tuple[Requirement, ...], FieldWords(operator=OneOf(*_LABEL_OPERATORS))] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_labels and not self.match_expressions


class NodeSelectorTerm(HashedPart):
    """Expressions over a node's labels and fields; all must hold, and without any it matches nothing."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(HashedPart):
    """Terms; one of them must match, so without any it matches nothing."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(HashedPart):
    """A node selector term with the weight for matching nodes."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(HashedPart):
    """Node affinity; in the API *required* and *preferred* end in
    ``DuringSchedulingIgnoredDuringExecution``."""

    required: NodeSelector | None = field(default=None, name=_REQUIRED)
    given_preferred: tuple[PreferredSchedulingTerm, ...] | None = field(default=None, name=_PREFERRED)
    """None: absent; upstream may score a pod that has an empty list, though it prefers nothing."""

    @property
    def preferred(self) -> tuple[PreferredSchedulingTerm, ...]:
        return self.given_preferred or ()


class PodAffinityTerm(HashedPart):
    """Pods (selector, namespaces) in the same topology domain (*topology_key*)."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(HashedPart):
    """A preferred pod affinity term and its weight."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(HashedPart):
    """Pod affinity or pod anti-affinity: required and preferred terms."""

    required: tuple[PodAffinityTerm, ...] = field(default=(), name=_REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = field(default=(), name=_PREFERRED)


class Affinity(HashedPart):
    """A pod's affinities; None if absent, which upstream treats unlike empty."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None
