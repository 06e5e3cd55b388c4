"""What others do in a cluster: kubelets run and end pods, a volume controller binds volumes, a provisioner makes them.

They do what the recordings' driver did in their names. Each follows the server by watches and acts in :meth:`Follower.step`.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

import attrs

from .answers import Object
from .cluster import MERGE, Refused, User
from .watches import Watch

SELECTED = "volume.kubernetes.io/selected-node"
BOUND_BY_CONTROLLER, BIND_COMPLETED = "pv.kubernetes.io/bound-by-controller", "pv.kubernetes.io/bind-completed"
NO_PROVISIONER = "kubernetes.io/no-provisioner"


@attrs.define
class Follower(ABC):
    """Sees every object of some resources, again after each change."""

    user: User
    watches: dict[str, Watch] = attrs.field(factory=dict, init=False)

    @abstractmethod
    def seen(self) -> Mapping[str, Callable[[Object], None]]:
        """Plural -> what to do with an object that is there."""

    def step(self) -> int:
        """Look at all that has changed since; how many objects those were. What another has done already is left so."""
        count = 0
        for plural, act in self.seen().items():
            watch = self._watch(plural)
            while watch.events:
                frame = watch.events.popleft()
                count += 1
                if frame.type in ("ADDED", "MODIFIED"):
                    _try(act, frame.object)
        return count

    def settle(self) -> None:
        """Step until nothing changes any more."""
        while self.step():
            pass

    async def run(self) -> None:
        """Step whenever something changes, until cancelled."""
        awake = asyncio.Event()
        while True:
            awake.clear()
            for plural in self.seen():
                self._watch(plural).on_event = awake.set
            if not self.step():
                await awake.wait()

    def _watch(self, plural: str) -> Watch:
        watch = self.watches.get(plural)
        if watch is None or (watch.is_closed and not watch.events):
            watch = self.watches[plural] = self.user.watch(plural)
        return watch


def _try(act: Callable[[Object], None], item: Object) -> None:
    try:
        act(item)
    except Refused as error:
        if error.status not in (404, 409):
            raise


@attrs.define
class Kubelets(Follower):
    """All nodes at once: a bound pod runs, a pod that is being deleted goes."""

    def seen(self) -> Mapping[str, Callable[[Object], None]]:
        """Pods."""
        return {"pods": self.care}

    def care(self, pod: Object) -> None:
        """Run a pod that is bound, or end it."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        if not pod["spec"].get("nodeName"):
            return
        if pod["metadata"].get("deletionGracePeriodSeconds"):
            self.user.delete("pods", name, namespace=namespace, grace=0)
        elif pod["status"].get("phase") == "Pending" and "deletionTimestamp" not in pod["metadata"]:
            self.user.patch("pods", name, {"status": self._running(pod)}, namespace=namespace, part="status")

    def _running(self, pod: Object) -> Object:
        now = self.user.store.storage.now()
        condition = {"status": "True", "lastProbeTime": None, "lastTransitionTime": now}
        statuses = [
            {"name": each["name"], "image": each["image"], "imageID": "", "containerID": "docker://x", "ready": True, "restartCount": 0,
             "state": {"running": {"startedAt": now}}, "lastState": {}}
            for each in pod["spec"]["containers"]
        ]  # fmt: skip
        return {
            "phase": "Running",
            "startTime": now,
            "hostIP": "10.1.0.1",
            "podIP": "10.2.0.9",
            "conditions": [{"type": kind, **condition} for kind in ("Initialized", "Ready", "ContainersReady")],
            "containerStatuses": statuses,
        }


@attrs.define
class Volumes(Follower):
    """The volume controller and a provisioner."""

    fails: Callable[[Object], bool] = lambda claim: False
    """Whether provisioning fails for a claim: its annotation with the node is removed."""

    def seen(self) -> Mapping[str, Callable[[Object], None]]:
        """Volumes and claims."""
        return {"persistentvolumes": self.care_for_volume, "persistentvolumeclaims": self.care_for_claim}

    def care_for_volume(self, volume: Object) -> None:
        """Make a free volume available, and bind the one that has got its claim."""
        name, phase = volume["metadata"]["name"], volume["status"].get("phase")
        claim = volume["spec"].get("claimRef")
        if claim is None:
            if phase == "Pending":
                self._set_phase(name, "Available")
        elif phase != "Bound" and claim.get("uid"):
            self._set_phase(name, "Bound")
            self._bind(volume, claim)

    def _set_phase(self, name: str, phase: str) -> None:
        self.user.patch("persistentvolumes", name, {"status": {"phase": phase}}, part="status")

    def _bind(self, volume: Object, claim: Object) -> None:
        annotations = {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
        change = {"metadata": {"annotations": annotations}, "spec": {"volumeName": volume["metadata"]["name"]}}
        status = {"phase": "Bound", "accessModes": volume["spec"]["accessModes"], "capacity": volume["spec"]["capacity"]}
        self.user.patch("persistentvolumeclaims", claim["name"], change, namespace=claim["namespace"])
        self.user.patch("persistentvolumeclaims", claim["name"], {"status": status}, namespace=claim["namespace"], part="status")

    def care_for_claim(self, claim: Object) -> None:
        """Provision a volume for a claim that has got a node, or say that it cannot be done."""
        node = claim["metadata"].get("annotations", {}).get(SELECTED)
        if node is None or claim["spec"].get("volumeName"):
            return
        storage_class = self.user.get("storageclasses", claim["spec"]["storageClassName"])
        if storage_class["provisioner"] == NO_PROVISIONER:
            return
        if self.fails(claim):
            path = self.user.path("persistentvolumeclaims", claim["metadata"]["name"], claim["metadata"]["namespace"])
            self.user.ask("PATCH", path, {"metadata": {"annotations": {SELECTED: None}}}, kind=MERGE)
        else:
            self.user.create("persistentvolumes", _provisioned(claim, node, storage_class["provisioner"]))


def _provisioned(claim: Object, node: str, provisioner: str) -> Object:
    """A volume for a claim, on the claim's node."""
    metadata, spec = claim["metadata"], claim["spec"]
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    reference = {key: metadata[key] for key in ("namespace", "name", "uid")}
    return {
        "metadata": {"name": f"pvc-{metadata['uid']}", "annotations": {"pv.kubernetes.io/provisioned-by": provisioner}},
        "spec": {
            "capacity": spec["resources"]["requests"],
            "accessModes": spec["accessModes"],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
            "claimRef": {"kind": "PersistentVolumeClaim", "apiVersion": "v1", **reference},
            "csi": {"driver": "example.com", "volumeHandle": "h1"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        },
    }
