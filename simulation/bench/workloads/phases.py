"""The phases of a workload: what happens between two waits, measured or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ....api.controlplane.defaults import with_defaults
from ....api.objects import Pod
from ....api.reading.decode import decode
from ....core.decision.decision import Decision
from ....core.run import Run
from ...conform import Items

Json = dict[str, Any]
ADD, DELETE, SCHEDULE = "add", "delete", "schedule"


@attrs.frozen(kw_only=True)
class WorkloadPhase:
    """Part of a workload. *events*: a verb and a document each, in order."""

    events: Sequence[tuple[str, Json]]
    is_measured: bool = False
    counted: frozenset[str] = frozenset()
    """Keys of the pods that count."""

    def items(self, name: str, keeps_manifests: bool) -> Items:
        """The events with their objects decoded, as the API server would have stored them."""
        return [(verb, with_defaults(found)) for verb, document in self.events if (found := _decoded(document, name, keeps_manifests))]


def _decoded(document: Json, name: str, keeps_manifests: bool) -> Any:
    where = f"{name}, {document['kind']} {document['metadata']['name']}"
    return decode(document, where, strict=False, keeps_manifest=keeps_manifests)


def played(run: Run, items: Items) -> Iterator[Decision]:
    """The decisions on *items* in order, then those on the pods that preempted others and are still there."""
    for verb, item in items:
        if verb == SCHEDULE and isinstance(item, Pod):
            yield run.cycle(item)
        elif verb == DELETE:
            run.delete(item)
        else:
            run.put(item)
    for pod in run.take_retries():
        yield run.cycle(pod, retry=True)
