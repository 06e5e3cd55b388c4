"""A Policy: a user's own choice of rules. Reads its JSON form and validates it as upstream does.

Upstream: pkg/scheduler/api/v1/types.go, pkg/scheduler/api/validation ValidatePolicy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ..api.reading.fields import Mismatch, Reader, Table, entries, flag, list_of, record, text, text_list, whole
from ..core.release import Release
from ..exceptions import PolicyError
from ..priorities.rule import MAX_PRIORITY
from .extenders import ExtenderConfig, extender_config, faults

MAX_INT = 2**63 - 1
MAX_WEIGHT = MAX_INT // MAX_PRIORITY
"""Weights are below this."""


# --- predicates -----------------------------------------------------------------------------------------------------


@attrs.frozen
class ServiceAffinity:
    """Pods of a service stay where these node labels have one value."""

    labels: tuple[str, ...] = ()


@attrs.frozen
class LabelsPresence:
    """Nodes must have all of these labels, or none."""

    labels: tuple[str, ...] = ()
    presence: bool = False


@attrs.frozen
class PredicateArgument:
    """The argument of a predicate; one of the two is given."""

    service_affinity: ServiceAffinity | None = None
    labels_presence: LabelsPresence | None = None


@attrs.frozen
class PredicateEntry:
    """One item of ``predicates``."""

    name: str = ""
    argument: PredicateArgument | None = None


# --- priorities -----------------------------------------------------------------------------------------------------


@attrs.frozen
class ServiceAntiAffinity:
    """Pods of a service are spread over the values of this node label."""

    label: str = ""


@attrs.frozen
class LabelPreference:
    """Nodes with this label are preferred, or those without."""

    label: str = ""
    presence: bool = False


@attrs.frozen
class ShapePoint:
    """A point of a broken line from utilization in percent to a score."""

    utilization: int = 0
    score: int = 0


@attrs.frozen
class ResourceWeight:
    """A resource that counts, and how much."""

    name: str = ""
    weight: int = 0


@attrs.frozen
class RatioArguments:
    """How full a node should be: ``requestedToCapacityRatioArguments``."""

    shape: tuple[ShapePoint, ...] = ()
    resources: tuple[ResourceWeight, ...] = ()


@attrs.frozen
class PriorityArgument:
    """The argument of a priority; one of the three is given."""

    service_anti_affinity: ServiceAntiAffinity | None = None
    label_preference: LabelPreference | None = None
    ratio: RatioArguments | None = None


@attrs.frozen
class PriorityEntry:
    """One item of ``priorities``."""

    name: str = ""
    weight: int = 0
    argument: PriorityArgument | None = None


# --- the Policy -----------------------------------------------------------------------------------------------------


@attrs.frozen
class Policy:
    """A Policy as it was written; None for lists that are absent or null, which stand for the DefaultProvider's."""

    kind: str = ""
    api_version: str = ""
    predicates: tuple[PredicateEntry, ...] | None = None
    priorities: tuple[PriorityEntry, ...] | None = None
    extenders: tuple[ExtenderConfig, ...] = ()
    hard_pod_affinity_weight: int = 0
    """hardPodAffinitySymmetricWeight; 0 leaves the component configuration's."""
    always_check_all: bool = False


def _fields(kind: type[Any], **table: tuple[str, Reader[Any]]) -> Reader[Any]:
    return record(kind, table)


_LABELS = ("labels", text_list)
_PREDICATE_ARGUMENT = _fields(
    PredicateArgument,
    serviceAffinity=("service_affinity", _fields(ServiceAffinity, labels=_LABELS)),
    labelsPresence=("labels_presence", _fields(LabelsPresence, labels=_LABELS, presence=("presence", flag))),
)
_PREDICATE = _fields(PredicateEntry, name=("name", text), argument=("argument", _PREDICATE_ARGUMENT))
_POINT = _fields(ShapePoint, utilization=("utilization", whole), score=("score", whole))
_RESOURCE = _fields(ResourceWeight, name=("name", text), weight=("weight", whole))
_RATIO = _fields(
    RatioArguments,
    shape=("shape", list_of(_POINT, ShapePoint())),
    resources=("resources", list_of(_RESOURCE, ResourceWeight())),
)
_PRIORITY_ARGUMENT = _fields(
    PriorityArgument,
    serviceAntiAffinity=("service_anti_affinity", _fields(ServiceAntiAffinity, label=("label", text))),
    labelPreference=("label_preference", _fields(LabelPreference, label=("label", text), presence=("presence", flag))),
    requestedToCapacityRatioArguments=("ratio", _RATIO),
)
_PRIORITY = _fields(PriorityEntry, name=("name", text), weight=("weight", whole), argument=("argument", _PRIORITY_ARGUMENT))
_POLICY: Table = {
    "kind": ("kind", text),
    "apiVersion": ("api_version", text),
    "predicates": ("predicates", list_of(_PREDICATE, PredicateEntry())),
    "priorities": ("priorities", list_of(_PRIORITY, PriorityEntry())),
    "extenders": ("extenders", list_of(extender_config, ExtenderConfig())),
    "hardPodAffinitySymmetricWeight": ("hard_pod_affinity_weight", whole),
    "alwaysCheckAllPredicates": ("always_check_all", flag),
}
_READ: Reader[Policy] = record(Policy, _POLICY)


def read_policy(document: Mapping[str, Any]) -> Policy:
    """The Policy that *document* (its JSON form) describes; unknown keys are ignored.

    Raises :class:`~kubeclassic.exceptions.PolicyError`, ``invalid policy: ...`` with the path to the wrong field.
    """
    try:
        policy = _READ(entries(document))
    except Mismatch as mismatch:
        raise PolicyError(f"invalid policy: {mismatch}") from None
    kind, version = policy.kind or "Policy", policy.api_version or "v1"
    if (kind, version) != ("Policy", "v1"):
        raise PolicyError(f'invalid policy: no kind "{kind}" is registered for version "{version}"')
    return policy


def validate(policy: Policy, release: Release) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with everything that upstream's validation finds, in one text."""
    found = [*_faults_of_weights(policy), *faults(policy.extenders)]
    if found:
        raise PolicyError(release.error_joiner(found))


def _faults_of_weights(policy: Policy) -> Iterator[str]:
    for entry in policy.priorities or ():
        if not 0 < entry.weight < MAX_WEIGHT:
            yield f"Priority {entry.name} should have a positive weight applied to it or it has overflown"


# --- keys that nobody reads -----------------------------------------------------------------------------------------

Known = Mapping[str, Any]
"""Known keys, each with those of the objects below it; None: whatever is below."""
_LEAF: Known = {}
_KNOWN: Known = {
    **dict.fromkeys(("kind", "apiVersion", "hardPodAffinitySymmetricWeight", "alwaysCheckAllPredicates"), _LEAF),
    "metadata": None,
    "extenders": None,
    "predicates": {
        "name": _LEAF,
        "argument": {"serviceAffinity": {"labels": _LEAF}, "labelsPresence": {"labels": _LEAF, "presence": _LEAF}},
    },
    "priorities": {
        "name": _LEAF,
        "weight": _LEAF,
        "argument": {
            "serviceAntiAffinity": {"label": _LEAF},
            "labelPreference": {"label": _LEAF, "presence": _LEAF},
            "requestedToCapacityRatioArguments": {
                "shape": {"utilization": _LEAF, "score": _LEAF},
                "resources": {"name": _LEAF, "weight": _LEAF},
            },
        },
    },
}


def unknown_keys(value: Any, known: Known | None = _KNOWN, path: str = "") -> Iterator[str]:
    """The paths of the keys of a Policy's JSON form that nothing reads, as they are misspelled or in the wrong case."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_keys(item, known, f"{path}[{index}]")
    elif isinstance(value, Mapping) and known is not None:
        for key, item in value.items():
            inner = f"{path}.{key}" if path else str(key)
            if key in known:
                yield from unknown_keys(item, known[key], inner)
            else:
                yield inner
