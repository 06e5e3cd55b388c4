"""Manifests and dumps of a cluster as objects, in the order of the files; and what the API server and the
controllers would make of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import IO, Any, TypeVar

from attrs import Factory, define, evolve, field, frozen
from msgspec.structs import replace

from ..exceptions import ManifestError, UnknownNameError, did_you_mean
from .controlplane import (
    WORKLOADS,
    Admitted,
    Made,
    admit,
    claims_of_volumes,
    expand,
    first_job,
    missing_kinds,
    read_workload,
    scales_of,
    with_budgets,
    with_default_selector,
    with_defaults,
    with_device_claims,
    within_quotas,
    workload_faults,
)
from .garbage import no_garbage_collection
from .meaning import NEWEST_SERVER, ServerRules
from .objects import (
    BIND_COMPLETED,
    KINDS,
    JsonObject,
    KubeObject,
    Node,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    of_kind,
)
from .reading import (
    CONFIG,
    NOT_READ,
    CountsAs,
    Document,
    File,
    Notice,
    Oddities,
    Paths,
    Validation,
    check_nesting,
    decode_kind,
    describe,
    each_path,
    has_only,
    is_built_in,
    is_simulator_export,
    kind_with_group,
    pod_of_texts,
    read_files,
    shown,
    simulator_items,
    without_kind,
)
from .reading.formats.jsonvalues import Parts, Uncertain, whole_value

# --- Manifests of workloads, each with a name; of two with one name the last counts -------------------------


Identity = tuple[str, str, str]
"""Kind, namespace, name."""

GIVEN_BEFORE = "was given before, the last one counts"


def each_once(manifests: Iterable[JsonObject]) -> tuple[tuple[JsonObject, ...], tuple[Notice, ...]]:
    """The last of *manifests* for each name, and a notice for each that is left out. Manifests with only a
    ``generateName`` get a number.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for one without both names.
    """
    by_identity: dict[Identity, JsonObject] = {}
    repeated: dict[Identity, None] = {}
    for manifest in named(manifests):
        identity = identity_of(manifest)
        # Of kinds that become objects, loading has said so.
        if identity in by_identity and identity[0] not in KINDS:
            repeated[identity] = None
        by_identity[identity] = manifest
    return tuple(by_identity.values()), tuple(
        Notice(f"{kind} {namespace}/{name}", GIVEN_BEFORE) for kind, namespace, name in repeated
    )


def named(manifests: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """*manifests*, of which those with only a ``generateName`` get a number.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for one without both names.
    """
    numbers: Counter[Identity] = Counter()
    given = tuple(manifests)
    taken = set(map(identity_of, given))
    for manifest in given:
        kind, namespace, name = identity_of(manifest)
        prefix = prefix_of(manifest, kind)
        if not name and prefix:
            while not name or (kind, namespace, name) in taken:
                numbers[kind, namespace, prefix] += 1
                name = f"{prefix}{numbers[kind, namespace, prefix]}"
            manifest = {**manifest, "metadata": {**metadata_of(manifest), "name": name}}
        yield manifest


def identity_of(manifest: JsonObject) -> Identity:
    """Kind, namespace and name of a manifest; no name is an empty one."""
    metadata = metadata_of(manifest)
    namespace, name = (
        value if isinstance(value, str) else "" for value in (metadata.get("namespace"), metadata.get("name"))
    )
    return str(manifest.get("kind", "")), namespace or "default", name


def prefix_of(manifest: JsonObject, where: object) -> str:
    """The ``generateName`` of a manifest. Raises :class:`~kubeclassic.exceptions.ManifestError` with *where*
    for one without any name."""
    metadata = metadata_of(manifest)
    value = metadata.get("generateName")
    prefix = value if isinstance(value, str) else ""
    if not prefix and metadata.get("name") in (None, ""):
        raise ManifestError(f"{where}: metadata.name: expected a name, got nothing")
    return prefix


def metadata_of(manifest: JsonObject) -> JsonObject:
    """The metadata of a manifest or a list."""
    metadata = manifest.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


# --- Loading ------------------------------------------------------------------------------------------------


K = TypeVar("K", bound=KubeObject)
ByKey = dict[tuple[str, str], KubeObject]
"""Objects by kind and key."""


RAW_KINDS = ("ConfigMap", *WORKLOADS)
NO_KIND = "no kind, ignored"
CSV_HINT = "expected manifests, got a CSV file: `kubeclassic import` makes them of a trace, and `kubeclassic replay` reads a trace's files"
NOT_BOUND = f"it is Bound, but has no annotation {BIND_COMPLETED}, so the scheduler takes it as unbound"
_IN_ITEM = re.compile(r"items\[(\d+)\]\.(.*)", re.DOTALL)


@frozen(repr=False)
class Loaded:
    """The contents of files: *objects* in order, *raw* documents of the requested kinds, and how many of
    other kinds were skipped."""

    objects: tuple[KubeObject, ...] = ()
    raw: Mapping[str, tuple[JsonObject, ...]] = Factory(dict)
    ignored: Mapping[str, int] = Factory(dict)
    warnings: tuple[Notice, ...] = ()
    prefixes: Mapping[tuple[str, str], str] = Factory(dict)
    """Kind and key of an object that got its name here -> its ``generateName``."""
    written: Mapping[tuple[str, str], Pod] = Factory(dict)
    """Kind and key of a new pod -> the pod before it got defaults."""

    def of(self, kind: type[K]) -> list[K]:
        """The objects of one class."""
        return [item for item in self.objects if type(item) is kind]

    @property
    def ignored_kinds(self) -> dict[str, int]:
        """Objects of kinds that are not read, in words -> their number."""
        return {f"of kind {kind}": count for kind, count in self.ignored.items()}


def load(
    paths: Paths,
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
    files = each_path(paths)
    for path in files:
        if os.fspath(path).endswith((".csv", ".csv.gz")):
            raise ManifestError(f"{path}: {CSV_HINT}")
    loading = _Loading(defaults, Oddities(strict_fields), frozenset(raw_kinds), keeps_manifests)
    with no_garbage_collection():
        for file in read_files(files, stdin):
            loading = loading.with_file(file)
    return loading.result()


def load_documents(
    documents: Iterable[Document],
    *,
    defaults: bool = True,
    raw_kinds: Collection[str] = RAW_KINDS,
    validation: Validation | None = None,
) -> Loaded:
    """Like :func:`load`, for documents that have been read."""
    loading = _Loading(defaults, Oddities(), frozenset(raw_kinds))
    loading.validation = validation or loading.validation
    with no_garbage_collection():
        for document in documents:
            loading.take(document)
    return loading.result()


def load_given(given: KubeObject | JsonObject, number: int, *, defaults: bool) -> Loaded:
    """The object *given*, or the content of the manifest *number*."""
    if isinstance(given, KubeObject):
        written = {given.identity: given} if isinstance(given, Pod) else {}
        return Loaded((with_defaults(given) if defaults else given,), written=written)
    return load_documents([Document(given, f"manifest {number}")], defaults=defaults)


@define(repr=False)
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
        if self.kind in KINDS and not KINDS[self.kind].namespaced:
            return f"{kind} {name}"
        return f"{kind} {namespace}/{name}"


@define(repr=False)
class _Loading:
    defaults: bool
    odd: Oddities
    raw_kinds: frozenset[str]
    keeps_manifests: bool = False
    objects: ByKey = Factory(dict)
    raw: dict[str, list[JsonObject]] = Factory(dict)
    ignored: Counter[str] = Factory(Counter)
    numbers: Counter[tuple[str, str, str]] = Factory(Counter)
    """Kind, namespace and ``generateName`` -> the last number that was given, or found taken."""
    prefixes: dict[tuple[str, str], str] = Factory(dict)
    """Kind and key of an object that got a number -> its ``generateName``."""
    written: dict[tuple[str, str], Pod] = Factory(dict)
    validation: Validation = Factory(lambda: Validation(of_files=True))

    def with_file(self, file: File) -> _Loading:
        """The loading with *file*. A long list is read item by item or, if anything is wrong, from its
        beginning in the exact way."""
        file.refuse_without_kind()
        with suppress(ManifestError, Uncertain, OSError, EOFError, ValueError), file.long_list() as long_list:
            if long_list is not None:
                trial = evolve(
                    self,
                    objects=self.objects.copy(),
                    raw={kind: documents.copy() for kind, documents in self.raw.items()},
                    ignored=self.ignored.copy(),
                    numbers=self.numbers.copy(),
                    prefixes=self.prefixes.copy(),
                    written=self.written.copy(),
                    odd=evolve(self.odd, notices=self.odd.notices.copy()),
                )
                quick = (b'"Pod"', *(["Pod"] if long_list.api_version in (None, "v1") else []))
                for index, parts in enumerate(long_list.items()):
                    if (bytes(parts.get("kind", b"")) or long_list.kind) not in quick or not trial._can_add(
                        pod_of_texts(parts), parts
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
        data = document.data
        where = document.where
        item_place = _Place.of(data, where)
        for path in document.repeated:
            in_item = _IN_ITEM.fullmatch(path)
            place = item_place.item(int(in_item[1])) if in_item else item_place
            self.odd.note_repeated([in_item[2] if in_item else path], place, place.about)
        kind = data.get("kind")
        if isinstance(kind, str) and kind:
            self._take(kind, data, where)
        elif is_simulator_export(data):
            self._take_items("", simulator_items(data, where), where)
            if data.get(CONFIG):
                self.odd.tell(where, NOT_READ)
        elif document.found:
            self.odd.tell(where, NO_KIND)
        else:
            raise without_kind(where, data)

    def _can_add(self, pod: Pod | None, parts: Parts) -> bool:
        """Whether there is nothing to say about the pod, so that it is added."""
        if pod is None or self.keeps_manifests or not pod.metadata.name:
            return False
        if not self.validation.is_fine(pod, parts):
            return False
        if (identity := pod.identity) in self.objects:
            return False
        self.objects[identity] = self._completed(pod)
        return True

    def _completed(self, decoded: KubeObject) -> KubeObject:
        """The object with its defaults."""
        if isinstance(decoded, Pod) and decoded.metadata.creation_timestamp is None:
            self.written[decoded.identity] = decoded
        return with_defaults(decoded) if self.defaults else decoded

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
            if kind == "Status" and data.get("status") == "Failure":
                raise ManifestError(
                    f"{where}: expected objects, got an error of the API server: {shown(data.get('message'))}"
                )
            self.ignored[kind_with_group(kind, api_version)] += 1
            return
        place = _Place(where, data, kind)
        if kind in self.raw_kinds:
            check_nesting(data, place)
            self.raw.setdefault(kind, []).append(data if "kind" in data else {"kind": kind, **data})
        decoded = decode_kind(kind, data, place, keeps_manifest=self.keeps_manifests)
        has_others = not has_only(kind, data)  # few have some: the text of their place takes time
        if decoded is not None:
            self._keep(self._with_name(decoded, data, place), data, place)
        elif kind not in self.raw_kinds:
            self.ignored[kind] += 1
        elif kind != "ConfigMap":
            prefix_of(data, place)
        if has_others:
            self.odd.note_unknown(kind, data, place, place.about)
        more = workload_faults(data) if kind in WORKLOADS else ()
        for refusal in self.validation.refused(kind, data, decoded, more):
            if isinstance(refusal, CountsAs):
                self.odd.tell(place, refusal, place.about)
            else:
                self.odd.note(place, refusal, place.about)

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
        try:
            self._take(item_kind, item, place, api_version)
        except RecursionError:
            raise ManifestError(f"{place.partition(', item ')[0]}: nested too deeply") from None

    def _with_name(self, decoded: KubeObject, data: JsonObject, place: object) -> KubeObject:
        """The object with its name; one that has only a ``generateName`` gets the next free number."""
        return decoded if decoded.metadata.name else self._numbered(decoded, prefix_of(data, place))

    def _numbered(self, item: KubeObject, prefix: str) -> KubeObject:
        prefix_key = item.kind, item.metadata.namespace, prefix
        while True:
            self.numbers[prefix_key] += 1
            renamed = replace(
                item, metadata=replace(item.metadata, name=f"{prefix}{self.numbers[prefix_key]}")
            )
            if renamed.identity not in self.objects:
                self.prefixes[renamed.identity] = prefix
                return renamed

    def _keep(self, decoded: KubeObject, data: JsonObject, place: _Place) -> None:
        identity = decoded.identity
        if identity in self.objects and identity in self.prefixes:
            # The name was free when it was given: now it is another object's own.
            moved = self._numbered(self.objects[identity], self.prefixes.pop(identity))
            self.objects = {
                (kept := moved if key == identity else item).identity: kept
                for key, item in self.objects.items()
            }
        elif identity in self.objects:
            if isinstance(decoded, Node):
                raise ManifestError(
                    f"{place}: metadata.name: expected each node once, got {decoded.name} again"
                )
            self.odd.tell(place, GIVEN_BEFORE, place.about)
        completed = self._completed(decoded)
        if self.defaults and decoded.kind in WORKLOADS:
            completed = with_default_selector(completed, data)
        self.objects[identity] = completed
        is_bound = (
            isinstance(decoded, PersistentVolumeClaim)
            and decoded.spec.volume_name
            and decoded.metadata.creation_timestamp
            and decoded.phase == "Bound"
        )
        if is_bound and BIND_COMPLETED not in decoded.annotations:
            self.odd.tell(place, NOT_BOUND, place.about)

    def result(self) -> Loaded:
        """Everything that was loaded."""
        # A pod without a UID, which some tools leave out of dumps, gets the UID that its claims have for it.
        items = self.objects.values()
        objects = list[KubeObject]()
        uid_by_owner = {
            (item.namespace, owner.name): owner.uid
            for item in items
            if isinstance(item, PersistentVolumeClaim | ResourceClaim)
            for owner in item.metadata.owner_references
            if owner.kind == "Pod"
        }
        for item in items:
            is_unknown = isinstance(item, Pod) and not item.metadata.uid
            uid = uid_by_owner.get((item.namespace, item.name), "") if is_unknown else ""
            if uid:
                self.written.pop(item.identity, None)
            objects.append(replace(item, metadata=replace(item.metadata, uid=uid)) if uid else item)
        return Loaded(
            tuple(objects),
            {kind: tuple(documents) for kind, documents in self.raw.items()},
            dict(self.ignored),
            tuple(self.odd.notices),
            self.prefixes,
            self.written,
        )


# --- The objects of a cluster, as its API server and controllers would make them ----------------------------


Originals = dict[int, tuple[Pod, Pod]]
"""``id`` of a new pod -> the pod, and the pod as it was written, before defaults and admission."""
REFUSED = "refused by the API server"
"""The reason for ignoring a pod that the API server would refuse."""
TABLE_HINT = (
    "a Table is what the API prints for people, and has no objects: use `kubectl get -o json` or `-o yaml`"
)


@frozen(repr=False)
class Inventory:
    """The objects of a cluster in the given order, and what happened to the rest."""

    objects: tuple[KubeObject, ...] = ()
    ignored: Mapping[str, int] = Factory(dict)
    """Unused objects, in words -> their number."""
    warnings: tuple[Notice, ...] = ()
    refused: tuple[Notice, ...] = ()
    """Objects that the API server would refuse, with the reasons; the warnings have them too."""
    refused_pods: tuple[tuple[Pod, str], ...] = ()
    """The pods among these, with the reasons."""
    config_maps: Mapping[tuple[str, str], JsonObject] = Factory(dict)
    """Manifests of ConfigMaps, by namespace and name."""
    daemon_sets: tuple[JsonObject, ...] = ()
    """Manifests of DaemonSets, which would make pods for more nodes."""
    jobs: tuple[JsonObject, ...] = ()
    """Manifests of Jobs, which end after some failures."""
    originals: Originals = field(factory=dict, eq=False)
    places: Mapping[tuple[str, str], int] = field(factory=dict, eq=False)
    """Kind and key of an object -> its place among all, if some are refused."""


def take_in(
    parts: Sequence[Loaded],
    existing: Sequence[KubeObject] = (),
    *,
    defaults: bool = True,
    cron_jobs: bool = False,
    server: ServerRules = NEWEST_SERVER,
    whole: bool = False,
) -> Inventory:
    """The objects of *parts*, and those that the controllers of their workloads would still make; of CronJobs
    only with *cron_jobs*.

    *existing* is what the cluster has. Of two objects with one name the last counts, at the place of the
    first. With *defaults* new objects are admitted as *server* does it; what it would refuse is skipped. If
    *existing* and *parts* are a *whole* cluster, the warnings name the kinds that it lacks.
    """
    given = merged(parts, existing)
    additions = made_by_workloads(given, existing, defaults=defaults, cron_jobs=cron_jobs)
    loaded = (*given.objects, *additions.objects)
    claims = (
        claim
        for item in loaded
        if isinstance(item, Pod) and not (item.metadata.creation_timestamp or item.node_name)
        for claim in claims_of_volumes(item)
    )
    by_identity = {item.identity: item for item in loaded}
    for claim in claims:
        by_identity.setdefault(claim.identity, claim)
    new = tuple(by_identity.values())
    admitted = admit(new, existing, server=server) if defaults else Admitted(new)
    if defaults:
        within = within_quotas(admitted.objects, existing)
        admitted = evolve(admitted, objects=within.objects, refused=(*admitted.refused, *within.refused))
    refused = tuple(
        Notice(f"{item.kind} {item.key}", f"{REFUSED}: {reason}") for item, reason in admitted.refused
    )
    objects = with_device_claims(admitted.objects, existing)
    if whole:
        workloads = (item for kind in WORKLOADS for item in given.raw.get(kind, ()))
        objects = with_budgets(objects, existing, scales_of(workloads))
    written = {pod.identity: pod for pod in of_kind(Pod, new) if not pod.metadata.creation_timestamp}
    written.update(given.written)
    originals = {
        id(item): (item, written[item.identity])
        for item in of_kind(Pod, (*objects, *(item for item, _ in admitted.refused)))
        if not (item.metadata.creation_timestamp or item.node_name)
    }
    ignored = Counter({REFUSED: len(refused)}) if refused else Counter()
    ignored.update(given.ignored_kinds)
    lacks_classes = any("PriorityClass" in notice.what for notice in refused)
    warnings = [*given.warnings, *additions.notices, *admitted.notices, *refused]
    if whole:
        warnings += missing_kinds((*existing, *objects), lacks_classes)
    cron = given.raw.get("CronJob", ()) if cron_jobs else ()
    jobs = given.raw.get("Job", ())
    return Inventory(
        objects=objects,
        ignored=ignored,
        warnings=tuple(warnings),
        refused=refused,
        refused_pods=tuple((item, reason) for item, reason in admitted.refused if isinstance(item, Pod)),
        config_maps=config_maps(given),
        daemon_sets=given.raw.get("DaemonSet", ()),
        jobs=(*(first_job(read_workload(manifest)) for manifest in named(cron)), *named(jobs)),
        originals=originals,
        places={item.identity: at for at, item in enumerate(new)} if refused else {},
    )


def merged(parts: Sequence[Loaded], existing: Iterable[KubeObject] = ()) -> Loaded:
    """The contents of *parts* as one, beside *existing*; of two objects with one name the last counts, at the
    place of the first."""
    parts = _apart(parts, existing)
    raw = dict[str, tuple[JsonObject, ...]]()
    ignored = Counter[str]()
    warnings = list[Notice]()
    for part in parts:
        raw.update({kind: (*raw.get(kind, ()), *documents) for kind, documents in part.raw.items()})
        ignored.update(part.ignored)
        warnings += part.warnings
        if any(kind.partition(" ")[0] == "Table" for kind in part.ignored):
            warnings.append(Notice("kind Table", TABLE_HINT))
    several = parts if len(parts) > 1 else ()  # within one, loading has said so
    given = Counter(item.identity for part in several for item in part.objects)
    warnings += (Notice(f"{kind} {key}", GIVEN_BEFORE) for (kind, key), times in given.items() if times > 1)
    return Loaded(
        tuple({item.identity: item for part in parts for item in part.objects}.values()),
        raw,
        ignored,
        tuple(warnings),
        written={key: pod for part in parts for key, pod in part.written.items() if key not in part.prefixes},
    )


def _apart(parts: Sequence[Loaded], existing: Iterable[KubeObject]) -> list[Loaded]:
    """*parts*, where a name made of a ``generateName`` is no other object's."""
    if not any(part.prefixes for part in parts):
        return [*parts]
    given = (item for part in parts for item in part.objects if item.identity not in part.prefixes)
    taken = {item.identity for item in (*existing, *given)}
    apart = list[Loaded]()
    for part in parts:
        objects = list[KubeObject]()
        for item in part.objects:
            if prefix := part.prefixes.get(item.identity):
                numbers = count(int(item.name.removeprefix(prefix)))
                while item.identity in taken:
                    item = replace(item, metadata=replace(item.metadata, name=f"{prefix}{next(numbers)}"))
                taken.add(item.identity)
            objects.append(item)
        apart.append(evolve(part, objects=tuple(objects)))
    return apart


def made_by_workloads(
    loaded: Loaded, existing: Sequence[KubeObject] = (), *, defaults: bool = True, cron_jobs: bool = False
) -> Made:
    """The objects that controllers make for the workloads of *loaded*, given its objects and *existing*.

    A workload that is given twice counts once, as it was given last.
    """
    documents, repeated = each_once(
        document for kind, manifests in loaded.raw.items() if kind in WORKLOADS for document in manifests
    )
    if not documents:
        return Made()
    additions = expand(documents, (*existing, *loaded.objects), cron_jobs=cron_jobs, strict=defaults)
    return evolve(additions, notices=(*repeated, *additions.notices))


def config_maps(loaded: Loaded) -> dict[tuple[str, str], JsonObject]:
    """The manifests of the ConfigMaps of *loaded*, by namespace and name."""
    return {identity_of(manifest)[1:]: manifest for manifest in loaded.raw.get("ConfigMap", ())}


# --- pods that wait -----------------------------------------------------------------------------------------


def find_waiting(name: str, pods: Iterable[Pod]) -> Pod:
    """The pod without a node by ``namespace/name``; ``name`` is enough if only one namespace has it.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` if *pods* have none of that name, or several.
    """
    candidates = tuple(pods)
    is_key = "/" in name
    namesakes = [pod for pod in candidates if (pod.key if is_key else pod.metadata.name) == name]
    waiting = [pod for pod in namesakes if not pod.node_name]
    if len(waiting) == 1:
        return waiting[0]
    if waiting:
        raise UnknownNameError(f'pod: expected one of {", ".join(pod.key for pod in waiting)}, got "{name}"')
    if namesakes:
        raise is_placed(name, namesakes[0].node_name)
    suggestion = did_you_mean(
        name, [key for pod in candidates if not pod.node_name for key in (pod.key, pod.name)]
    )
    raise UnknownNameError(f'pod: expected a pod without a node, got "{name}"{suggestion}')


def is_placed(name: str, node_name: str) -> UnknownNameError:
    """The error that a pod has a node already."""
    return UnknownNameError(f'pod: expected a pod without a node, got "{name}", which is on node {node_name}')
