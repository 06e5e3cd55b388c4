"""The pods that owners make anew in place of evicted ones: a ReplicaSet, a StatefulSet or a Job does, a bare
pod is not replaced.

Devices that a pod claims are free when it leaves its node; one that is made in its place has claims of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import attrs
from msgspec.structs import replace

from ..api.controlplane import claims_made_for, templates_in
from ..api.load import why_not_waiting
from ..api.objects import KubeObject, ObjectMeta, Pod, PodStatus, ResourceClaim
from ..core.engine import Engine
from ..core.run import Run

KUBELET = "Node"
"""The kind of owner that a static pod has: it comes back on its own node, not through the scheduler."""
SAME_NAME = "StatefulSet"


@attrs.define(eq=False, repr=False)
class Replacements:
    """Makes replacements, and gives them names that no other pod has."""

    taken: set[str]
    """Keys of pods."""
    scheduler_names: frozenset[str] | None
    """Only pods that ask for one of these are made, or with None all."""
    recreates_bare: bool = False
    """Pods without a controller are made again too, under their own names."""
    _made: int = 0
    _tried: dict[str, int] = attrs.Factory(dict)
    """``namespace/owner`` -> a number below which none is free."""

    @classmethod
    def beside(
        cls, objects: Iterable[KubeObject], scheduler_names: frozenset[str] | None = None
    ) -> Replacements:
        """For a cluster that has the pods of *objects*, with or without nodes."""
        return cls({item.key for item in objects if isinstance(item, Pod)}, scheduler_names)

    def of(self, evicted: Pod) -> Pod | None:
        """The new pod in place of *evicted*, without a node, nomination and times; None if its owner makes
        none, or if it has none.

        A StatefulSet's pod keeps its name; others are called ``OWNER-NUMBER``, with the first number that is
        free.
        """
        owner = evicted.metadata.controller
        if (owner is None and not self.recreates_bare) or (owner is not None and owner.kind == KUBELET):
            return None
        self._made += 1
        name = evicted.name
        if owner is not None and owner.kind != SAME_NAME:
            before = f"{evicted.namespace}/{owner.name}"
            number = next(
                number
                for number in count(self._tried.get(before, 0))
                if f"{before}-{number}" not in self.taken
            )
            self._tried[before], name = number, f"{owner.name}-{number}"
        made = made_new(evicted, name, f"{evicted.metadata.uid or evicted.key}-replacement-{self._made}")
        if why_not_waiting(made, self.scheduler_names) is not None:
            return None
        self.taken.add(made.key)
        return made

    def take_back(self, made: Pod) -> None:
        """*made* will not be: its name is free again, unless it was that of the evicted pod."""
        owner = made.metadata.controller
        if owner is not None and owner.kind != SAME_NAME:
            self.taken.discard(made.key)
            self._tried.pop(f"{made.namespace}/{owner.name}", None)


def made_new(evicted: Pod, name: str, uid: str) -> Pod:
    """A pod like *evicted* that is not created yet: on no node, without times and status."""
    old = evicted.metadata
    metadata = ObjectMeta(
        name=name,
        namespace=old.namespace,
        uid=uid,
        labels=old.labels,
        annotations=old.annotations,
        owner_references=old.owner_references,
    )
    return replace(
        evicted,
        metadata=metadata,
        spec=replace(evicted.spec, node_name=""),
        status=PodStatus(),
        manifest=None,
    )


# --- claims to devices --------------------------------------------------------------------------------------


def claims_left_by(
    pod: Pod, claims: Iterable[ResourceClaim]
) -> Iterator[tuple[ResourceClaim, ResourceClaim | None]]:
    """Each of *claims* that is of *pod*, and what becomes of it when the pod is gone: those that were made
    for it go with it.

    Others lose it as their user, and their devices with the last one. Upstream:
    pkg/controller/resourceclaim/controller.go.
    """
    for claim in claims:
        owner = claim.metadata.controller
        if owner is not None and owner.uid == pod.uid:
            yield claim, None
            continue
        users = tuple(one for one in claim.status.reserved_for if one.uid != pod.uid)
        if len(users) < len(claim.status.reserved_for):
            status = replace(
                claim.status, reserved_for=users, allocation=claim.status.allocation if users else None
            )
            yield claim, replace(claim, status=status)


def with_claims(pod: Pod, engine: Engine) -> tuple[Pod, list[ResourceClaim]]:
    """*pod*, which is new, with the claims that are made for it."""
    return claims_made_for(pod, templates_in(engine.listings.claim_templates))


def give_back(pod: Pod, run: Run) -> None:
    """*pod* is gone: what it claimed is free again, unless others use it."""
    for before, after in tuple(claims_left_by(pod, run.engine.listings.resource_claims.of(pod))):
        if after is None:
            run.delete(before)
        else:
            run.put(after)
