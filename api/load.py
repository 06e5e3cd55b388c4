"""Loads manifests and dumps of a cluster as objects, in the order of the files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import IO, Any, TypeVar

import attrs
from msgspec.structs import replace

from ..exceptions import ManifestError
from .controlplane.defaults import with_default_selector, with_defaults
from .controlplane.manifests import GIVEN_BEFORE, identity_of, prefix_of
from .controlplane.workloads import WORKLOADS
from .garbage import no_garbage_collection
from .objects import (
    BIND_COMPLETED,
    KINDS,
    JsonObject,
    KubeObject,
    Node,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
)
from .reading.decode import decode_kind, describe, pod_of_texts
from .reading.documents import Document, File, PathLike, read_files
from .reading.exports import CONFIG, NOT_READ, is_simulator_export, simulator_items
from .reading.formats.jsonvalues import Uncertain, whole_value
from .reading.mismatch import shown, without_kind
from .reading.notices import Notice, Oddities
from .reading.unknownfields import check_nesting, has_only, is_built_in, kind_with_group
from .reading.validation import CountsAs, Validation

K = TypeVar("K", bound=KubeObject)

RAW_KINDS = ("ConfigMap", *WORKLOADS)
NO_KIND = "no kind, ignored"
NOT_BOUND = f"it is Bound, but has no annotation {BIND_COMPLETED}, so the scheduler takes it as unbound"
_IN_ITEM = re.compile(r"items\[(\d+)\]\.(.*)", re.DOTALL)


@attrs.frozen(repr=False)
class Loaded:
    """The contents of files: *objects* in order, *raw* documents of the requested kinds, and how many of
    other kinds were skipped."""

    objects: tuple[KubeObject, ...] = ()
    raw: Mapping[str, tuple[JsonObject, ...]] = attrs.Factory(dict)
    ignored: Mapping[str, int] = attrs.Factory(dict)
    warnings: tuple[Notice, ...] = ()

    def of(self, kind: type[K]) -> list[K]:
        """The objects of one class."""
        return [found for found in self.objects if type(found) is kind]


def load(
    paths: PathLike | Iterable[PathLike],
    *,
    stdin: IO[Any] | None = None,
    defaults: bool = True,
    strict_fields: bool = False,
    raw_kinds: Collection[str] = RAW_KINDS,
    keeps_manifests: bool = False,
) -> Loaded:
    """Load files, directories and ``-`` (*stdin*, else standard input).

    YAML, JSON and JSON Lines, gzipped or not, single objects or ``List``\\ s, as ``kubectl get -o yaml|json``
    and ``kubectl cluster-info dump`` print them. With *defaults* objects are completed as the API server
    would do it (:func:`~.controlplane.defaults.with_defaults`). Fields that the API does not have and keys
    given twice are warnings, as is what an API server refuses (:mod:`~.reading.validation`); *strict_fields*
    refuses them. Of two objects with one name the last counts, but a node may be given only once. Documents
    of *raw_kinds*, by default workloads and ConfigMaps, are also kept in JSON form; with *keeps_manifests*
    every object has its own as ``manifest``. Raises :class:`~kubeclassic.exceptions.ManifestError` with the
    place.
    """
    loading = _Loading(defaults, Oddities(strict_fields), frozenset(raw_kinds), keeps_manifests)
    with no_garbage_collection():
        for file in read_files(paths, stdin):
            loading = loading.with_file(file)
    return loading.result()


def load_documents(
    documents: Iterable[Document], *, defaults: bool = True, raw_kinds: Collection[str] = RAW_KINDS
) -> Loaded:
    """Like :func:`load`, for documents that have been read."""
    loading = _Loading(defaults, Oddities(), frozenset(raw_kinds))
    with no_garbage_collection():
        for document in documents:
            loading.take(document)
    return loading.result()


@attrs.define(repr=False)
class _Place:
    """The place of an object; written only where it is used."""

    where: str
    data: JsonObject
    kind: str

    @classmethod
    def of(cls, data: JsonObject, where: str) -> _Place:
        """The place of *data*, which may be anything."""
        kind = data.get("kind")
        return cls(where, data, kind if isinstance(kind, str) else "")

    def item(self, at: int) -> _Place:
        """The place of an item of a list."""
        return _Place.of(self.data["items"][at], f"{self.where}, item {at + 1}")

    def __str__(self) -> str:
        return f"{self.where} ({describe(self.data, self.kind)})"

    @property
    def about(self) -> str:
        """The object, as ``Pod shop/web-0``."""
        kind, namespace, name = identity_of({**self.data, "kind": self.kind})
        is_namespaced = self.kind not in KINDS or KINDS[self.kind].namespaced
        return f"{kind} {namespace}/{name}" if is_namespaced else f"{kind} {name}"


@attrs.define(repr=False)
class _Loading:
    defaults: bool
    odd: Oddities
    raw_kinds: frozenset[str]
    keeps_manifests: bool = False
    objects: dict[tuple[str, str], KubeObject] = attrs.Factory(dict)
    raw: dict[str, list[JsonObject]] = attrs.Factory(dict)
    ignored: Counter[str] = attrs.Factory(Counter)
    numbers: Counter[tuple[str, str, str]] = attrs.Factory(Counter)
    """Kind, namespace and ``generateName`` -> the last number that was given, or found taken."""
    validation: Validation = attrs.Factory(Validation)

    def with_file(self, file: File) -> _Loading:
        """With what a file has. A long list is tried item by item, and if anything is wrong, from its
        beginning in the exact way."""
        file.refuse_without_kind()
        with suppress(ManifestError, Uncertain, OSError, EOFError, ValueError), file.long_list() as long_list:
            if long_list is not None:
                trial = attrs.evolve(
                    self,
                    objects=self.objects.copy(),
                    raw={kind: documents.copy() for kind, documents in self.raw.items()},
                    ignored=self.ignored.copy(),
                    numbers=self.numbers.copy(),
                    odd=attrs.evolve(self.odd, notices=self.odd.notices.copy()),
                )
                quick = (b'"Pod"', *(["Pod"] if long_list.api_version in (None, "v1") else []))
                for index, parts in enumerate(long_list.items()):
                    if (bytes(parts.get("kind", b"")) or long_list.kind) not in quick or not trial._is_taken(
                        pod_of_texts(parts)
                    ):
                        trial._take_item(
                            long_list.kind,
                            {name: whole_value(part) for name, part in parts.items()},
                            f"{file.where}, document 1, item {index + 1}",
                            long_list.api_version,
                        )
                return trial
        for document in file.documents():
            self.take(document)
        return self

    def take(self, document: Document) -> None:
        """Add a document, or each item of a list."""
        whole = _Place.of(document.data, document.where)
        for path in document.repeated:
            in_item = _IN_ITEM.fullmatch(path)
            place = whole.item(int(in_item[1])) if in_item else whole
            self.odd.note_repeated([in_item[2] if in_item else path], place, place.about)
        kind = document.data.get("kind")
        if isinstance(kind, str) and kind:
            self._take(kind, document.data, document.where)
        elif is_simulator_export(document.data):
            self._take_items("", simulator_items(document.data, document.where), document.where)
            if document.data.get(CONFIG):
                self.odd.tell(document.where, NOT_READ)
        elif document.found:
            self.odd.tell(document.where, NO_KIND)
        else:
            raise without_kind(document.where, document.data)

    def _is_taken(self, pod: Pod | None) -> bool:
        """Whether there is nothing to say about the pod, so that it is added."""
        if pod is None or self.keeps_manifests or not pod.metadata.name or self.validation.refused(pod):
            return False
        if (identity := pod.identity) in self.objects:
            return False
        self.objects[identity] = with_defaults(pod) if self.defaults else pod
        return True

    def _take(self, kind: str, data: JsonObject, where: str, api_version: Any = None) -> None:
        api_version = data.get("apiVersion") or api_version
        if kind.endswith("List") and ("items" in data or kind == "List"):
            items = data.get("items")
            if items is not None and not isinstance(items, list):
                raise ManifestError(f"{where}: items: expected a list, got {shown(items)}")
            self._take_items(
                kind.removesuffix("List"), items or (), where, None if kind == "List" else api_version
            )
            return
        if not is_built_in(kind, api_version):
            self.ignored[kind_with_group(kind, api_version)] += 1
            return
        place = _Place(where, data, kind)
        if kind in self.raw_kinds:
            check_nesting(data, place)
            self.raw.setdefault(kind, []).append(data if "kind" in data else {"kind": kind, **data})
        decoded = decode_kind(kind, data, place, keeps_manifest=self.keeps_manifests)
        if decoded is not None:
            self._keep(self._named(decoded, data, place), data, place)
        elif kind not in self.raw_kinds:
            self.ignored[kind] += 1
        elif kind != "ConfigMap":
            prefix_of(data, place)
        if not has_only(kind, data):  # few do not: where it is needs words that take time
            self.odd.note_unknown(kind, data, place, place.about)
        refused = self.validation.refused(decoded)
        if kind in WORKLOADS:
            refused += self.validation.refused_in_templates(kind, data)
        for what in refused:
            if isinstance(what, CountsAs):
                self.odd.tell(place, what, place.about)
            else:
                self.odd.note(place, what, place.about)

    def _take_items(self, kind: str, items: Iterable[Any], where: str, api_version: Any = None) -> None:
        for index, item in enumerate(items):
            self._take_item(kind, item, f"{where}, item {index + 1}", api_version)

    def _take_item(self, kind: str, item: Any, place: str, api_version: Any) -> None:
        if not isinstance(item, dict):
            raise ManifestError(f"{place}: expected a Kubernetes object, got {shown(item)}")
        item_kind = item.get("kind") or kind
        if item_kind != kind:
            api_version = None
        if not isinstance(item_kind, str) or not item_kind:
            raise without_kind(place, item)
        self._take(item_kind, item, place, api_version)

    def _named(self, decoded: KubeObject, data: JsonObject, place: object) -> KubeObject:
        """The object with its name; one that has only a ``generateName`` gets the next free number."""
        if decoded.metadata.name:
            return decoded
        prefix = prefix_of(data, place)
        alike = decoded.kind, decoded.metadata.namespace, prefix
        while True:
            self.numbers[alike] += 1
            named = replace(
                decoded, metadata=replace(decoded.metadata, name=f"{prefix}{self.numbers[alike]}")
            )
            if named.identity not in self.objects:
                return named

    def _keep(self, decoded: KubeObject, data: JsonObject, place: _Place) -> None:
        identity = decoded.identity
        if identity in self.objects:
            if isinstance(decoded, Node):
                raise ManifestError(
                    f"{place}: metadata.name: expected each node once, got {decoded.name} again"
                )
            self.odd.tell(place, GIVEN_BEFORE, place.about)
        completed = with_defaults(decoded) if self.defaults else decoded
        if self.defaults and decoded.kind in WORKLOADS:
            completed = with_default_selector(completed, data)
        self.objects[identity] = completed
        is_bound = (
            isinstance(decoded, PersistentVolumeClaim)
            and decoded.spec.volume_name
            and decoded.phase == "Bound"
        )
        if is_bound and BIND_COMPLETED not in decoded.annotations:
            self.odd.tell(place, NOT_BOUND, place.about)

    def result(self) -> Loaded:
        """All that was added."""
        # A pod without a UID, as tools leave it in dumps, has that by which its claims know it.
        given = self.objects.values()
        objects = list[KubeObject]()
        known = {
            (item.namespace, owner.name): owner.uid
            for item in given
            if isinstance(item, PersistentVolumeClaim | ResourceClaim)
            for owner in item.metadata.owner_references
            if owner.kind == "Pod"
        }
        for item in given:
            is_unknown = isinstance(item, Pod) and not item.metadata.uid
            uid = known.get((item.namespace, item.name), "") if is_unknown else ""
            objects.append(replace(item, metadata=replace(item.metadata, uid=uid)) if uid else item)
        return Loaded(
            tuple(objects),
            {kind: tuple(documents) for kind, documents in self.raw.items()},
            dict(self.ignored),
            tuple(self.odd.notices),
        )
