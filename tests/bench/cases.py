"""The case to time: read from a file, or generated in the shapes of upstream's scheduler_perf, perhaps for
another release than its own.

Generated nodes have 4 cpu, 32Gi and 110 pods, in 3 zones; generated pods 100m and 500Mi. All pods, also those
of files, have the fields that admission and controllers add, unless they are bare. Documents are generated
one by one, so that a cluster of 300,000 pods is never in memory as JSON.
"""

from functools import cache
from pathlib import Path

import attrs
import yaml

from kubeclassic.algorithmprovider.releases import DEFAULT_RELEASE, RELEASES
from kubeclassic.api.objects.pods import DEFAULT_SCHEDULER
from kubeclassic.api.reading.documents import read_documents
from kubeclassic.exceptions import ManifestError
from kubeclassic.framework.releases import find_any_release
from tests.support.admitted import admitted, owned
from tests.support.manifests import manifest

ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "failure-domain.beta.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
ZONES = 3
GROUPS = 10
STRIDE = 7919
"""A prime: bound pod *i* is on node *i* times this, so that pods are spread evenly but not in order."""
NODE_MILLICORES = 4000
LOWER_PODS = 30
"""Bound pods per node in the kind ``preemption``, by default."""


@attrs.frozen(eq=False)
class Documents:
    """Documents that are generated anew in each loop."""

    make: object
    bare: bool

    def __iter__(self):
        return self.make() if self.bare else map(as_admitted, self.make())


def as_admitted(item):
    """*item*; a pod with the fields that a ReplicaSet and admission add."""
    if item.get("kind") != "Pod":
        return item
    has_owner = "ownerReferences" in item["metadata"]
    return admitted(item if has_owner else owned(item, item["metadata"].get("labels", {}).get("app", "app")))


@attrs.frozen(kw_only=True)
class CaseSize:
    """The size of a case to generate. Its pods have *templates* different sizes, each of them a template of
    its own for the scheduler."""

    kind: str = "basic"
    nodes: int = 1000
    existing: int = None
    """Bound pods; None: 1,000, or 30 per node in the kind ``preemption``."""
    pods: int = 1000
    templates: int = 1

    @property
    def bound(self):
        """The number of bound pods at the start."""
        if self.existing is not None:
            return self.existing
        return LOWER_PODS * self.nodes if self.kind == "preemption" else 1000

    def case(self, release, percentage=100, *, bare=False):
        """The conformance case; ``objects`` and ``pending`` are generated as they are read. *bare*: without
        the fields that admission adds."""
        known = RELEASES.get(release)
        gated = self.kind in ("spread", "mixed") and known is not None and "EvenPodsSpread" in known.gates
        config = {
            "provider": "DefaultProvider",
            "featureGates": {"EvenPodsSpread": True} if gated else {},
            "percentageOfNodesToScore": percentage,
            "preemption": self.kind == "preemption",
        }
        name = f"{self.kind}-{self.nodes}n-{self.bound}e-{self.pods}p" + (
            f"-{self.templates}t" if self.templates > 1 else ""
        )
        case = {"name": name, "version": release, "config": config}
        return {**case, "objects": Documents(self._objects, bare), "pending": Documents(self._pending, bare)}

    def _objects(self):
        if self.kind in ("spread", "mixed"):
            yield from (_service(group) for group in range(GROUPS))
        yield from (self._node(number) for number in range(self.nodes))
        yield from (self._bound_pod(number) for number in range(self.bound))

    def _pending(self):
        for number in range(self.pods):
            yield _pod(f"p{number:05}", self._form(number), priority=1000 if self.kind == "preemption" else 0)

    def _form(self, number):
        """Labels and spec of a pod of the kind."""
        forms = _forms(number % (3 * GROUPS))
        mixed = forms["mixed"]
        form = dict(forms[mixed[number % len(mixed)] if self.kind == "mixed" else self.kind])
        if self.templates > 1:
            form["labels"] = {**form["labels"], "template": f"t{number % self.templates}"}
            form["memory"] = f"{512_000 + number % self.templates}Ki"
        return form

    def _bound_pod(self, number):
        form = self._form(number)
        if self.kind == "preemption":
            form["cpu"] = f"{NODE_MILLICORES * 39 // 40 // max(self.bound // self.nodes, 1)}m"
        return _pod(f"e{number:05}", form, on=_name(number * STRIDE % self.nodes))

    def _node(self, number):
        mixed = self.kind == "mixed"
        labels = {ZONE: f"zone-{number % ZONES}", REGION: "region", HOSTNAME: _name(number)}
        if mixed:
            labels["disk"] = "hdd" if number % 2 else "ssd"
        taints = (
            [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}] if mixed and number % 20 == 0 else []
        )
        capacity = {"cpu": "4", "memory": "32Gi", "pods": "110"}
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        return manifest("Node", _name(number), labels=labels, spec={"taints": taints}, status=status)


def _name(number):
    return f"node-{number:05}"


def _service(group):
    return manifest("Service", f"svc-{group}", namespace="default", spec={"selector": {"group": f"g{group}"}})


def _pod(name, form, *, on="", priority=0):
    labels = form.pop("labels")
    requests = {"cpu": form.pop("cpu", "100m"), "memory": form.pop("memory", "500Mi")}
    containers = [{"name": "c", "image": "img", "resources": {"requests": requests}}]
    spec = {
        "nodeName": on,
        "schedulerName": DEFAULT_SCHEDULER,
        "priority": priority,
        "containers": containers,
        **form,
    }
    return manifest(
        "Pod", name, namespace="default", labels=labels, metadata={"uid": f"uid-{name}"}, spec=spec
    )


# --- the kinds ----------------------------------------------------------------------------------------------


@cache
def _forms(turn):
    """The forms of all kinds, for pods whose number has the remainder *turn* by groups and apps."""
    text = Path(__file__).with_suffix(".yaml").read_text()
    app = ("web", "db", "cache")[turn % 3]
    return yaml.safe_load(text.replace("@GROUP@", f"g{turn % GROUPS}").replace("@APP@", app))


# --- a case in a file ---------------------------------------------------------------------------------------


def read_case(path, release=None, *, bare=False):
    """The case in *path*: a conformance case file with one case, or manifests, whose pods without a node are
    pending.

    *release*: in place of the case's own; gates that it does not know are left out. With manifests all nodes
    are scored and preemption is off. *bare*: pods as in the file, without the fields that admission adds.
    """
    case = _read(path, release)
    return (
        case
        if bare
        else {**case, **{key: [as_admitted(item) for item in case[key]] for key in ("objects", "pending")}}
    )


def _read(path, release):
    documents = [document.data for document in read_documents(path)]
    if len(documents) == 1 and "pending" in documents[0]:
        case = {"version": DEFAULT_RELEASE, **documents[0]}
        return case if release is None else _with_release(case, find_any_release(release))
    if any("pending" in document for document in documents):
        raise ManifestError(f"{path}: expected one, got {len(documents)} cases")
    items = [item for document in documents for item in (document.get("items") or [document])]
    waiting = [item for item in items if _waits(item)]
    config = {"percentageOfNodesToScore": 100, "preemption": False}
    there = [item for item in items if not _waits(item)]
    version = find_any_release(release or DEFAULT_RELEASE).version
    return {
        "name": path.name.split(".")[0],
        "version": version,
        "config": config,
        "objects": there,
        "pending": waiting,
    }


def _waits(item):
    return item.get("kind") == "Pod" and not (item.get("spec") or {}).get("nodeName")


def _with_release(case, release):
    config = case.get("config") or {}
    gates = {
        name: value for name, value in (config.get("featureGates") or {}).items() if name in release.gates
    }
    return case | {"version": release.version, "config": {**config, "featureGates": gates}}
