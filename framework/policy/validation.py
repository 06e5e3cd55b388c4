"""The faults of a Policy, in upstream's words.

Upstream: pkg/scheduler/apis/config/validation/validation.go ValidatePolicy.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...algorithmprovider.extenders import faults as older_extender_faults
from ...algorithmprovider.policy import MAX_WEIGHT, Policy, PriorityEntry
from ...core.release import PolicyCells
from ...exceptions import PolicyError
from ..config.configuration import extender_faults
from ..config.fielderrors import aggregated

HIGHEST_AFFINITY_WEIGHT = 100


def validate(policy: Policy, cells: PolicyCells) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults of *policy* in one text."""
    if found := aggregated(_faults(policy, cells)):
        raise PolicyError(found)


def _faults(policy: Policy, cells: PolicyCells) -> Iterator[str]:
    latest: dict[str, PriorityEntry] = {}
    for entry in policy.priorities or ():
        if not 0 < entry.weight < MAX_WEIGHT:
            yield cells.bad_weight.format(name=entry.name)
        if fault := _argument_fault(entry, latest, cells):
            yield fault
    yield from (older_extender_faults if cells.older_extender_texts else extender_faults)(policy.extenders)
    if (
        not cells.weight_of_configuration_counts
        and not 0 <= policy.hard_pod_affinity_weight <= HIGHEST_AFFINITY_WEIGHT
    ):
        yield cells.bad_affinity_weight.format(weight=policy.hard_pod_affinity_weight)


def _argument_fault(entry: PriorityEntry, latest: dict[str, PriorityEntry], cells: PolicyCells) -> str:
    """The fault of a priority's argument; *latest*: the latest entry of each kind before it, which the entry
    joins."""
    argument = entry.argument
    if argument is None:
        return ""
    if argument.label_preference is not None:
        return _other_weight("LabelPreference", entry, latest)
    if argument.service_anti_affinity is not None:
        return _other_weight("ServiceAntiAffinity", entry, latest)
    if argument.ratio is None:
        return cells.no_argument.format(name=entry.name)
    first = latest.setdefault("RequestedToCapacityRatio", entry)
    return "" if first is entry else cells.declared_again.format(name=entry.name, first=first.name)


def _other_weight(kind: str, entry: PriorityEntry, latest: dict[str, PriorityEntry]) -> str:
    before = latest.get(kind, entry)
    if before.weight != entry.weight:
        return f'{kind}  priority "{entry.name}" has a different weight with "{before.name}"'
    latest[kind] = entry
    return ""
