"""The export of kube-scheduler-simulator: one JSON object with a list of objects for each kind, and the
scheduler's configuration."""

from __future__ import annotations

from collections.abc import Mapping

from ...api.reading.documents import read_documents
from ...api.reading.exports import CONFIG, is_simulator_export, simulator_items
from ...exceptions import ManifestError
from .rows import PathLike, Trace


def read(path: PathLike) -> Trace:
    """The objects of an export, and its KubeSchedulerConfiguration. Raises
    :class:`~kubeclassic.exceptions.ManifestError`."""
    documents = list(read_documents([path]))
    data = documents[0].data if len(documents) == 1 else {}
    if not is_simulator_export(data):
        raise ManifestError(
            f"{path}: expected an object with pods and nodes, got no export of kube-scheduler-simulator"
        )
    trace = Trace()
    found = data.get(CONFIG)
    if isinstance(found, Mapping):
        trace.configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **found,
        }
    for item in simulator_items(data, str(path)):
        kind = item.get("kind")
        (trace.nodes if kind == "Node" else trace.pods if kind == "Pod" else trace.others).append(dict(item))
    return trace
