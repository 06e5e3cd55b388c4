"""New pods that edits change or make: each is admitted as it was written, and gets its claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen
from msgspec.structs import replace

from ..api.controlplane import (
    ADMISSION_KINDS,
    Templates,
    admit,
    claims_made_for,
    claims_of_volumes,
    templates_in,
    with_defaults,
    within_quotas,
)
from ..api.load import REFUSED, Inventory, Originals
from ..api.meaning import ServerRules
from ..api.objects import KubeObject, PersistentVolumeClaim, Pod, ResourceClaim, of_kind
from ..api.reading import Notice
from .evictions import made_new
from .fieldchanges import EditError

Pair = tuple[KubeObject | None, KubeObject | None]
"""An object before and after an edit; None: it does not exist."""


def with_refused(inventory: Inventory) -> tuple[KubeObject, ...]:
    """The objects of *inventory*, and its refused pods at their places."""
    objects = list(inventory.objects)
    for pod, _ in reversed(inventory.refused_pods):
        place = inventory.places[pod.identity]
        later = (at for at, item in enumerate(objects) if inventory.places.get(item.identity, -1) > place)
        objects.insert(next(later, len(objects)), pod)
    return tuple(objects)


def after_edits(inventory: Inventory, objects: Sequence[KubeObject]) -> Inventory:
    """*inventory* with *objects*: its own and the refused pods after edits. A refused pod that is another one
    now has been mended, if quotas admit it."""
    before = {id(pod): (pod, reason) for pod, reason in inventory.refused_pods}
    still = [before[id(item)] for item in objects if id(item) in before]
    within = within_quotas(tuple(item for item in objects if id(item) not in before))
    mended = {f"Pod {pod.key}" for pod, _ in before.values()}.difference(f"Pod {pod.key}" for pod, _ in still)
    told = {notice for notice in inventory.refused if notice.where in mended}
    fresh = [Notice(f"{item.kind} {item.key}", f"{REFUSED}: {reason}") for item, reason in within.refused]
    refused = (*(notice for notice in inventory.refused if notice not in told), *fresh)
    ignored = {**inventory.ignored, REFUSED: len(refused)}
    return evolve(
        inventory,
        objects=within.objects,
        ignored={kind: number for kind, number in ignored.items() if number},
        warnings=(*(notice for notice in inventory.warnings if notice not in told), *fresh),
        refused=refused,
        refused_pods=(*still, *((item, reason) for item, reason in within.refused if isinstance(item, Pod))),
    )


def _unstored(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, creation_timestamp=None))


@frozen
class NewPods:
    """The API server and the controllers of a cluster, for its new pods."""

    originals: Originals
    server: ServerRules
    rules: Sequence[KubeObject]
    """The objects that admission reads."""
    templates: Templates
    claims: dict[tuple[str, str], PersistentVolumeClaim | ResourceClaim]
    """The claims of the cluster, by kind and key."""

    @classmethod
    def beside(cls, objects: Sequence[KubeObject], originals: Originals, server: ServerRules) -> NewPods:
        """The API server and the controllers of a cluster with *objects*."""
        rules = [item for item in objects if isinstance(item, ADMISSION_KINDS)]
        claims = {
            item.identity: item for item in objects if isinstance(item, PersistentVolumeClaim | ResourceClaim)
        }
        return cls(originals, server, rules, templates_in(objects), claims)

    def written(self, pod: Pod) -> Pod | None:
        """*pod* as it was written, before its admission; None for one that a server has stored."""
        known = self.originals.get(id(pod))
        return None if known is None else known[1]

    def admitted(self, written: Pod) -> tuple[Pod, list[KubeObject]]:
        """The pod *written* after its admission, and the claims made for it. Raises :class:`EditError`."""
        admission = admit([with_defaults(written)], self.rules, server=self.server)
        for _, reason in admission.refused:
            raise EditError(f"Pod {written.key}: {REFUSED}: {reason}")
        (stored,) = admission.objects
        assert isinstance(stored, Pod)
        pod, claims = self.with_claims(stored)
        self.originals[id(pod)] = pod, written
        return pod, claims

    def is_admitted(self, written: Pod) -> bool:
        """Whether admission takes the pod *written*."""
        return not admit([with_defaults(written)], self.rules, server=self.server).refused

    def with_claims(self, pod: Pod) -> tuple[Pod, list[KubeObject]]:
        """The new *pod* with the names of its claims to devices, and the claims made for it."""
        claims = admit(claims_of_volumes(pod), self.rules, server=self.server).objects
        named, devices = claims_made_for(pod, self.templates)
        return named, [*claims, *devices]

    def changed(self, pod: Pod, written: Pod) -> Iterator[Pair]:
        """The changes if *pod* had been *written* so: itself, and the claims made for it. Raises
        :class:`EditError`."""
        after, claims = self.admitted(written)
        yield pod, after
        wanted = {claim.identity: claim for claim in claims}
        for claim in self.with_claims(pod)[1]:
            there = self.claims.get(claim.identity)
            new = wanted.pop(claim.identity, None)
            if there is not None and there.metadata.creation_timestamp is None and new != claim:
                yield there, new
        yield from ((None, claim) for key, claim in wanted.items() if key not in self.claims)

    def made_anew(self, pairs: Sequence[tuple[Pod, Pod]], *, has_class: bool) -> Iterator[Pair]:
        """The changes of stored pods, of which one that waits has to be made anew; *has_class*: the class of
        the others changes, too. Raises :class:`EditError`."""
        waiting = {pod.key: _unstored(pod) for pod, _ in pairs if not pod.node_name}
        admitted = of_kind(Pod, admit([*waiting.values()], self.rules, server=self.server).objects)
        # One that the rules of today would change or refuse, as it is, stays beyond them.
        anew = {pod.key for pod in admitted if pod == waiting[pod.key]}
        classes = [item for item in self.rules if item.kind == "PriorityClass"]
        for is_new, rules in ((True, self.rules), (False, classes)):
            members = [pair for pair in pairs if (pair[0].key in anew) == is_new]
            if not is_new and not has_class:
                yield from members
                continue
            admission = admit([_unstored(after) for _, after in members], rules, server=self.server)
            for refused, reason in admission.refused:
                raise EditError(f"Pod {refused.key}: {REFUSED}: {reason}")
            for (before, _), stored in zip(members, admission.objects, strict=True):
                time = before.metadata.creation_timestamp
                after = replace(stored, metadata=replace(stored.metadata, creation_timestamp=time))
                if after != before:
                    yield before, after

    def copy(self, pod: Pod, name: str, uid: str) -> tuple[Pod, list[KubeObject]]:
        """A new pod like *pod*, and the claims made for it."""
        written = self.written(pod)
        if written is None:
            new, claims = self.with_claims(made_new(pod, name, uid))
        else:
            new, claims = self.admitted(made_new(written, name, uid))
        return new, [
            claim for claim in claims if isinstance(claim, ResourceClaim) or claim.identity not in self.claims
        ]

    def left_by(self, pod: Pod) -> Iterator[KubeObject]:
        """The claims of *pod*'s generic ephemeral volumes, which go with it."""
        for made in claims_of_volumes(pod):
            claim = self.claims.get(made.identity)
            owner = None if claim is None else claim.controller
            if claim is not None and owner is not None and owner.uid == pod.uid:
                del self.claims[claim.identity]
                yield claim
