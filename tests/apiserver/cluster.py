"""A user of the server, and kubelets, which run and end pods, as the recordings' driver did."""

import asyncio
import json

import attrs

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("Ready", "True", "KubeletReady"),
)


class Refused(Exception):
    """The server answered with a failure; ``status`` is its code."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


def node_manifest(name, *, cpu="4", memory="8Gi", pods="110", **more):
    """A node that is ready; *more* are further resources."""
    capacity = {"cpu": cpu, "memory": memory, "pods": pods, "ephemeral-storage": "100Gi", **more}
    conditions = [
        {"type": kind, "status": status, "reason": reason, "message": "x"}
        for kind, status, reason in CONDITIONS
    ]
    return {
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
        },
        "spec": {},
        "status": {"capacity": capacity, "allocatable": capacity, "conditions": conditions},
    }


def pod_manifest(name, *, cpu="100m", memory="64Mi", host_port=0, labels=None, **spec):
    """A pod with one container; *spec* are further fields of its spec."""
    container = {
        "name": "c",
        "image": "registry.example/pause:3",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
    }
    if host_port:
        container["ports"] = [{"containerPort": host_port, "hostPort": host_port}]
    return {
        "metadata": {"name": name, "labels": {"app": name, **(labels or {})}},
        "spec": {"containers": [container], **spec},
    }


@attrs.frozen
class User:
    """Asks a store, and raises :class:`Refused` for failures."""

    store: object

    def ask(self, method, path, body=None, *, query="", kind="application/json"):
        """The JSON of an answer."""
        data = b"" if body is None else json.dumps(body).encode()
        answer = self.store.handle(method, path, query, data, {"content-type": kind})
        if answer.status >= 400:
            message = answer.body["message"] if isinstance(answer.body, dict) else str(answer.body)
            raise Refused(answer.status, message)
        return answer.body

    def path(self, plural, name="", namespace="default"):
        """The path of a collection or of one object."""
        resource = self.resource(plural)
        return resource.path(namespace if resource.is_namespaced else "", name)

    def resource(self, plural):
        """The resource with that plural."""
        return self.store.flavour.resource(plural)

    def create(self, plural, manifest):
        """A new object."""
        return self.ask("POST", self.path(plural), manifest)

    def get(self, plural, name, *, namespace="default"):
        """An object."""
        return self.ask("GET", self.path(plural, name, namespace))

    def all(self, plural):
        """All objects of a resource."""
        return list(self.store.storage.of(plural).values())

    def patch(self, plural, name, change, *, namespace="default", part=""):
        """A strategic merge patch of an object, or of its *part* ``status``."""
        path = self.path(plural, name, namespace) + (f"/{part}" if part else "")
        return self.ask("PATCH", path, change, kind=STRATEGIC)

    def delete(self, plural, name, *, namespace="default", grace=None):
        """Delete an object; *grace* in seconds."""
        self.ask(
            "DELETE",
            self.path(plural, name, namespace),
            {} if grace is None else {"gracePeriodSeconds": grace},
        )

    def bind(self, name, node):
        """Bind a pod."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        self.ask("POST", self.path("pods", name) + "/binding", {"metadata": {"name": name}, "target": target})

    def watch(self, plural):
        """A watch of all objects of a resource, which come first."""
        resource = self.resource(plural)
        watch = self.store.handle("GET", resource.path(""), "watch=true&resourceVersion=0").watch
        assert watch is not None
        return watch

    def add_node(self, manifest):
        """A node, without the taint that new nodes get."""
        name = manifest["metadata"]["name"]
        self.create("nodes", manifest)
        self.ask(
            "PATCH",
            self.path("nodes", name),
            {"spec": {"taints": manifest["spec"].get("taints")}},
            kind=MERGE,
        )

    def add_pods(self, count, *, prefix="pod-"):
        """Add *count* pods of one kind, and return their names."""
        names = [f"{prefix}{number}" for number in range(count)]
        for name in names:
            self.create("pods", pod_manifest(name))
        return names


@attrs.define
class Kubelets:
    """All nodes at once: a bound pod runs, a pod that is being deleted goes."""

    user: object
    _watch: object = None

    def step(self):
        """Look at all pods that have changed since; how many those were. What another has done already is
        left so."""
        count = 0
        watch = self._watch
        if watch is None or (watch.is_closed and not watch.events):
            watch = self._watch = self.user.watch("pods")
        while watch.events:
            frame = watch.events.popleft()
            count += 1
            try:
                if frame.type in ("ADDED", "MODIFIED"):
                    self.care(frame.object)
            except Refused as error:
                if error.status not in (404, 409):
                    raise
        return count

    async def run(self):
        """Step whenever something changes, until cancelled."""
        awake = asyncio.Event()
        while True:
            awake.clear()
            if not self.step() and self._watch is not None:
                self._watch.on_event = awake.set
                await awake.wait()

    def care(self, pod):
        """Run a pod that is bound, or end it."""
        name = pod["metadata"]["name"]
        namespace = pod["metadata"]["namespace"]
        if not pod["spec"].get("nodeName"):
            return
        if pod["metadata"].get("deletionGracePeriodSeconds"):
            self.user.delete("pods", name, namespace=namespace, grace=0)
        elif pod["status"].get("phase") == "Pending" and "deletionTimestamp" not in pod["metadata"]:
            running = {"phase": "Running", "startTime": self.user.store.storage.now()}
            self.user.patch("pods", name, {"status": running}, namespace=namespace, part="status")
