"""Which kinds an answer about a live cluster depends on, and what is said where they may not be listed.

A kind that was not read is not a kind of which there is none: without the right to list budgets every node could be drained.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..exceptions import KubeclassicError, UnknownNameError, did_you_mean
from .client.api import Manifest
from .client.resources import DEVICE_KINDS, VERSIONS, resource

ROLE = "ClusterRole kubeclassic-looker of examples/deploy/looker.yaml"
Listed = Mapping[str, Sequence[Manifest]]
"""Kind -> its objects."""


class MissingRightError(KubeclassicError):
    """The API server does not let kinds be listed on which the answer depends."""


@attrs.frozen
class Need:
    """Kinds that decide, where something that was listed refers to them."""

    kinds: tuple[str, ...]
    why: str
    """Completes *needed, as ...*."""
    is_there: Callable[[Listed], bool]


def _values(found: Any, *path: str) -> Iterator[Any]:
    """What is at *path* of an object; lists on the way stand for each of their items. Other shapes have nothing there."""
    if isinstance(found, list):
        for item in found:
            yield from _values(item, *path)
    elif not path:
        yield found
    elif isinstance(found, dict) and path[0] in found:
        yield from _values(found[path[0]], *path[1:])


def _specs(listed: Listed, *path: str) -> list[Any]:
    """What all pods have at *path* of their spec."""
    return [value for pod in listed.get("Pod", ()) for value in _values(pod, "spec", *path)]


def _have_claims(listed: Listed) -> bool:
    return any(_specs(listed, "volumes", volume) for volume in ("persistentVolumeClaim", "ephemeral"))


def _may_wait_for_capacity(listed: Listed) -> bool:
    modes = [mode for found in listed.get("StorageClass", ()) for mode in _values(found, "volumeBindingMode")]
    return _have_claims(listed) and "WaitForFirstConsumer" in modes


def _select_namespaces(listed: Listed) -> bool:
    terms = ("podAffinity", "podAntiAffinity")
    required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
    paths = [("affinity", term, *path) for term in terms for path in ((required,), (preferred, "podAffinityTerm"))]
    return any(selector is not None for path in paths for selector in _specs(listed, *path, "namespaceSelector"))


def _have_priorities(listed: Listed) -> bool:
    return len({priority for priority in _specs(listed, "priority") if isinstance(priority, int)} | {0}) > 1


NEEDS = (
    Need(("Node", "Pod"), "every answer counts nodes and the pods on them", lambda listed: True),
    Need(("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode"), "pods have claims for volumes", _have_claims),
    Need(("CSIDriver", "CSIStorageCapacity"), "volumes are made where their pods go", _may_wait_for_capacity),
    Need(DEVICE_KINDS, "pods have claims for devices", lambda listed: any(_specs(listed, "resourceClaims"))),
    Need(("Namespace",), "pods select namespaces by their labels", _select_namespaces),
    Need(("PodDisruptionBudget",), "pods of different priorities may preempt one another", _have_priorities),
)


def check_rights(listed: Listed, refused: Mapping[str, str], wanted: Collection[str], allowed: Collection[str]) -> None:
    """Refuse a cluster of which a needed kind may not be listed. *refused*: kind -> what the API server said.

    *wanted*: kinds that the command needs whatever the cluster has; *allowed*: kinds that may be missing.
    Raises :class:`MissingRightError`.
    """
    reasons = {kind: need.why for need in NEEDS if need.is_there(listed) for kind in need.kinds}
    missing = [kind for kind in refused if (kind in reasons or kind in wanted) and kind not in allowed]
    if not missing:
        return
    kind = missing[0]
    why = reasons.get(kind, "this command counts them")
    error = MissingRightError(f"cluster: no right to list {_in_words(missing)}: {why}. The server said: {refused[kind]}")
    error.add_note(f"{ROLE} gives it.")
    error.add_note(f"{' '.join(f'--allow-missing {kind}' for kind in missing)}: go on as if there were none.")
    raise error


def _in_words(kinds: Iterable[str]) -> str:
    """The kinds as rights name them, such as ``poddisruptionbudgets.policy``."""
    names = []
    for kind in kinds:
        found = resource(kind, VERSIONS[kind][0])
        group, slash, _ = found.group_version.rpartition("/")
        names.append(f"{found.plural}.{group}" if slash else found.plural)
    return ", ".join(names)


def check_kinds(kinds: Iterable[str]) -> None:
    """Raise :class:`~kubeclassic.exceptions.UnknownNameError` for what is no kind of a snapshot."""
    for kind in kinds:
        if kind not in VERSIONS:
            raise UnknownNameError(f"--allow-missing: expected one of {', '.join(VERSIONS)}, got {kind}{did_you_mean(kind, VERSIONS)}")
