"""Edits of a cluster in words, for what-ifs without touching files: ``pod web/* requests.cpu=500m``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, TypeAlias

import attrs
from msgspec.structs import replace

from ..api.controlplane.admission import admit
from ..api.controlplane.manifests import identity_of
from ..api.controlplane.workloads import WORKLOADS
from ..api.inventory import REFUSED
from ..api.load import Loaded, load_documents
from ..api.meaning.labels import Matcher, SelectorError, parse_selector
from ..api.objects import KubeObject
from ..api.objects.quantity import Quantity
from ..api.reading.documents import Document
from ..api.reading.formats.yamlvalues import yaml_values
from ..api.wire.ownfields import current_manifest
from ..api.words import kind_words
from ..exceptions import KubeclassicError, ManifestError, QuantityError, UnknownNameError, did_you_mean, one_line

Json: TypeAlias = Any

LABELS = ("labels", "annotations", "nodeSelector", "matchLabels")
AMOUNTS = ("requests", "limits", "allocatable", "capacity")
FREE_KEYS = frozenset((*LABELS, *AMOUNTS, "parameters", "overhead"))
"""Fields whose keys are anything: all that follows their dot is one key, which may have dots itself."""
OWN_FREE_KEYS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("CSINode", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass"), frozenset(LABELS)),
    "LimitRange": frozenset((*LABELS, "default", "defaultRequest", "max", "maxLimitRequestRatio", "min")),
    "ResourceQuota": FREE_KEYS | {"hard"},
    **dict.fromkeys(("Service", "ReplicationController"), FREE_KEYS | {"selector"}),
}
"""Kind -> the same, where fields of these names have fields of their own, or others have free keys."""
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
    is_free: bool = False
    """It is a key of its own choice, and what it has is a text or an amount."""

    def __str__(self) -> str:
        return f"[{self.name}]" if self.is_item else f".{self.name}"


Path: TypeAlias = tuple[Step, ...]


def parse_path(text: str, free: Collection[str] = FREE_KEYS) -> Path:
    """The path that *text* says; *free*: the fields whose keys are anything. Raises :class:`EditError`.

    >>> text_of(parse_path("spec.containers[app].resources.requests.nvidia.com/gpu"))
    'spec.containers[app].resources.requests.nvidia.com/gpu'
    >>> len(parse_path("metadata.labels.app.kubernetes.io/name"))
    3
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if steps and steps[-1].name in free and not (steps[-1].is_item or steps[-1].is_free):
            steps.append(Step(text[at:], is_free=True))
            break
        found = _STEP.match(text, at)
        if found is None:
            raise EditError(f'expected names with dots between, such as spec.containers[app].image, got the field "{text}"')
        steps.append(Step(found[1]))
        is_free = found[1] in free
        steps += [Step(inside.strip("'\""), is_item=not is_free, is_free=is_free) for inside in _INSIDE.findall(found[2])]
        at = found.end()
    if not steps or text.endswith((".", "[]")):
        raise EditError(f'expected names with dots between, such as spec.containers[app].image, got the field "{text}"')
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
    if step.is_item and not isinstance(value, dict):  # an object may have keys with dots, which stand in brackets
        if value is not None and not isinstance(value, list):
            raise EditError(f"{path[0]}: expected a list, got it on {_kind_of(value)}")
        chosen = set(_chosen(value or [], path[0].name))
        found = [changed(item, path[1:], change) if number in chosen else item for number, item in enumerate(value or [])]
        return [item for item in found if item is not None] or None
    if value is not None and not isinstance(value, dict):
        raise EditError(f"{step.name}: expected an object around it, got it inside {_kind_of(value)}")
    before = value or {}
    after = changed(before.get(step.name), rest, change)
    if after is None:
        return {key: held for key, held in before.items() if key != step.name} or None
    return {**before, step.name: after}


def _chosen(items: list[Json], name: str) -> Iterator[int]:
    for number, item in enumerate(items):
        if name in (EVERY, str(number)) or (isinstance(item, dict) and item.get("name") == name):
            yield number


def _kind_of(value: Json) -> str:
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else f"the value {value!r}"


# --- short names ----------------------------------------------------------------------------------------------------


TOP = ("metadata", "spec", "status")
FIXED = ("apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "name", "namespace", "uid")
"""These say which object it is, and stay."""
POD_TEMPLATES: Mapping[str, str] = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"), "spec.template.spec"),
    "Pod": "spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Kind -> where the spec of its pods is."""
OF_PODS = frozenset([
    "affinity", "containers", "hostNetwork", "initContainers", "nodeName", "nodeSelector", "overhead", "preemptionPolicy", "priority",
    "priorityClassName", "schedulerName", "schedulingGates", "terminationGracePeriodSeconds", "tolerations",
    "topologySpreadConstraints", "volumes",
])  # fmt: skip
"""Fields of the spec of pods."""
OF_NODE_STATUS = frozenset(["allocatable", "capacity", "conditions", "images", "nodeInfo", "volumesAttached", "volumesInUse"])
SINGULAR: Mapping[str, str] = {
    name: f"{name}s" for name in ("request", "limit", "label", "annotation", "toleration", "taint")
}  # fmt: skip
"""What one may write for a short name that has an s."""
WITHOUT_SPEC = ("StorageClass", "PriorityClass", "CSIStorageCapacity")


def path_for(kind: str, text: str) -> Path:
    """The path that *text* means for objects of *kind*. Raises :class:`EditError`.

    >>> text_of(path_for("Pod", "requests.cpu")), text_of(path_for("Node", "taints")), text_of(path_for("Deployment", "replicas"))
    ('spec.containers[*].resources.requests.cpu', 'spec.taints', 'spec.replicas')
    """
    path = parse_path(text, OWN_FREE_KEYS.get(kind, FREE_KEYS))
    if (meant := SINGULAR.get(path[0].name)) is not None:
        raise EditError(f'expected a field that there is, got "{text}"; did you mean "{meant}{text.removeprefix(path[0].name)}"?')
    found = (*_before(kind, path[0].name), *path)
    if text_of(found) in FIXED:
        raise EditError(f'expected another field, got "{text}", which says which object it is')
    return found


def _before(kind: str, first: str) -> Path:
    """The steps before a short path that begins with *first*."""
    pods = POD_TEMPLATES.get(kind)
    if first in TOP or first in FIXED:
        return ()
    if first in ("labels", "annotations"):
        return (Step("metadata"),)
    if pods is not None and first in ("requests", "limits"):
        return (*parse_path(pods), Step("containers"), Step(EVERY, is_item=True), Step("resources"))
    if pods is not None and first in OF_PODS:
        return parse_path(pods)
    if kind == "Node" and first in OF_NODE_STATUS:
        return (Step("status"),)
    if kind == "PersistentVolumeClaim" and first == "requests":
        return parse_path("spec.resources")
    return () if kind in WITHOUT_SPEC else (Step("spec"),)


_SHORT = re.compile(r"(?P<key>[^=:{\s]+)(?:=(?P<value>[^:]*))?(?::(?P<effect>\w*))?")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def keyed_item(field: str, text: str) -> dict[str, Json] | None:
    """The taint or toleration that *text* says; None for another *field*, or where *text* is YAML. Raises :class:`EditError`.

    >>> keyed_item("taints", "dedicated=gpu:NoSchedule")
    {'key': 'dedicated', 'value': 'gpu', 'effect': 'NoSchedule'}
    >>> keyed_item("tolerations", "dedicated")
    {'key': 'dedicated', 'operator': 'Exists'}
    """
    if field not in ("taints", "tolerations") or text.lstrip().startswith("{"):
        return None
    if field == "tolerations" and text == "*":
        return {"operator": "Exists"}
    key, value, effect = _parts(field, text)
    if field == "taints":
        if not effect:
            raise EditError(f'expected KEY:EFFECT or KEY=VALUE:EFFECT, got the taint "{text}"')
        return {"key": key, **({"value": value} if value else {}), "effect": effect}
    operator = {"operator": "Exists"} if value is None else {"operator": "Equal", "value": value}
    return {"key": key, **operator, **({"effect": effect} if effect else {})}


def keyed_test(field: str, text: str) -> Callable[[Json], bool] | None:
    """Whether a taint or toleration is one that *text* means: its key, and the value and effect if *text* has them; None elsewhere."""
    if field not in ("taints", "tolerations") or text.lstrip().startswith("{"):
        return None
    key, value, effect = _parts(field, text)

    def is_meant(item: Json) -> bool:
        if not isinstance(item, dict) or (key != "*" and item.get("key") != key):
            return False
        return (value is None or (item.get("value") or "") == value) and (not effect or item.get("effect") == effect)

    return is_meant


def _parts(field: str, text: str) -> tuple[str, str | None, str]:
    found = _SHORT.fullmatch(text)
    effect = (found["effect"] or "") if found else ""
    if found is None or (effect and effect not in EFFECTS):
        raise EditError(f'{field}: expected KEY, KEY=VALUE or KEY=VALUE:EFFECT, EFFECT one of {", ".join(EFFECTS)}, got "{text}"')
    return found["key"], found["value"], effect


# --- changes --------------------------------------------------------------------------------------------------------


SET, ADD, TAKE, TIMES, REMOVE = "=", "+=", "-=", "*=", "-"
_WRITTEN = re.compile(r"([^=]*?[^=+*-])(\+=|-=|\*=|=)(.*)", re.DOTALL)
_NANO = 10**9


@attrs.frozen
class FieldChange:
    """One change: at *path*, by *operator*, with the text *value*."""

    path: Path
    operator: str
    value: str = ""

    @classmethod
    def split(cls, text: str) -> tuple[str, str, str]:
        """Field, operator and value of *text*. Raises :class:`EditError`.

        >>> FieldChange.split("requests.cpu*=0.5"), FieldChange.split("labels.pool=a=b"), FieldChange.split("nodeSelector.pool-")
        (('requests.cpu', '*=', '0.5'), ('labels.pool', '=', 'a=b'), ('nodeSelector.pool', '-', ''))
        """
        found = _WRITTEN.fullmatch(text)
        if found is not None:
            return found[1], found[2], found[3]
        if text.endswith(REMOVE) and len(text) > 1 and "=" not in text:
            return text[:-1], REMOVE, ""
        raise EditError(f'expected FIELD=VALUE, FIELD+=VALUE, FIELD-=VALUE, FIELD*=NUMBER or FIELD-, got the change "{text}"')

    def made(self, manifest: dict[str, Json]) -> dict[str, Json]:
        """A copy of *manifest* with the change. Raises :class:`EditError`."""
        try:
            after: dict[str, Json] = changed(manifest, self.path, self._at)
        except EditError as error:
            raise EditError(f"{text_of(self.path)}: {error}") from None
        return after

    def _at(self, before: Json) -> Json:
        if self.operator == SET:
            return self._value()
        if self.operator == TIMES:
            return None if before is None else _times(before, self.value)
        if self.operator == ADD:
            return self._added(before)
        return self._without(before) if self.operator == TAKE else None

    @property
    def _is_text(self) -> bool:
        """Whether values here are texts, whatever they look like."""
        return self.path[-1].is_free

    @property
    def _name(self) -> str:
        return self.path[-1].name

    def _value(self) -> Json:
        return self.value if self._is_text else read_value(self.value)

    def _added(self, before: Json) -> Json:
        if before is None or isinstance(before, list):
            return [*(before or []), keyed_item(self._name, self.value) or read_value(self.value)]
        value = read_value(self.value)
        if isinstance(before, dict) and isinstance(value, dict):
            return {**before, **value}
        raise EditError("got += where there is neither a list nor an object")

    def _without(self, before: Json) -> Json:
        if before is None:
            return None
        if isinstance(before, dict):
            return {key: held for key, held in before.items() if key != self.value} or None
        if not isinstance(before, list):
            raise EditError("got -= where there is neither a list nor an object")
        is_meant = keyed_test(self._name, self.value) or _equal_or_named(read_value(self.value))
        return [item for item in before if not is_meant(item)] or None


def read_value(text: str) -> Json:
    """The value that *text* says, as in YAML: a number, true, a text, ``[a, b]``, ``{key: value}``. Raises :class:`EditError`."""
    try:
        found = [value for value, _ in yaml_values(text, "value")]
    except ManifestError:
        found = [None, None]
    if len(found) > 1:
        raise EditError(f'expected YAML, got the value "{text}"')
    return found[0] if found else None


def _equal_or_named(value: Json) -> Any:
    def is_meant(item: Json) -> bool:
        return bool(item == value or (isinstance(item, dict) and value in (item.get("name"), item.get("key"), item.get("topologyKey"))))

    return is_meant


def _times(before: Json, factor: str) -> Json:
    """A number or an amount of a resource, times *factor*; amounts are rounded up to thousandths, numbers to whole ones."""
    try:
        times = Fraction(factor)
    except (ValueError, ZeroDivisionError):
        raise EditError(f'expected a number such as 0.5, got the factor "{factor}"') from None
    if times < 0:
        raise EditError(f'expected a number of 0 or more, got the factor "{factor}"')
    try:
        exact = Quantity.parse(before).nanos * times
    except QuantityError as error:
        raise EditError(f"it is no number: {error}") from None
    if isinstance(before, int):
        return -int(-exact // _NANO)
    milli = -int(-exact // 10**6)
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


# --- names of resources ---------------------------------------------------------------------------------------------


NATIVE = ("cpu", "memory", "ephemeral-storage", "storage", "pods")
HUGE_PAGES = "hugepages-"


def check_resource(change: FieldChange) -> FieldChange:
    """*change*, if the resource that it is about can be one: a native one or one with a domain. Raises :class:`EditError`."""
    for before, step in zip(change.path, change.path[1:], strict=False):
        if before.name in AMOUNTS and step.is_free and change.operator != REMOVE:
            name = step.name
            if "/" not in name and name not in NATIVE and not name.startswith(HUGE_PAGES):
                near = did_you_mean(name, NATIVE)
                raise EditError(f'{before.name}: expected cpu, memory or one such as nvidia.com/gpu, got the resource "{name}"{near}')
    return change


WANTED = "KIND SELECTOR CHANGE..., such as 'pod web/* requests.cpu=500m' or 'node pool=a taints-=x'"
EVERYTHING = "*"
PATTERN_MARKS = "*?["
_FLAG = re.compile(r"\A--set '.*?': ", re.DOTALL)


@attrs.frozen
class Edit:
    """Changes of all objects of a kind that are chosen by name or by labels."""

    text: str
    kind: str
    names: str | None
    """A pattern of ``namespace/name`` or ``name``; None: *labels* choose."""
    labels: Matcher
    changes: tuple[FieldChange, ...]

    @classmethod
    def parse(cls, text: str) -> Edit:
        """The edit that *text* says. Raises :class:`EditError`.

        >>> edit = Edit.parse("pod web/* requests.cpu=500m")
        >>> edit.kind, edit.names, edit.changes[0].value
        ('Pod', 'web/*', '500m')
        """
        try:
            return cls._parse(text)
        except (EditError, UnknownNameError) as error:
            raise EditError(f"{shown(text)}: {error}") from None

    @classmethod
    def _parse(cls, text: str) -> Edit:
        try:
            words = shlex.split(text)
        except ValueError:
            raise EditError("expected its end, got a quote that does not end") from None
        if len(words) < 3:
            raise EditError(f"expected {WANTED}, got {len(words)} {'word' if len(words) == 1 else 'words'}")
        kind, chosen = _kind(words[0]), words[1]
        is_labels = any(mark in chosen for mark in ("=", "!", "(")) or chosen.startswith("-l")
        written = (FieldChange.split(word) for word in words[2:])
        changes = tuple(check_resource(FieldChange(path_for(kind, field), operator, value)) for field, operator, value in written)
        return cls(text, kind, None if is_labels else chosen, _matcher(chosen if is_labels else ""), changes)

    @property
    def is_about_pods(self) -> bool:
        """Whether it changes pods, which workloads may still have to make."""
        return self.kind == "Pod"

    @property
    def exact_name(self) -> str | None:
        """The name that all chosen objects have; None: it is a pattern, or labels choose."""
        return None if self.names is None or any(mark in self.names for mark in PATTERN_MARKS) else self.names.rpartition("/")[2]

    def chooses(self, namespace: str, name: str, labels: Mapping[str, str]) -> bool:
        """Whether an object of the kind is meant."""
        if self.names is None:
            return self.labels(labels)
        pattern = self.names
        return fnmatchcase(f"{namespace}/{name}" if "/" in pattern else name, pattern)

    def made(self, manifest: dict[str, Json]) -> dict[str, Json]:
        """A copy of *manifest* with all changes. Raises :class:`EditError`."""
        for change in self.changes:
            manifest = change.made(manifest)
        return manifest

    @property
    def fields(self) -> Iterable[str]:
        """The names of the fields that change, the last step of each path."""
        return (change.path[-1].name for change in self.changes)


def shown(text: str) -> str:
    """An edit as messages name it: on one line, and without the middle if it is long."""
    return f"--set '{one_line(text, 300)}'"


def without_flag(text: str) -> str:
    """A message about an edit without the words of the command line, for those who type the edit alone.

    >>> without_flag("--set 'pod a b=1': got no Pod")
    'got no Pod'
    """
    return _FLAG.sub("", text, count=1)


def _matcher(text: str) -> Matcher:
    try:
        return parse_selector(text)
    except SelectorError as error:
        raise EditError(f"selector: {error}") from None


def _kind(word: str) -> str:
    words = {**kind_words(), **{form: kind for kind in WORKLOADS for form in (kind.lower(), f"{kind.lower()}s")}, "deploy": "Deployment"}
    words |= {"ds": "DaemonSet", "cj": "CronJob"}
    found = words.get(word.lower())
    if found is None:
        raise UnknownNameError(f'kind: expected one such as pod, node or deployment, got "{word}"{did_you_mean(word.lower(), words)}')
    return found


# --- what it does to a cluster --------------------------------------------------------------------------------------


Places = dict[tuple[str, str | None], list[int]]
"""Where objects are, by kind and name, and by kind and None; edits leave both as they are."""
CLASS_FIELDS = ("priorityClassName", "priority")


@attrs.frozen
class Edited:
    """What an edit did."""

    edit: Edit
    chosen: int
    """How many objects it is about."""
    changed: int

    def __str__(self) -> str:
        objects = f"{self.chosen} {self.edit.kind if self.chosen == 1 else f'{self.edit.kind}s'}"
        if not self.changed:
            return f"{shown(self.edit.text)}: nothing changed: {objects}, and each is so already"
        return f"{shown(self.edit.text)}: {objects}" + ("" if self.changed == self.chosen else f", of which {self.changed} changed")


@attrs.frozen
class Edits:
    """Edits in order. An edit that is about no object at all is an error."""

    edits: tuple[Edit, ...] = ()
    defaults: bool = True
    """Whether objects get the API server's defaults."""

    @classmethod
    def parse(cls, texts: Iterable[str], *, defaults: bool = True) -> Edits:
        """The edits that *texts* say. Raises :class:`EditError`."""
        return cls(tuple(Edit.parse(text) for text in texts), defaults)

    def of_loaded(self, parts: Sequence[Loaded]) -> tuple[list[Loaded], list[Edited]]:
        """*parts* after the edits that are about other kinds than Pod, and what each did. Raises :class:`EditError`."""
        told, found = [], list(parts)
        edits = [edit for edit in self.edits if not edit.is_about_pods]
        places = [_places_of(part.objects, edits) for part in parts] if edits else []
        for edit in edits:
            work = _Work(edit, self.defaults)
            before, found = found, [work.loaded(part, there) for part, there in zip(found, places, strict=True)]
            told.append(work.told(_names_in(before)))
        return found, told

    def of_pods(self, objects: Sequence[KubeObject], *, priorities: bool = True) -> tuple[tuple[KubeObject, ...], list[Edited]]:
        """*objects* after the edits that are about pods, and what each did; *priorities*: whether gate PodPriority is on."""
        told, found = [], tuple(objects)
        edits = [edit for edit in self.edits if edit.is_about_pods]
        places = _places_of(found, edits) if edits else {}
        for edit in edits:
            work = _Work(edit, self.defaults)
            edited = work.objects(found, places)
            if self.defaults and any(field in CLASS_FIELDS for field in edit.fields):
                edited = {at: _admitted(edit, after, found, priorities) for at, after in edited.items()}
            before, found = found, put_in(found, edited)
            told.append(work.told(_names_in([Loaded(before)])))
        return found, told


def put_in(objects: Sequence[KubeObject], others: Mapping[int, KubeObject]) -> tuple[KubeObject, ...]:
    """*objects* with *others* in these places."""
    found = list(objects)
    for at, item in others.items():
        found[at] = item
    return tuple(found)


def _names_in(parts: Iterable[Loaded]) -> Iterator[tuple[str, str, str]]:
    """Kind, namespace and name of all that is in *parts*."""
    for part in parts:
        yield from ((kind, *identity_of(document)[1:]) for kind, found in part.raw.items() for document in found)
        yield from ((item.kind, item.namespace, item.name) for item in part.objects)


def _places_of(objects: Sequence[KubeObject], edits: Iterable[Edit]) -> Places:
    """Where the objects are that *edits* are about."""
    found: Places = {(edit.kind, edit.exact_name): [] for edit in edits}
    kinds = {kind for kind, _ in found}
    for at, item in enumerate(objects):
        if item.kind in kinds:
            for name in (item.metadata.name, None):
                if (item.kind, name) in found:
                    found[item.kind, name].append(at)
    return found


@attrs.define
class _Work:
    """One edit under way."""

    edit: Edit
    defaults: bool
    chosen: dict[tuple[str, str], bool] = attrs.field(factory=dict)
    """Namespace and name of the objects that it is about -> whether it changed them."""

    def told(self, there: Iterable[tuple[str, str, str]]) -> Edited:
        """What it did; if nothing, a name of *there* may have been meant."""
        if not self.chosen:
            near = ""
            if (pattern := self.edit.names) is not None:
                names = {f"{namespace}/{name}" if "/" in pattern else name for kind, namespace, name in there if kind == self.edit.kind}
                near = did_you_mean(pattern, sorted(names))
            raise EditError(f"{shown(self.edit.text)}: expected at least one {self.edit.kind} that it matches, got none{near}")
        return Edited(self.edit, len(self.chosen), sum(self.chosen.values()))

    def loaded(self, part: Loaded, places: Places) -> Loaded:
        """Objects and manifests of workloads after the edit."""
        raw = dict(part.raw)
        if self.edit.kind in WORKLOADS and self.edit.kind in raw:
            raw[self.edit.kind] = tuple(self.document(document) for document in raw[self.edit.kind])
        return attrs.evolve(part, objects=put_in(part.objects, self.objects(part.objects, places)), raw=raw)

    def objects(self, items: Sequence[KubeObject], places: Places) -> dict[int, KubeObject]:
        """Those of *items* that the edit changes, after it, by their places."""
        about = places.get((self.edit.kind, self.edit.exact_name), ())
        return {at: after for at in about if (after := self.object(items[at])) is not items[at]}

    def document(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """A workload's manifest after the edit."""
        _, namespace, name = identity_of(document)
        labels = (document.get("metadata") or {}).get("labels") or {}
        if not self.edit.chooses(namespace, name, labels):
            return document
        after = self._made(dict(document))
        self._note(namespace, name, after != document)
        self._read(after, document, f"{namespace}/{name}")
        return after

    def object(self, item: KubeObject) -> KubeObject:
        """An object after the edit."""
        if item.kind != self.edit.kind or not self.edit.chooses(item.namespace, item.name, item.labels):
            return item
        before = {"kind": item.kind, **current_manifest(item)}
        after = self._made(before)
        self._note(item.namespace, item.name, after != before)
        if after == before:
            return item
        (made,) = self._read(after, before, item.key)
        return replace(made, manifest=after) if item.manifest is not None else made

    def _note(self, namespace: str, name: str, is_changed: bool) -> None:
        key = namespace, name
        self.chosen[key] = self.chosen.get(key, False) or is_changed

    def _made(self, before: dict[str, Json]) -> dict[str, Json]:
        try:
            return self.edit.made(self._without_class(before) if self.edit.is_about_pods else before)
        except EditError as error:
            raise EditError(f"{shown(self.edit.text)}: {error}") from None

    def _without_class(self, pod: dict[str, Json]) -> dict[str, Json]:
        """A pod whose class of priority changes loses the old priority, one whose priority changes the class."""
        fields = set(self.edit.fields)
        old = CLASS_FIELDS if "priorityClassName" in fields else CLASS_FIELDS[:1] if "priority" in fields else ()
        return {**pod, "spec": {key: held for key, held in pod.get("spec", {}).items() if key not in old}} if old else pod

    def _read(self, after: Mapping[str, Any], before: Mapping[str, Any], key: str) -> tuple[KubeObject, ...]:
        """The object that *after* says. Raises :class:`EditError` for what *before* was not warned of."""
        where = f"{self.edit.kind} {key}"
        try:
            known = {notice.what for notice in self._loaded(before, where).warnings}
            found = self._loaded(after, where)
        except ManifestError as error:
            raise EditError(f"{shown(self.edit.text)}: {error}") from None
        for notice in found.warnings:
            if notice.what not in known:
                raise EditError(f"{shown(self.edit.text)}: {notice}")
        return found.objects

    def _loaded(self, manifest: Mapping[str, Any], where: str) -> Loaded:
        return load_documents([Document(manifest, where)], defaults=self.defaults)


def _admitted(edit: Edit, pod: KubeObject, objects: Sequence[KubeObject], priorities: bool) -> KubeObject:
    """A pod with the priority of the class that it names now."""
    created = pod.metadata.creation_timestamp
    new = replace(pod, metadata=replace(pod.metadata, creation_timestamp=None))
    classes = [item for item in objects if item.kind == "PriorityClass"]
    admitted = admit([new], classes, priorities=priorities)
    for refused, why in admitted.refused:
        raise EditError(f"{shown(edit.text)}: Pod {refused.key}: {REFUSED}: {why}")
    (found,) = admitted.objects
    return replace(found, metadata=replace(found.metadata, creation_timestamp=created))
