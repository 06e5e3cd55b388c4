"""Edits of a cluster in words, for what-ifs without touching files: ``pod web/* requests.cpu=500m``; and the
kinds of nodes that can be added, each a node of which copies are made, with its drivers, devices and pods of
DaemonSets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import count, islice, pairwise

from attrs import evolve, frozen
from msgspec.structs import replace

from ..api.controlplane import (
    SCALES,
    WORKLOADS,
    admit,
    claims_made_for,
    following,
    read_workload,
    runs_on,
    slice_of_more,
    slices_like,
    surplus,
    target_node,
    templates_in,
    with_budgets,
)
from ..api.load import REFUSED, Loaded, identity_of, load_documents, metadata_of, named
from ..api.meaning import NEWEST_SERVER, Labels, Matcher, SelectorError, ServerRules, parse_selector
from ..api.objects import (
    CSINode,
    Device,
    JsonDict,
    JsonObject,
    KubeObject,
    Map,
    Node,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    ResourceSlice,
    of_kind,
)
from ..api.ownfields import current_manifest
from ..api.reading import Document
from ..api.words import kind_words
from ..exceptions import ManifestError, UnknownNameError, did_you_mean, one_line
from ..predicates.checknodeunschedulable import UNSCHEDULABLE
from .evictions import Replacements, claims_after, is_daemon, is_replaced_already, made_new, stays_with_node
from .fieldchanges import AMOUNTS, EVERY, REMOVE, EditError, FieldChange, text_of

# --- nodes to add -------------------------------------------------------------------------------------------

HOSTNAME = "kubernetes.io/hostname"
PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""The beginnings of keys of taints that the control plane puts on a node for a time."""


@frozen(kw_only=True)
class NodeKind:
    """A kind of node that can be added, as copies of one node."""

    name: str
    """The name of the template, or of the node that is copied."""
    node: Node
    """The node that each copy equals, except for its name and its hostname label."""
    csi: CSINode | None
    """The CSI drivers of each copy."""
    slices: tuple[ResourceSlice, ...] = ()
    """The devices of the node that is copied: each copy has as many."""
    is_copy: bool = False
    """Whether it is a copy of a node of the cluster."""
    cost: Decimal = Decimal(1)
    """The cost of one copy."""
    daemons: tuple[Pod, ...] = ()
    """The pods that DaemonSets run on each copy, with the names of the DaemonSets."""
    used_names: frozenset[str] = frozenset()
    """Names that no copy may have."""

    @classmethod
    def like(cls, name: str, objects: Sequence[KubeObject], *, with_daemons: bool = False) -> NodeKind:
        """The kind of the node *name* of *objects*, in good health: not cordoned, ready, without
        pressure."""
        nodes = {item.name: item for item in of_kind(Node, objects)}
        node = new_node(nodes[name])
        taints = tuple(taint for taint in node.spec.taints if not taint.key.startswith(PASSING))
        conditions = tuple(
            replace(condition, status="True" if condition.type == "Ready" else "False")
            for condition in node.status.conditions
        )
        kind = cls(
            name=name,
            is_copy=True,
            used_names=frozenset(nodes),
            node=replace(
                node,
                spec=replace(node.spec, unschedulable=False, taints=taints),
                status=replace(node.status, conditions=conditions),
            ),
            csi=next((item for item in of_kind(CSINode, objects) if item.name == name), None),
            slices=tuple(item for item in of_kind(ResourceSlice, objects) if item.spec.node_name == name),
        )
        pods = of_kind(Pod, objects) if with_daemons else ()
        return evolve(kind, daemons=tuple(kind.daemons_among(pods)))

    def daemons_among(
        self, pods: Iterable[Pod], described: Collection[tuple[str, str]] = ()
    ) -> Iterator[Pod]:
        """A pod for each DaemonSet of *pods* that runs on such nodes, with the name of the DaemonSet.
        DaemonSets *described* elsewhere are left out."""
        samples: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            owner = pod.controller
            if owner is not None and is_daemon(pod) and not pod.is_terminal and not pod.is_terminating:
                samples.setdefault((pod.namespace, owner.name), []).append(pod)
        for (namespace, name), daemons in samples.items():
            # Without its node, and without the affinity to it that its controller has put in place of any
            # other.
            where = {target_node(pod) for pod in daemons}
            free = daemons[0]
            affinity = free.spec.affinity
            if affinity is not None and affinity.node_affinity is not None:
                affinity = replace(affinity, node_affinity=replace(affinity.node_affinity, required=None))
            free = replace(free, spec=replace(free.spec, node_name="", affinity=affinity))
            if (namespace, name) not in described and (
                self.name in where if self.is_copy else runs_on(free.spec, self.node)
            ):
                metadata = replace(
                    free.metadata, name=name, uid="", resource_version="", creation_timestamp=None
                )
                yield replace(free, metadata=metadata, status=PodStatus(), manifest=None)

    def names(self, count: int) -> list[str]:
        """The names of *count* copies: ``name-1``, ``name-2`` and so on, without names in use."""
        return list(islice(_free_names(self.name, self.used_names), count))

    def copies(self, count: int) -> Iterator[KubeObject]:
        """The objects of *count* new nodes: each node, its CSI drivers, its devices, and the pods of
        DaemonSets on it."""
        for name in self.names(count):
            labels = Map({**self.node.labels, HOSTNAME: name})
            metadata = replace(self.node.metadata, name=name, labels=labels)
            yield replace(self.node, metadata=metadata, manifest=None)
            if self.csi is not None:
                yield replace(self.csi, metadata=replace(self.csi.metadata, name=name))
            yield from slices_like(self.slices, self.name, name)
            for pod in self.daemons:
                metadata = replace(pod.metadata, name=f"{pod.name}-{name}")
                yield replace(pod, metadata=metadata).bound_to(name)


def _free_names(stem: str, taken: Collection[str]) -> Iterator[str]:
    """``STEM-1``, ``STEM-2`` and so on, without those *taken*."""
    return (name for number in count(1) if (name := f"{stem}-{number}") not in taken)


def new_node(node: Node) -> Node:
    """*node* as one that has just joined: without a UID, and with no image pulled."""
    metadata = replace(
        node.metadata, uid="", resource_version="", creation_timestamp=None, deletion_timestamp=None
    )
    return replace(
        node,
        metadata=metadata,
        spec=replace(node.spec, provider_id=""),
        status=replace(node.status, images=()),
    )


# --- edits --------------------------------------------------------------------------------------------------


Pair = tuple[KubeObject | None, KubeObject | None]
"""An object before and after an edit; None: it does not exist."""
WANTED = "KIND SELECTOR CHANGE..., such as 'pod web/* requests.cpu=500m' or 'node pool=a taints-=x'"
VERBS = {
    "delete": "delete KIND SELECTOR, such as 'delete pod web/a'",
    "copy": "copy node NAME, copy pod NAME or copy device DRIVER/POOL/DEVICE to NODE, with x3 behind it for three of it",
    "cordon": "cordon node SELECTOR",
    "drain": "drain node SELECTOR",
}
"""Verb of an edit of whole objects -> how it is written."""
OF_VERBS = {"copy": ("Node", "Pod", "ResourceSlice"), "cordon": ("Node",), "drain": ("Node",)}
NATIVE = ("cpu", "memory", "ephemeral-storage", "storage", "pods")
HUGE_PAGES = "hugepages-"
PATTERN_MARKS = "*?["
LIKE = "like:"
"""The prefix of a pod's name that also chooses the other pods of its controller."""
CLASS_FIELDS = ("priorityClassName", "priority")
_FLAG = re.compile(r"\A--set '.*?': ", re.DOTALL)
_COPIES = re.compile(r"x([1-9]\d{0,3})")


@frozen
class Edit:
    """Changes of the objects of a kind that are chosen by name or by labels; or these objects are deleted,
    copied, cordoned or drained."""

    text: str
    kind: str
    names: str | None
    """A pattern of ``namespace/name`` or ``name``, or ``like:`` and a pod; None: *labels* choose."""
    labels: Matcher
    changes: tuple[FieldChange, ...] = ()
    verb: str = ""
    """One of :data:`VERBS`; empty: *changes* are made."""
    count: int = 1
    """The number of copies."""
    to: str = ""
    """The node that gets devices."""

    @classmethod
    def parse(cls, text: str) -> Edit:
        """The edit in *text*. Raises :class:`EditError`.

        >>> edit = Edit.parse("pod web/* requests.cpu=500m")
        >>> edit.kind, edit.names, edit.changes[0].value
        ('Pod', 'web/*', '500m')
        >>> Edit.parse("copy node a x3").count
        3
        """
        with _naming_edit(text):
            try:
                words = shlex.split(text)
            except ValueError:
                raise EditError("a quote does not end") from None
            verb = words[0] if words and words[0] in VERBS else ""
            if len(words) < 3:
                raise EditError(
                    f"expected {VERBS.get(verb, WANTED)}, got {len(words)} {'word' if len(words) == 1 else 'words'}"
                )
            word, chosen, *rest = words[bool(verb) :]
            kind = "ResourceSlice" if (verb, word) == ("copy", "device") else _kind(word)
            is_labels = any(mark in chosen for mark in ("=", "!", "(")) or chosen.startswith("-l")
            try:
                labels = parse_selector(chosen if is_labels else "")
            except SelectorError as error:
                raise EditError(f"selector: {error}") from None
            edit = cls(text, kind, None if is_labels else chosen, labels, verb=verb)
            if verb:
                return edit._with_words(rest)
            changes = []
            for word in rest:
                change = FieldChange.parse(kind, word)
                changes.append(change)
                for before, step in pairwise(change.path):
                    name = step.name
                    if (
                        before.name in AMOUNTS
                        and step.is_free
                        and change.operator != REMOVE
                        and "/" not in name
                        and not name.startswith(HUGE_PAGES)
                        and name not in NATIVE
                    ):
                        hint = did_you_mean(name, NATIVE)
                        raise EditError(
                            f'{before.name}: expected cpu, memory or one such as nvidia.com/gpu, got the resource "{name}"{hint}'
                        )
            return evolve(edit, changes=tuple(changes))

    def _with_words(self, rest: Sequence[str]) -> Edit:
        """The edit with the words that follow the names after a verb: ``x3``, ``to NODE``."""
        to = ""
        copies = [match for word in rest if (match := _COPIES.fullmatch(word))]
        remaining = [word for word in rest if not _COPIES.fullmatch(word)]
        is_of_devices = self.kind == "ResourceSlice"
        if is_of_devices and remaining[:1] == ["to"]:
            to = "".join(remaining[1:2])
            remaining = remaining[2:]
        kinds = OF_VERBS.get(self.verb)
        is_known = self.kind not in WORKLOADS if kinds is None else self.kind in kinds
        is_copy = self.verb == "copy"
        if remaining or not is_known or len(copies) > is_copy or bool(to) != (is_copy and is_of_devices):
            raise EditError(f"expected {VERBS[self.verb]}")
        return evolve(self, to=to, count=int(copies[0][1]) if copies else 1)

    def chooses(self, namespace: str, name: str, labels: Labels) -> bool:
        """Whether an object of the kind is chosen."""
        if self.names is None:
            return self.labels(labels)
        return fnmatchcase(f"{namespace}/{name}" if "/" in self.names else name, self.names)

    def chosen(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """The objects that the edit chooses."""
        names = self.names
        candidates = [item for item in objects if item.kind == self.kind]
        if self.to:
            return [
                item
                for item in of_kind(ResourceSlice, candidates)
                if any(name == names for name, _ in _devices(item))
            ]
        if names is None or not names.startswith(LIKE):
            if names is not None and not any(mark in names for mark in PATTERN_MARKS):
                name = names.rpartition("/")[2]
                candidates = [item for item in candidates if item.metadata.name == name]
            return [item for item in candidates if self.chooses(item.namespace, item.name, item.labels)]
        name = names.removeprefix(LIKE)
        named = next((item for item in candidates if name in (item.key, item.name)), None)
        if named is None:
            return []
        owner = named.controller
        return [
            item
            for item in candidates
            if item is named
            or (owner is not None and item.namespace == named.namespace and item.controller == owner)
        ]

    def made(self, manifest: JsonDict) -> JsonDict:
        """A copy of *manifest* with all changes. Raises :class:`EditError`."""
        after = manifest
        for change in self.changes:
            after = change.made(after)
        words = ("kind", "namespace", "name")
        for word, old, new in zip(words, identity_of(manifest), identity_of(after), strict=True):
            if new != old:
                raise EditError(f'{word}: expected "{old}", which says which object it is, got "{new}"')
        return after

    @property
    def fields(self) -> set[str]:
        """The names of the fields that change, the last step of each path."""
        return {change.path[-1].name for change in self.changes}

    def objects(
        self,
        objects: Sequence[KubeObject],
        chosen: Sequence[KubeObject],
        *,
        defaults: bool = True,
        server: ServerRules = NEWEST_SERVER,
    ) -> list[Pair]:
        """The changes of the *chosen* and of other *objects*; unchanged ones are left out. Raises
        :class:`EditError`.

        *defaults*: objects get the API server's defaults; *server*: how they are admitted.
        """
        if self.verb == "copy":
            return [(None, new) for new in self._copies(objects, chosen)]
        if self.verb:
            return list(self._removals(objects, chosen))
        pairs: list[Pair] = [
            (item, after) for item in chosen if (after := self._apply_to(item, defaults)) is not item
        ]
        if self.kind == "Node" and "unschedulable" in self.fields:
            return [(before, _tainted(after)) for before, after in pairs if isinstance(after, Node)]
        if self.kind == "PodDisruptionBudget":
            # The disruption controller counts again.
            return [
                (before, replace(after, status=replace(after.status, disruptions_allowed=None)))
                if before.spec != after.spec and before.status == after.status
                else (before, after)
                for before, after in pairs
                if isinstance(before, PodDisruptionBudget) and isinstance(after, PodDisruptionBudget)
            ]
        if self.kind != "Pod" or not defaults or self.fields.isdisjoint(CLASS_FIELDS):
            return pairs
        classes = [item for item in objects if item.kind == "PriorityClass"]
        admitted: list[Pair] = []
        for before, pod in pairs:
            # A pod with the priority of the class that it names now.
            assert pod is not None
            new = replace(pod, metadata=replace(pod.metadata, creation_timestamp=None))
            admission = admit([new], classes, server=server)
            for refused, reason in admission.refused:
                raise EditError(f"Pod {refused.key}: {REFUSED}: {reason}")
            (after,) = admission.objects
            created = replace(after.metadata, creation_timestamp=pod.metadata.creation_timestamp)
            admitted.append((before, replace(after, metadata=created)))
        return admitted

    def _copies(self, objects: Sequence[KubeObject], chosen: Sequence[KubeObject]) -> Iterator[KubeObject]:
        """New nodes, pending pods or devices like the *chosen* ones, each with the objects that belong to
        it."""
        templates = templates_in(objects)
        keys_in_use = {item.key for item in of_kind(Pod, objects)}
        slices = of_kind(ResourceSlice, objects)
        for original in chosen:
            if isinstance(original, Pod):
                for key in islice(_free_names(original.key, keys_in_use), self.count):
                    new = made_new(original, key.rpartition("/")[2], key)
                    pod, claims = claims_made_for(new, templates)
                    yield from (*claims, pod)
            elif isinstance(original, ResourceSlice):
                if not any(item.name == self.to for item in of_kind(Node, objects)):
                    raise EditError(f"to: expected a node of the cluster, got {self.to}")
                device = next(device for name, device in _devices(original) if name == self.names)
                slices.append(slice_of_more(self.to, original.spec.driver, device, self.count, slices))
                yield slices[-1]
            else:
                yield from NodeKind.like(original.name, objects, with_daemons=True).copies(self.count)

    def _removals(self, objects: Sequence[KubeObject], chosen: Sequence[KubeObject]) -> Iterator[Pair]:
        """The changes by a cordon, a drain or a deletion: of the *chosen* objects, and of others that depend
        on them."""
        for item in chosen:
            yield item, cordoned(item) if isinstance(item, Node) and self.verb != "delete" else None
        if self.verb == "cordon":
            return
        names = {item.name for item in of_kind(Node, chosen)}
        running = [item for item in of_kind(Pod, objects) if item.node_name in names]
        leaving = [pod for pod in running if not stays_with_node(pod)]
        staying = [pod for pod in running if self.verb == "delete" and stays_with_node(pod)]
        yield from ((pod, None) for pod in (*staying, *leaving))
        removed = [*leaving, *of_kind(Pod, chosen)]
        yield from claims_after(removed, objects)
        templates = templates_in(objects)
        replacements = Replacements.beside(objects)
        for pod in removed:
            if not is_replaced_already(pod) and (new := replacements.of(pod)) is not None:
                new, more = claims_made_for(new, templates)
                yield from ((None, item) for item in (*more, new))

    def _apply_to(self, item: KubeObject, defaults: bool) -> KubeObject:
        before = {"kind": item.kind, **current_manifest(item)}
        fields = self.fields
        stays = before
        if self.kind == "Pod" and not fields.isdisjoint(CLASS_FIELDS):
            # A pod whose class of priority changes loses the old priority, one whose priority changes the
            # class.
            old = CLASS_FIELDS if CLASS_FIELDS[0] in fields else CLASS_FIELDS[:1]
            spec = before.get("spec", {})
            stays = {**before, "spec": {key: spec[key] for key in spec if key not in old}}
        after = self.made(stays)
        if after == before:
            return item
        (changed,) = _read(after, before, f"{item.kind} {item.key}", defaults)
        return replace(changed, manifest=after) if item.manifest is not None else changed


def _devices(item: ResourceSlice) -> Iterator[tuple[str, Device]]:
    """The devices of a slice by their full names."""
    return (
        (f"{item.spec.driver}/{item.spec.pool.name}/{device.name}", device) for device in item.spec.devices
    )


def cordoned(node: Node) -> Node:
    """*node* as ``kubectl cordon`` and the node controller leave it."""
    taints = node.spec.taints if UNSCHEDULABLE in node.spec.taints else (*node.spec.taints, UNSCHEDULABLE)
    return replace(node, spec=replace(node.spec, unschedulable=True, taints=taints))


def _tainted(node: Node) -> Node:
    """*node* with the taint of an unschedulable one as the node controller leaves it."""
    others = tuple(taint for taint in node.spec.taints if taint != UNSCHEDULABLE)
    return (
        cordoned(node) if node.spec.unschedulable else replace(node, spec=replace(node.spec, taints=others))
    )


def shown(text: str) -> str:
    """An edit as messages name it: on one line, and without the middle if it is long."""
    return f"--set '{one_line(text, 300)}'"


def without_flag(text: str) -> str:
    """A message about an edit without the words of the command line, for those who type the edit alone.

    >>> without_flag("--set 'pod a b=1': got no Pod")
    'got no Pod'
    """
    return _FLAG.sub("", text, count=1)


def _kind(word: str) -> str:
    words = {
        **kind_words(),
        **{form: kind for kind in WORKLOADS for form in (kind.lower(), f"{kind.lower()}s")},
        "deploy": "Deployment",
        "ds": "DaemonSet",
        "cj": "CronJob",
    }
    kind = words.get(word.lower())
    if kind is None:
        raise UnknownNameError(
            f'kind: expected one such as pod, node or deployment, got "{word}"{did_you_mean(word.lower(), words)}'
        )
    return kind


def _read(after: JsonObject, before: JsonObject, where: str, defaults: bool) -> tuple[KubeObject, ...]:
    """The object in the manifest *after*. Raises :class:`EditError` for a warning that *before* does not
    have."""
    try:
        loaded_before, loaded_after = (
            load_documents([Document(manifest, where)], defaults=defaults) for manifest in (before, after)
        )
    except ManifestError as error:
        raise EditError(str(error)) from None
    old_warnings = {notice.what for notice in loaded_before.warnings}
    for notice in loaded_after.warnings:
        if notice.what not in old_warnings:
            raise EditError(str(notice))
    return loaded_after.objects


# --- what they do to a cluster ------------------------------------------------------------------------------


@frozen
class Edited:
    """The effect of an edit."""

    edit: Edit
    chosen: int
    """How many objects it chose."""
    changed: int

    def __str__(self) -> str:
        objects = f"{self.chosen} {self.edit.kind if self.chosen == 1 else f'{self.edit.kind}s'}"
        if not self.changed:
            items = {
                text_of(change.path[: at + 1]): None
                for change in self.edit.changes
                for at, step in enumerate(change.path)
                if step.is_item and step.name != EVERY
            }
            lacking = f" or has no {', '.join(items)}" if items else ""
            return f"{shown(self.edit.text)}: nothing changed: {objects}, and each is so already{lacking}"
        return f"{shown(self.edit.text)}: {objects}" + (
            "" if self.changed == self.chosen else f", of which {self.changed} changed"
        )


@frozen
class Edits:
    """Edits in order. An edit that chooses no object at all is an error."""

    edits: tuple[Edit, ...] = ()
    defaults: bool = True
    """Whether objects get the API server's defaults."""

    @classmethod
    def parse(cls, texts: Iterable[str], *, defaults: bool = True) -> Edits:
        """The edits in *texts*. Raises :class:`EditError`."""
        return cls(tuple(map(Edit.parse, texts)), defaults)

    def split(self) -> tuple[list[Edit], list[Edit]]:
        """The edits that are made before workloads make their pods, and the others: of pods, of whole
        objects, and those that follow an edit of whole objects, unless they are of workloads."""
        early = list[Edit]()
        late = list[Edit]()
        for edit in self.edits:
            follows = any(before.verb for before in late) and edit.kind not in WORKLOADS
            (late if edit.kind == "Pod" or edit.verb or follows else early).append(edit)
        return early, late

    def of_loaded(self, parts: Sequence[Loaded]) -> tuple[list[Loaded], list[Edited]]:
        """*parts* after the edits that are made before workloads make their pods, and the effect of each.
        Raises :class:`EditError`."""
        effects = []
        edited_parts = list(parts)
        for edit in self.split()[0]:
            with _naming_edit(edit.text):
                matched = changes = 0
                for at, part in enumerate(edited_parts):
                    chosen = edit.chosen(part.objects)
                    pairs = edit.objects(part.objects, chosen, defaults=self.defaults)
                    edited_parts[at] = evolve(part, objects=applied(part.objects, pairs))
                    if not part.raw.get(edit.kind):  # else the manifests are counted
                        matched += len(chosen)
                        changes += len(pairs)
                if edit.kind in WORKLOADS:
                    edited_parts, manifests = self._of_workloads(edit, edited_parts)
                    matched += len(manifests)
                    changes += sum(before != after for before, after in manifests)
                effects.append(_effect_of(edit, matched, changes, edited_parts))
        return edited_parts, effects

    def _of_workloads(
        self, edit: Edit, parts: Sequence[Loaded]
    ) -> tuple[list[Loaded], list[tuple[JsonObject, JsonObject]]]:
        """*parts* with the manifests of workloads after *edit*, without the pods that they then have too many
        of; and those that it chose, before and after."""
        chosen = list[tuple[JsonObject, JsonObject]]()
        manifests = list[JsonObject]()
        for manifest in named(_manifests(edit.kind, parts)):
            kind, namespace, name = identity_of(manifest)
            head = read_workload({"kind": kind, "metadata": metadata_of(manifest)})
            manifests.append(manifest)
            if edit.chooses(namespace, name, head.metadata.labels):
                manifests[-1] = edit.made(dict(manifest))
                _read(manifests[-1], manifest, f"{kind} {namespace}/{name}", self.defaults)
                chosen.append((manifest, manifests[-1]))
        edited_parts = _with_manifests(edit.kind, parts, manifests)
        changes = [pair for pair in chosen if pair[0] != pair[1]]
        if edit.kind == "Deployment" and changes:
            replica_sets = following(changes, _manifests("ReplicaSet", parts))
            edited_parts = _with_manifests("ReplicaSet", edited_parts, replica_sets)
        if not edit.fields.isdisjoint(SCALES):
            workloads = [manifest for kind in WORKLOADS for manifest in _manifests(kind, edited_parts)]
            objects = [item for part in edited_parts for item in part.objects]
            gone = surplus((after for _, after in changes), workloads, of_kind(Pod, objects))
            pairs: list[Pair] = [*((pod, None) for pod in gone), *claims_after(gone, objects)]
            edited_parts = [evolve(part, objects=applied(part.objects, pairs)) for part in edited_parts]
        return edited_parts, chosen

    def of_pods(
        self, objects: Sequence[KubeObject], *, server: ServerRules = NEWEST_SERVER
    ) -> tuple[tuple[KubeObject, ...], list[Edited]]:
        """*objects* after the other edits, and the effect of each; *server*: how they are admitted.
        Raises :class:`EditError`."""
        pairs, effects = evolve(self, edits=tuple(self.split()[1])).pairs(objects, server=server)
        return applied(objects, pairs), effects

    def pairs(self, objects: Sequence[KubeObject], *, server: ServerRules) -> tuple[list[Pair], list[Edited]]:
        """The changes of *objects* by all edits, in order, and the effect of each edit. Raises
        :class:`EditError`."""
        all_pairs: list[Pair] = []
        effects = []
        pairs: list[Pair] = []
        current = tuple(objects)
        for edit in self.edits:
            current = applied(current, pairs)
            with _naming_edit(edit.text):
                chosen = edit.chosen(current)
                pairs = edit.objects(current, chosen, defaults=self.defaults, server=server)
                if edit.kind == "PodDisruptionBudget" and not edit.verb:
                    counted = with_budgets([after for _, after in pairs if after is not None], current)
                    pairs = [(before, after) for (before, _), after in zip(pairs, counted, strict=True)]
                effects.append(
                    _effect_of(edit, len(chosen), len(chosen) if edit.verb else len(pairs), [Loaded(current)])
                )
            all_pairs = [*all_pairs, *pairs]
        return all_pairs, effects


def _manifests(kind: str, parts: Iterable[Loaded]) -> Iterator[JsonObject]:
    """The manifests of workloads of one kind, in order."""
    return (manifest for part in parts for manifest in part.raw.get(kind, ()))


def _with_manifests(kind: str, parts: Iterable[Loaded], manifests: Iterable[JsonObject]) -> list[Loaded]:
    """*parts* with *manifests* in place of those of one kind."""
    rest = iter(manifests)
    return [
        evolve(part, raw={**part.raw, kind: tuple(islice(rest, len(part.raw[kind])))})
        if kind in part.raw
        else part
        for part in parts
    ]


def applied(objects: Sequence[KubeObject], pairs: Sequence[Pair]) -> tuple[KubeObject, ...]:
    """*objects* after the changes of *pairs*; new ones come last."""
    if not pairs:
        return tuple(objects)
    after = {id(old): replacement for old, replacement in pairs if old is not None}
    for key, replacement in after.items():
        while id(replacement) in after:  # several edits changed it
            replacement = after[id(replacement)]
        after[key] = replacement
    new = (added for old, added in pairs if old is None)
    items = [after.get(id(item), item) for item in (*objects, *new)]
    return tuple(item for item in items if item is not None)


@contextmanager
def _naming_edit(text: str) -> Iterator[None]:
    """A context whose errors name the edit that is written as *text*."""
    try:
        yield
    except (EditError, UnknownNameError) as error:
        raise EditError(f"{shown(text)}: {error}") from None


def _effect_of(edit: Edit, chosen: int, changed: int, parts: Sequence[Loaded]) -> Edited:
    """The effect of *edit* on *parts*. Raises :class:`EditError` if it chose nothing, perhaps with a similar
    name."""
    if chosen:
        return Edited(edit, chosen, changed)
    hint = ""
    if (pattern := edit.names) is not None:
        raw = (identity_of(manifest)[1:] for manifest in _manifests(edit.kind, parts))
        items = (
            (item.namespace, item.name) for part in parts for item in part.objects if item.kind == edit.kind
        )
        names = {f"{namespace}/{name}" if "/" in pattern else name for namespace, name in (*raw, *items)}
        hint = did_you_mean(pattern, sorted(names))
    raise EditError(f"expected at least one {edit.kind} that it matches, got none{hint}")
