"""Places in a manifest, how to reach them, and their short names: ``requests.cpu`` is ``spec.containers[*].resources.requests.cpu``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from ...exceptions import KubeclassicError, one_line

Json: TypeAlias = Any

FREE_KEYS = ("labels", "annotations", "nodeSelector", "matchLabels", "requests", "limits", "allocatable", "capacity", "parameters")
"""Fields whose keys are anything: all that follows their dot is one key, which may have dots itself."""
EVERY = "*"
_STEP = re.compile(r"([^.\[\]]+)((?:\[[^\[\]]*\])*)(?:\.|\Z)")
_INSIDE = re.compile(r"\[([^\[\]]*)\]")


class EditError(KubeclassicError):
    """An edit that cannot be read, or that does not fit what it is about; the text is one line."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


@attrs.frozen
class Step:
    """One step into a manifest: a key of an object, or with *is_item* items of a list: one by name or number, or ``*`` for all."""

    name: str
    is_item: bool = False

    def __str__(self) -> str:
        return f"[{self.name}]" if self.is_item else f".{self.name}"


Path: TypeAlias = tuple[Step, ...]


def parse_path(text: str) -> Path:
    """The path that *text* says. Raises :class:`EditError`.

    >>> text_of(parse_path("spec.containers[app].resources.requests.nvidia.com/gpu"))
    'spec.containers[app].resources.requests.nvidia.com/gpu'
    >>> len(parse_path("metadata.labels.app.kubernetes.io/name"))
    3
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if steps and steps[-1].name in FREE_KEYS and not steps[-1].is_item:
            steps.append(Step(text[at:]))
            break
        found = _STEP.match(text, at)
        if found is None:
            raise EditError(f'got the field "{text}", wanted names with dots between, such as spec.containers[app].image')
        steps.append(Step(found[1]))
        steps += [Step(inside.strip("'\""), is_item=steps[-1].name not in FREE_KEYS) for inside in _INSIDE.findall(found[2])]
        at = found.end()
    if not steps or text.endswith((".", "[]")):
        raise EditError(f'got the field "{text}", wanted names with dots between, such as spec.containers[app].image')
    return tuple(steps)


def text_of(path: Path) -> str:
    """*path* as it is written."""
    return "".join(map(str, path)).removeprefix(".")


def changed(value: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    """A copy of *value* where *change* made something else of what is at *path*; objects on the way are made where there are none.

    *change* gets None where nothing is there; where it answers None the key is left out. Raises :class:`EditError` if something else
    than an object or a list is on the way. What is not on the way is shared with *value*.
    """
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if step.is_item:
        return _changed_items(value, path, change)
    if value is not None and not isinstance(value, dict):
        raise EditError(f"{step.name}: got it inside {_kind_of(value)}, wanted an object around it")
    before = value or {}
    after = changed(before.get(step.name), rest, change)
    if after is None:
        return {key: held for key, held in before.items() if key != step.name} or None
    return {**before, step.name: after}


def _changed_items(value: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    if value is not None and not isinstance(value, list):
        raise EditError(f"{path[0]}: got it on {_kind_of(value)}, wanted a list")
    chosen = set(_chosen(value or [], path[0].name))
    found = [changed(item, path[1:], change) if number in chosen else item for number, item in enumerate(value or [])]
    return [item for item in found if item is not None] or None


def _chosen(items: list[Json], name: str) -> Iterator[int]:
    for number, item in enumerate(items):
        if name in (EVERY, str(number)) or (isinstance(item, dict) and item.get("name") == name):
            yield number


def _kind_of(value: Json) -> str:
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else f"the value {value!r}"


# --- short names ------------------------------------------------------------------------------------------------------


TOP = ("metadata", "spec", "status")
FIXED = ("apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "name", "namespace", "uid")
"""These say which object it is, and stay."""
POD_TEMPLATES: Mapping[str, str] = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"), "spec.template.spec"),
    "Pod": "spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Kind -> where the spec of its pods is."""
OF_PODS = frozenset([
    "affinity", "containers", "hostNetwork", "initContainers", "nodeName", "nodeSelector", "overhead", "preemptionPolicy", "priority",
    "priorityClassName", "schedulerName", "schedulingGates", "terminationGracePeriodSeconds", "tolerations",
    "topologySpreadConstraints", "volumes",
])  # fmt: skip
"""Fields of the spec of pods."""
OF_NODE_STATUS = frozenset(["allocatable", "capacity", "conditions", "images", "nodeInfo", "volumesAttached", "volumesInUse"])
SINGULAR: Mapping[str, str] = {
    name: f"{name}s" for name in ("request", "limit", "label", "annotation", "toleration", "taint")
}  # fmt: skip
"""What one may write for a short name that has an s."""
WITHOUT_SPEC = ("StorageClass", "PriorityClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "ConfigMap")


def path_for(kind: str, text: str) -> Path:
    """The path that *text* means for objects of *kind*. Raises :class:`EditError`.

    >>> text_of(path_for("Pod", "requests.cpu")), text_of(path_for("Node", "taints")), text_of(path_for("Deployment", "replicas"))
    ('spec.containers[*].resources.requests.cpu', 'spec.taints', 'spec.replicas')
    """
    path = parse_path(text)
    if (meant := SINGULAR.get(path[0].name)) is not None:
        raise EditError(f'got the field "{text}", wanted one that there is; did you mean "{meant}{text.removeprefix(path[0].name)}"?')
    found = (*_before(kind, path[0].name), *path)
    if text_of(found) in FIXED:
        raise EditError(f'got the field "{text}", which says which object it is, wanted another one')
    return found


def _before(kind: str, first: str) -> Path:
    """The steps before a short path that begins with *first*."""
    pods = POD_TEMPLATES.get(kind)
    if first in TOP or first in FIXED:
        return ()
    if first in ("labels", "annotations"):
        return (Step("metadata"),)
    if pods is not None and first in ("requests", "limits"):
        return (*parse_path(pods), Step("containers"), Step(EVERY, is_item=True), Step("resources"))
    if pods is not None and first in OF_PODS:
        return parse_path(pods)
    if kind == "Node" and first in OF_NODE_STATUS:
        return (Step("status"),)
    if kind == "PersistentVolumeClaim" and first == "requests":
        return parse_path("spec.resources")
    return () if kind in WITHOUT_SPEC else (Step("spec"),)
