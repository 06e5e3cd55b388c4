"""Edits in words, ``node pool=a taints-=x``: first of what is there and of workloads, then of pods, those of workloads included."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.controlplane.manifests import identity_of
from ...api.controlplane.workloads import WORKLOADS
from ...api.inventory import REFUSED
from ...api.kindnames import kind_words
from ...api.load import Loaded, load_documents
from ...api.meaning.labels import Matcher, SelectorError, parse_selector
from ...api.objects import KubeObject
from ...api.reading.documents import Document
from ...api.wire.ownfields import current_manifest
from ...exceptions import ManifestError, UnknownNameError, did_you_mean, one_line
from .changes import EditError, FieldChange, Json, check_resource, path_for

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
        """The edit that *text* says. Raises :class:`~.changes.EditError`.

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
            raise EditError("got a quote that does not end, wanted its end") from None
        if len(words) < 3:
            raise EditError(f"got {len(words)} {'word' if len(words) == 1 else 'words'}, wanted {WANTED}")
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
        """A copy of *manifest* with all changes. Raises :class:`~.changes.EditError`."""
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
        raise UnknownNameError(f'kind: got "{word}", wanted one such as pod, node or deployment{did_you_mean(word.lower(), words)}')
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
        """The edits that *texts* say. Raises :class:`~.changes.EditError`."""
        return cls(tuple(Edit.parse(text) for text in texts), defaults)

    def of_loaded(self, parts: Sequence[Loaded]) -> tuple[list[Loaded], list[Edited]]:
        """*parts* after the edits that are about other kinds than Pod, and what each did. Raises :class:`~.changes.EditError`."""
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
            raise EditError(f"{shown(self.edit.text)}: got no {self.edit.kind} that it is about, wanted one at least{near}")
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
        """The object that *after* says. Raises :class:`~.changes.EditError` for what *before* was not warned of."""
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
