"""Template files of workloads: one object each, and the objects that stand in where none is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from ....api.objects import KINDS
from ....api.reading.documents import read_documents
from ....exceptions import ManifestError

Json = dict[str, Any]

_NODE: Json = {
    "kind": "Node",
    "status": {
        "capacity": {"pods": "110", "cpu": "4", "memory": "32Gi"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
_SIZE = {"cpu": "100m", "memory": "500Mi"}
_POD: Json = {
    "kind": "Pod",
    "metadata": {"generateName": "pod-"},
    "spec": {"containers": [{"name": "pause", "image": "pause", "ports": [{"containerPort": 80}], "resources": {
        "limits": _SIZE, "requests": _SIZE,
    }}]},
}  # fmt: skip
DEFAULTS: Mapping[str, Json] = {"Node": _NODE, "Pod": _POD, "Namespace": {"kind": "Namespace"}}
"""Kind -> the object where no template is named."""


def template(path: str | None, kind: str | None, folders: Sequence[Path], where: str) -> Json:
    """The object in the file *path*, as of the first of *folders* that has it; without a path the default of its *kind*.

    *kind*: the one that is wanted, None for any that scheduling reads. Raises :class:`~kubeclassic.exceptions.ManifestError`.
    """
    if path is None:
        return deepcopy(dict(DEFAULTS[kind or ""]))
    found = _only_document(_place(path, folders, where))
    if kind is not None and found.get("kind", kind) != kind:
        raise ManifestError(f"{where}: {path}: got a {found['kind']}, wanted a {kind}")
    if kind is None and found.get("kind") not in KINDS:
        raise ManifestError(f"{where}: {path}: got kind {found.get('kind')}, wanted {', '.join(KINDS)}")
    spec = found.get("spec") or {}
    if found.get("kind", kind) == "Pod" and spec.get("priorityClassName") and spec.get("priority") is None:
        raise ManifestError(f"{where}: {path}: spec.priorityClassName: got it alone, wanted spec.priority too: no API server looks it up")
    return {"kind": kind, **found}


def _place(path: str, folders: Sequence[Path], where: str) -> Path:
    found = next((folder / path for folder in folders if (folder / path).is_file()), None)
    if found is None:
        raise ManifestError(f"{where}: {path}: no such file in {', '.join(map(str, folders))}")
    return found


def _only_document(place: Path) -> Json:
    documents = list(read_documents(place))
    if len(documents) != 1:
        raise ManifestError(f"{place}: got {len(documents)} objects, wanted one")
    return dict(documents[0].data)
