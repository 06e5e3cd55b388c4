"""Edits of a cluster in words, for what-ifs without touching files: ``pod web/* requests.cpu=500m``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import islice, pairwise

from attrs import evolve, frozen
from msgspec.structs import replace

from ..api.controlplane import (
    ADMISSION_KINDS,
    SCALES,
    WORKLOADS,
    following,
    read_workload,
    slice_of_more,
    surplus,
    with_budgets,
)
from ..api.load import Loaded, Originals, identity_of, load_documents, metadata_of, named
from ..api.meaning import NEWEST_SERVER, Labels, Matcher, SelectorError, ServerRules, parse_selector
from ..api.objects import (
    Device,
    JsonDict,
    JsonObject,
    KubeObject,
    Node,
    Pod,
    PodDisruptionBudget,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
    Taint,
    of_kind,
)
from ..api.ownfields import current_manifest
from ..api.reading import Document, Validation
from ..api.words import kind_words
from ..exceptions import ManifestError, UnknownNameError, did_you_mean, one_line
from ..predicates.checknodeunschedulable import UNSCHEDULABLE
from .evictions import Replacements, claims_after, is_replaced_already, job_of, retries_of, stays_with_node
from .fieldchanges import AMOUNTS, EVERY, REMOVE, EditError, FieldChange, text_of
from .newpods import NewPods, Pair
from .nodekinds import NodeKind, free_names

# --- edits --------------------------------------------------------------------------------------------------


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
_STATES = {
    "not-ready": ("Ready", "False"),
    "unreachable": ("Ready", "Unknown"),
    "memory-pressure": ("MemoryPressure", "True"),
    "disk-pressure": ("DiskPressure", "True"),
    "pid-pressure": ("PIDPressure", "True"),
    "network-unavailable": ("NetworkUnavailable", "True"),
}
"""State of a node, as its taint is called -> the condition that it follows from."""
_OF_NEW_PODS = frozenset(kind.kind for kind in (*ADMISSION_KINDS, ResourceClaimTemplate, ResourceQuota))
"""The kinds whose objects decide how new pods and claims look."""
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
        originals: Originals | None = None,
        retries: dict[str, int] | None = None,
    ) -> list[Pair]:
        """The changes of the *chosen* and of other *objects*; unchanged ones are left out. Raises
        :class:`EditError`.

        *defaults*: objects get the API server's defaults; *server*: how they are admitted; *originals*: new
        pods as they were written; *retries*: how many pods of each Job may still be evicted.
        """
        if self.verb or self.kind == "Pod":
            new_pods = NewPods.beside(objects, {} if originals is None else originals, server)
            if self.verb == "copy":
                return [(None, new) for new in self._copies(objects, chosen, new_pods)]
            if self.verb:
                return list(self._removals(objects, chosen, new_pods, retries or {}))
            if defaults:
                return list(self._of_pods(of_kind(Pod, chosen), new_pods))
        pairs: list[Pair] = [
            (item, after) for item in chosen if (after := self._apply_to(item, defaults)) is not item
        ]
        steps = {step.name for change in self.changes for step in change.path}
        if self.kind == "Node" and not steps.isdisjoint(("unschedulable", "conditions")):
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
        return pairs

    def _of_pods(self, pods: Sequence[Pod], new_pods: NewPods) -> Iterator[Pair]:
        """The changes of *pods*: new ones are admitted anew, as are stored ones that wait; one that runs gets
        the priority of its class."""
        stored = []
        for pod in pods:
            written = new_pods.written(pod)
            after = self._apply_to(written or pod, defaults=written is None)
            assert isinstance(after, Pod)
            if written is not None:
                try:
                    yield from () if after is written else [*new_pods.changed(pod, after)]
                except EditError:
                    # One that was refused before stays so beside others.
                    if len(pods) == 1 or new_pods.is_admitted(written):
                        raise
            elif after is not pod:
                stored.append((pod, after))
        yield from new_pods.made_anew(stored, has_class=not self.fields.isdisjoint(CLASS_FIELDS))

    def _copies(
        self, objects: Sequence[KubeObject], chosen: Sequence[KubeObject], new_pods: NewPods
    ) -> Iterator[KubeObject]:
        """New nodes, pending pods or devices like the *chosen* ones, each with the objects that belong to
        it."""
        keys_in_use = {item.key for item in of_kind(Pod, objects)}
        slices = of_kind(ResourceSlice, objects)
        for original in chosen:
            if isinstance(original, Pod):
                for key in islice(free_names(original.key, keys_in_use), self.count):
                    pod, claims = new_pods.copy(original, key.rpartition("/")[2], key)
                    yield from (*claims, pod)
            elif isinstance(original, ResourceSlice):
                if not any(item.name == self.to for item in of_kind(Node, objects)):
                    raise EditError(f"to: expected a node of the cluster, got {self.to}")
                device = next(device for name, device in _devices(original) if name == self.names)
                slices.append(slice_of_more(self.to, original.spec.driver, device, self.count, slices))
                yield slices[-1]
            else:
                yield from NodeKind.like(original.name, objects, with_daemons=True).copies(self.count)

    def _removals(
        self,
        objects: Sequence[KubeObject],
        chosen: Sequence[KubeObject],
        new_pods: NewPods,
        retries: dict[str, int],
    ) -> Iterator[Pair]:
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
        removed = [*leaving, *of_kind(Pod, chosen)]
        replacements = Replacements.beside(objects)
        if self.kind == "Node":  # a pod that somebody deletes is not evicted
            replacements.retries = retries
        made = [(pod, replacements.of(pod)) for pod in removed if not is_replaced_already(pod)]
        ended = {job_of(pod) for pod, _ in made if replacements.has_failed(pod)}
        active = (pod for pod in of_kind(Pod, objects) if not pod.is_terminal)
        others = [pod for pod in active if job_of(pod) in ended and pod not in removed]
        leaving += others
        removed += others
        yield from ((pod, None) for pod in (*staying, *leaving))
        yield from claims_after(removed, objects)
        yield from ((claim, None) for pod in (*staying, *removed) for claim in new_pods.left_by(pod))
        for pod, new in made:
            if new is not None and not replacements.has_failed(pod):
                new, more = new_pods.copy(pod, new.name, new.uid)
                yield from ((None, item) for item in (*more, new))

    def _apply_to(self, item: KubeObject, defaults: bool) -> KubeObject:
        before = {"kind": item.kind, **current_manifest(item)}
        fields = self.fields
        stays = before
        if self.kind == "Pod" and not fields.isdisjoint(CLASS_FIELDS):
            # A pod whose class of priority changes loses the old priority, one whose priority changes the
            # class; and both the policy that came with the class.
            old = {*(CLASS_FIELDS if CLASS_FIELDS[0] in fields else CLASS_FIELDS[:1])}
            spec = before.get("spec", {})
            old |= {"preemptionPolicy"} if spec.keys() >= {*CLASS_FIELDS} else set()
            stays = {**before, "spec": {key: spec[key] for key in spec if key not in old}}
        after = self.made(stays)
        if after == before:
            return item
        (changed,) = self._read(after, before, f"{item.kind} {item.key}", defaults)
        return replace(changed, manifest=after) if item.manifest is not None else changed

    def _read(
        self, after: JsonObject, before: JsonObject, where: str, defaults: bool
    ) -> tuple[KubeObject, ...]:
        """The object in the manifest *after*. Raises :class:`EditError` for a warning that *before* does not
        have."""
        of_limits = any(step.name == "limits" for change in self.changes for step in change.path)
        validation = Validation(checks_limits=of_limits)
        try:
            loaded_before, loaded_after = (
                load_documents([Document(manifest, where)], defaults=defaults, validation=validation)
                for manifest in (before, after)
            )
        except ManifestError as error:
            raise EditError(str(error)) from None
        old_warnings = {notice.what for notice in loaded_before.warnings}
        for notice in loaded_after.warnings:
            if notice.what not in old_warnings:
                raise EditError(str(notice))
        return loaded_after.objects


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
    """*node* with the taints of its state as the node lifecycle controller leaves them.

    Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go.
    """
    conditions = {condition.type: condition.status for condition in node.status.conditions}
    is_so = {UNSCHEDULABLE: node.spec.unschedulable}
    for state, (kind, status) in _STATES.items():
        for effect in ("NoSchedule", "NoExecute") if kind == "Ready" else ("NoSchedule",):
            if kind in conditions:
                is_so[Taint(key=f"node.kubernetes.io/{state}", effect=effect)] = conditions[kind] == status
    old = node.spec.taints
    taints = [taint for taint in old if is_so.get(taint, True)]
    taints += [taint for taint, is_there in is_so.items() if is_there and taint not in old]
    return replace(node, spec=replace(node.spec, taints=tuple(taints)))


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
        objects other than those that admission reads, and those that follow an edit of whole objects, unless
        they are of workloads."""
        early = list[Edit]()
        late = list[Edit]()
        for edit in self.edits:
            follows = any(before.verb for before in late) and edit.kind not in WORKLOADS
            of_others = edit.verb and edit.kind not in _OF_NEW_PODS
            (late if edit.kind == "Pod" or of_others or follows else early).append(edit)
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
                edit._read(manifests[-1], manifest, f"{kind} {namespace}/{name}", self.defaults)
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
        self,
        objects: Sequence[KubeObject],
        *,
        server: ServerRules = NEWEST_SERVER,
        originals: Originals | None = None,
        jobs: Iterable[JsonObject] = (),
    ) -> tuple[tuple[KubeObject, ...], list[Edited]]:
        """*objects* after the other edits, and the effect of each; *server*: how they are admitted;
        *originals*: new pods as they were written; *jobs*: manifests. Raises :class:`EditError`."""
        late = evolve(self, edits=tuple(self.split()[1]))
        pairs, effects = late.pairs(objects, server=server, originals=originals, jobs=jobs)
        return applied(objects, pairs), effects

    def pairs(
        self,
        objects: Sequence[KubeObject],
        *,
        server: ServerRules,
        originals: Originals | None = None,
        jobs: Iterable[JsonObject] = (),
    ) -> tuple[list[Pair], list[Edited]]:
        """The changes of *objects* by all edits, in order, and the effect of each edit. Raises
        :class:`EditError`."""
        all_pairs: list[Pair] = []
        effects = []
        pairs: list[Pair] = []
        current = tuple(objects)
        retries = retries_of(jobs) if server.fails_deleted else {}
        for edit in self.edits:
            current = applied(current, pairs)
            with _naming_edit(edit.text):
                chosen = edit.chosen(current)
                pairs = edit.objects(
                    current,
                    chosen,
                    defaults=self.defaults,
                    server=server,
                    originals=originals,
                    retries=retries,
                )
                if edit.kind == "PodDisruptionBudget" and not edit.verb:
                    counted = with_budgets([after for _, after in pairs if after is not None], current)
                    pairs = [(before, after) for (before, _), after in zip(pairs, counted, strict=True)]
                changed = sum(before is not None and before.kind == edit.kind for before, _ in pairs)
                effects.append(
                    _effect_of(edit, len(chosen), len(chosen) if edit.verb else changed, [Loaded(current)])
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
