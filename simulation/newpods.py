"""New pods that edits change or make: each is admitted as it was written, and gets its claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from ..api.controlplane import (
    ADMISSION_KINDS,
    Templates,
    admit,
    claims_made_for,
    claims_of_volumes,
    templates_in,
    with_defaults,
)
from ..api.load import REFUSED, Originals
from ..api.meaning import ServerRules
from ..api.objects import KubeObject, PersistentVolumeClaim, Pod, ResourceClaim
from .evictions import made_new
from .fieldchanges import EditError

Pair = tuple[KubeObject | None, KubeObject | None]
"""An object before and after an edit; None: it does not exist."""


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
