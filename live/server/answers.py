"""The answers of an extender as JSON, with the field names of Go's types, all of them always there.

Old schedulers read these too: Go ignores fields that it does not know, and the case of names.
Upstream: staging/src/k8s.io/kube-scheduler/extender/v1/types.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ...core.decision.preemptionplan import Victims
from .reading import NodesAsked


def to_json(value: Any) -> bytes:
    """*value* as compact JSON, in ASCII."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


@attrs.frozen
class Verdicts:
    """What a filter call found: of the nodes asked for, by place, which fit; node -> why it does not."""

    fitting: Sequence[int]
    failed: Mapping[str, str] = attrs.field(factory=dict)
    unresolvable: Mapping[str, str] = attrs.field(factory=dict)
    """Those of *failed* where the removal of pods cannot help."""
    error: str = ""

    def result(self, asked: NodesAsked) -> dict[str, Any]:
        """An ExtenderFilterResult in the form of the request.

        Nodes that cannot be helped are in both maps: older schedulers read the first only, and newer ones let the second count.
        """
        is_by_name = asked.manifests is None
        return {
            "Nodes": None if asked.manifests is None else {"metadata": {}, "items": [asked.manifests[i] for i in self.fitting]},
            "NodeNames": [asked.names[i] for i in self.fitting] if is_by_name else None,
            "FailedNodes": self.failed,
            "FailedAndUnresolvableNodes": self.unresolvable,
            "Error": self.error,
        }


def host_priorities(names: Iterable[str], scores: Iterable[int]) -> list[dict[str, Any]]:
    """A HostPriorityList."""
    return [{"Host": name, "Score": score} for name, score in zip(names, scores, strict=True)]


def preemption_result(candidates: Mapping[str, Victims], unknown: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """An ExtenderPreemptionResult; *unknown*: node -> the UIDs that were asked for and are not on it, which stay in the answer."""
    return {"NodeNameToMetaVictims": {name: _meta_victims(victims, unknown.get(name, ())) for name, victims in candidates.items()}}


def _meta_victims(victims: Victims, unknown: Sequence[str]) -> dict[str, Any]:
    uids = [*(pod.uid for pod in victims.pods), *unknown]
    return {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": victims.violations}


def binding_result(error: str | None) -> dict[str, Any]:
    """An ExtenderBindingResult."""
    return {"Error": error or ""}
