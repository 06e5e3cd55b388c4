"""A dump as kubectl prints one of a real cluster: pools, zones, ten pods a node, and pods that wait in turns.

    python tests/bench/realdump.py --nodes 1000 dump.json

Objects have what admission, controllers and kubelets give them. Each is written from a text that its template was
turned into once, so that a dump of gigabytes takes seconds and no memory. The same size gives the same dump.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import attrs
import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.admitted import TIME, admitted, letters

Json = dict[str, Any]
ZONES = ("europe-a", "europe-b", "europe-c")
PODS_A_NODE = 10
NAME, UID, NODE, LETTERS, NUMBER, HIGH, LOW = (
    "@NAME@",
    "@UID@",
    "@NODE@",
    "@LETTERS@",
    "@NUMBER@",
    "@HIGH@",
    "@LOW@",
)
"""What each object of a template has of its own, as it stands in the template's text."""
SIZES = (
    ("50m", "64Mi"),
    ("100m", "128Mi"),
    ("100m", "256Mi"),
    ("200m", "512Mi"),
    ("250m", "512Mi"),
    ("500m", "1Gi"),
    ("500m", "2Gi"),
    ("1", "2Gi"),
    ("1", "4Gi"),
    ("2", "4Gi"),
)
SPOT_TOLERATION = {"effect": "NoSchedule", "key": "spot", "operator": "Equal", "value": "true"}


@attrs.frozen
class Pool:
    """Nodes of one kind."""

    number: int
    cores: int
    gibibytes: int
    share: int
    """Of a hundred nodes."""

    @property
    def name(self) -> str:
        """As nodes have it in a label."""
        return f"pool-{self.number:02}"


_KINDS = (
    (4, 16, 14),
    (8, 32, 14),
    (8, 64, 10),
    (16, 64, 14),
    (16, 128, 8),
    (32, 128, 10),
    (32, 256, 6),
    (64, 256, 4),
    (64, 512, 2),
    (8, 32, 10),
    (96, 768, 2),
    (16, 64, 6),
)
POOLS = tuple(Pool(number, *kind) for number, kind in enumerate(_KINDS))
SPOT, GPU = POOLS[9], POOLS[10]
TAINTS = {
    SPOT: {"effect": "NoSchedule", "key": "spot", "value": "true"},
    GPU: {"effect": "NoSchedule", "key": "nvidia.com/gpu", "value": "present"},
}
WANTED_POOLS = [POOLS[number].name for number in (0, 1, 3, 5)]


# --- nodes ----------------------------------------------------------------------------------------------------------


def node(pool: Pool, zone: str) -> Json:
    """The template of the nodes of *pool* in *zone*."""
    machine = f"m-{pool.cores}"
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": machine,
        "beta.kubernetes.io/os": "linux",
        "cloud.example.com/machine-family": "m",
        "cloud.example.com/nodepool": pool.name,
        "failure-domain.beta.kubernetes.io/region": "europe",
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": NAME,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine,
        "topology.csi.example.com/zone": zone,
        "topology.kubernetes.io/region": "europe",
        "topology.kubernetes.io/zone": zone,
    }
    annotations = {
        "csi.volume.kubernetes.io/nodeid": f'{{"pd.csi.example.com":"projects/p/zones/{zone}/instances/{NAME}"}}',
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }
    spec: Json = {
        "podCIDR": f"10.{HIGH}.{LOW}.0/24",
        "podCIDRs": [f"10.{HIGH}.{LOW}.0/24"],
        "providerID": f"cloud:///{zone}/{NAME}",
    }
    if pool in TAINTS:
        spec["taints"] = [TAINTS[pool]]
    metadata = {
        "annotations": annotations,
        "creationTimestamp": TIME,
        "labels": labels,
        "name": NAME,
        "resourceVersion": NUMBER,
        "uid": UID,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": _node_status(pool),
    }


def _node_status(pool: Pool) -> Json:
    memory = pool.gibibytes << 20
    gpus = {"nvidia.com/gpu": "8"} if pool is GPU else {}
    none = {"hugepages-1Gi": "0", "hugepages-2Mi": "0", "pods": "110", **gpus}
    capacity = {
        "cpu": str(pool.cores),
        "ephemeral-storage": "98831908Ki",
        "memory": f"{memory - 400_000}Ki",
        **none,
    }
    allocatable = {
        "cpu": f"{pool.cores * 1000 - 80}m",
        "ephemeral-storage": "47093746742",
        "memory": f"{memory - 1_800_000}Ki",
        **none,
    }
    identity = dict.fromkeys(("bootID", "machineID", "systemUUID"), UID)
    software = {
        "containerRuntimeVersion": "containerd://1.7.22",
        "kernelVersion": "6.1.100+",
        "osImage": "Linux",
    }
    versions = {
        "kubeProxyVersion": "v1.31.3",
        "kubeletVersion": "v1.31.3",
        "architecture": "amd64",
        "operatingSystem": "linux",
    }
    return {
        "addresses": [
            {"address": f"10.{HIGH}.{LOW}.2", "type": "InternalIP"},
            {"address": NAME, "type": "Hostname"},
        ],
        "allocatable": allocatable,
        "capacity": capacity,
        "conditions": list(_node_conditions()),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "images": list(_images(pool)),
        "nodeInfo": {**identity, **software, **versions},
        "volumesInUse": [],
    }


def _node_conditions() -> Iterator[Json]:
    said = (
        ("MemoryPressure", "KubeletHasSufficientMemory", "False"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "False"),
        ("PIDPressure", "KubeletHasSufficientPID", "False"),
        ("FrequentKubeletRestart", "NoFrequentKubeletRestart", "False"),
        ("KernelDeadlock", "KernelHasNoDeadlock", "False"),
        ("ReadonlyFilesystem", "FilesystemIsNotReadOnly", "False"),
        ("Ready", "KubeletReady", "True"),
    )
    for kind, reason, status in said:
        times = {"lastHeartbeatTime": TIME, "lastTransitionTime": TIME}
        yield {**times, "message": f"kubelet says {reason}", "reason": reason, "status": status, "type": kind}


def _images(pool: Pool) -> Iterator[Json]:
    lots = random.Random(pool.number)
    for number in (lots.randrange(400) for _ in range(25)):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        name = f"registry.example.com/team-{number % 17}/app-{number}@sha256:{digest}"
        yield {"names": [name, _image(number)], "sizeBytes": 20_000_000 + number * 3_000_000}


def _image(number: int) -> str:
    return f"registry.example.com/team-{number % 17}/app-{number}:v1.{number % 30}.0"


# --- applications ---------------------------------------------------------------------------------------------------


@attrs.frozen(slots=False)
class App:
    """An application: a ReplicaSet, for every second one a Service, and pods that are all alike."""

    number: int
    waits: bool
    """Its pods have no nodes."""

    @property
    def name(self) -> str:
        """That of its Service; its ReplicaSet's begins with it."""
        return f"{'waiting' if self.waits else 'bound'}-app-{self.number:05}"

    @property
    def namespace(self) -> str:
        """That of everything of it."""
        return f"team-{self.number % 60:02}"

    @property
    def is_of_spot(self) -> bool:
        """Whether its pods are for the nodes that others are kept from."""
        return self.number % 100 in (31, 32)

    @property
    def selector(self) -> Json:
        """Selects its pods."""
        return {"matchLabels": {"app.kubernetes.io/name": self.name}}

    @cached_property
    def hashed(self) -> str:
        """The hash of the template."""
        return f"{self.number * 7919 % 10**9:09}"

    @property
    def owner(self) -> str:
        """The ReplicaSet."""
        return f"{self.name}-{self.hashed}"

    @cached_property
    def labels(self) -> Json:
        """Those of its pods."""
        return {
            "app.kubernetes.io/name": self.name,
            "app.kubernetes.io/part-of": f"system-{self.number % 40}",
            "pod-template-hash": self.hashed,
            "team": self.namespace,
            "tier": ("front", "back", "batch")[self.number % 3],
        }

    @cached_property
    def spec(self) -> Json:
        """That of its pods, as its author wrote it."""
        lots = random.Random(self.name)
        (cpu, memory), image = lots.choice(SIZES), lots.randrange(400)
        secret = {"secretKeyRef": {"key": "url", "name": self.name}}
        env = [
            {
                "name": "POD_NAME",
                "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
            },
            {"name": "REGION", "value": "europe"},
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "DB_URL", "valueFrom": secret},
        ]
        container = {
            "env": env,
            "image": _image(image),
            "livenessProbe": _probe("/healthz"),
            "name": "main",
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "readinessProbe": _probe("/ready"),
            "resources": {"limits": {"memory": memory}, "requests": {"cpu": cpu, "memory": memory}},
            "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
            "volumeMounts": [{"mountPath": "/etc/config", "name": "config"}],
        }
        volume = {"configMap": {"defaultMode": 420, "name": self.name}, "name": "config"}
        return {
            "containers": [container],
            "serviceAccountName": self.name,
            "volumes": [volume],
            **self._wishes(),
        }

    def _wishes(self) -> Json:
        """Affinity, spreading and tolerations, which most applications have none of."""
        kind = self.number % 100
        near, zone = (
            {"labelSelector": self.selector, "topologyKey": "kubernetes.io/hostname"},
            "topology.kubernetes.io/zone",
        )
        required, preferred = (
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution",
        )
        spread = {
            "labelSelector": self.selector,
            "maxSkew": 1,
            "topologyKey": zone,
            "whenUnsatisfiable": "ScheduleAnyway",
        }
        if kind < 5:
            return {"affinity": {"podAntiAffinity": {preferred: [{"podAffinityTerm": near, "weight": 100}]}}}
        if kind < 7:
            return {"affinity": {"podAntiAffinity": {required: [near]}}}
        if kind < 8:
            return {"affinity": {"podAffinity": {required: [{**near, "topologyKey": zone}]}}}
        if kind < 10:
            pools = {"key": "cloud.example.com/nodepool", "operator": "In", "values": WANTED_POOLS}
            return {
                "affinity": {
                    "nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [pools]}]}}
                }
            }
        if kind < 25:
            return {"topologySpreadConstraints": [spread]}
        if kind < 30:
            hard = {**spread, "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}
            return {"topologySpreadConstraints": [hard, {**spread, "topologyKey": "kubernetes.io/hostname"}]}
        return {"tolerations": [SPOT_TOLERATION]} if self.is_of_spot else {}

    def pod(self) -> Json:
        """The template of its pods."""
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": self.owner, "uid": self._uid}
        checksum = hashlib.sha256(self.name.encode()).hexdigest()
        annotations = {
            "checksum/config": checksum,
            "prometheus.io/port": "8080",
            "prometheus.io/scrape": "true",
        }
        metadata = {
            "annotations": annotations,
            "creationTimestamp": TIME,
            "generateName": f"{self.owner}-",
            "labels": self.labels,
            "name": f"{self.owner}-{LETTERS}",
            "namespace": self.namespace,
            "ownerReferences": [{**reference, "blockOwnerDeletion": True, "controller": True}],
            "resourceVersion": NUMBER,
            "uid": UID,
        }
        spec = self.spec if self.waits else {**self.spec, "nodeName": NODE}
        made = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": spec,
            "status": {} if self.waits else self._running(),
        }
        return admitted(made, LETTERS, managed=False)

    def _running(self) -> Json:
        status = {
            "name": "main",
            "ready": True,
            "restartCount": 0,
            "started": True,
            "state": {"running": {"startedAt": TIME}},
        }
        images = {
            "image": self.spec["containers"][0]["image"],
            "imageID": f"registry.example.com/x@sha256:{self._uid * 2}",
        }
        container = {"containerID": f"containerd://{UID}{UID}", **images, "lastState": {}, **status}
        address = f"10.2.{HIGH}.{LOW}"
        addresses = {"hostIP": "10.1.1.2", "podIP": address, "podIPs": [{"ip": address}]}
        return {"containerStatuses": [container], **addresses, "startTime": TIME}

    @property
    def _uid(self) -> str:
        return hashlib.sha256(self.owner.encode()).hexdigest()[:32]

    def workload(self, replicas: int) -> Iterator[Json]:
        """Its ReplicaSet and Service."""
        metadata = {"labels": self.labels, "name": self.owner, "namespace": self.namespace, "uid": self._uid}
        selector = {"matchLabels": {**self.selector["matchLabels"], "pod-template-hash": self.hashed}}
        spec = {
            "replicas": replicas,
            "selector": selector,
            "template": {"metadata": {"labels": self.labels}, "spec": self.spec},
        }
        yield {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": metadata,
            "spec": spec,
            "status": {"replicas": replicas},
        }
        if self.number % 2 == 0:
            ports = [{"port": 80, "targetPort": 8080}]
            service = {
                "clusterIP": "10.9.0.1",
                "ports": ports,
                "selector": self.selector["matchLabels"],
                "type": "ClusterIP",
            }
            metadata = {"name": self.name, "namespace": self.namespace}
            yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service}


def _probe(path: str) -> Json:
    times = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
    return {"httpGet": {"path": path, "port": 8080, "scheme": "HTTP"}, **times}


# --- the dump -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, slots=False)
class RealDump:
    """The size of a dump."""

    nodes: int = 1000
    waiting: int = 10_000
    templates: int = 200
    """Of the pods that wait, which take turns."""
    packed: bool = False
    """Without kubectl's spaces."""

    def write(self, path: Path) -> None:
        """Write it to *path*."""
        between, ends = (",", ("", "")) if self.packed else (",\n", ("\n", "\n    "))
        with path.open("w", buffering=1 << 22, encoding="utf-8") as file:
            file.write(
                f'{{"apiVersion": "v1", "kind": "List", "metadata": {{"resourceVersion": ""}}, "items": [{ends[0]}'
            )
            for number, text in enumerate(self._texts()):
                file.write(between + text if number else text)
            file.write(f"{ends[1]}]}}\n")

    @cached_property
    def pools(self) -> Sequence[Pool]:
        """Of each node."""
        return random.Random(7).choices(POOLS, [pool.share for pool in POOLS], k=self.nodes)

    def node_name(self, number: int) -> str:
        """That of a node."""
        return f"prod-{self.pools[number].name}-{letters(number * 7919)}"

    @property
    def last_pod(self) -> str:
        """The key of the last pod that waits."""
        app = App((self.waiting - 1) % self.templates, waits=True)
        return f"{app.namespace}/{app.owner}-{_pod_letters(self.waiting - 1)}"

    def _texts(self) -> Iterator[str]:
        """The objects."""
        apps = [App(number, waits=False) for number in range(max(200, self.nodes // 10 * PODS_A_NODE // 10))]
        waiting = [App(number, waits=True) for number in range(self.templates)]
        yield from self._node_texts()
        for group, pods in ((apps, self.nodes * PODS_A_NODE), (waiting, self.waiting)):
            for app in group:
                yield from map(self._text, app.workload(pods // len(group)))
        yield from self._pod_texts(apps, self.nodes * PODS_A_NODE, self._hosts())
        yield from self._pod_texts(waiting, self.waiting, None)

    def _node_texts(self) -> Iterator[str]:
        zoned = {(pool, zone): self._text(node(pool, zone)) for pool in POOLS for zone in ZONES}
        for number, pool in enumerate(self.pools):
            yield _filled(zoned[pool, ZONES[number % len(ZONES)]], number, {NAME: self.node_name(number)})

    def _pod_texts(
        self, apps: Sequence[App], count: int, hosts: Iterator[tuple[str, str]] | None
    ) -> Iterator[str]:
        texts = [self._text(app.pod()) for app in apps]
        for number in range(count):
            app = apps[number % len(apps)]
            words = {LETTERS: _pod_letters(number)}
            if hosts is not None:
                plain, spot = next(hosts)
                words[NODE] = spot if app.is_of_spot else plain
            yield _filled(texts[number % len(apps)], number + 10**8 * (1 + app.waits), words)

    def _hosts(self) -> Iterator[tuple[str, str]]:
        """For one bound pod after the other: a node without taints, and one of spot, both drawn by their cores."""
        lots = random.Random(11)
        numbers = range(self.nodes)
        plain = [number for number in numbers if self.pools[number] not in TAINTS]
        spot = [number for number in numbers if self.pools[number] is SPOT] or plain
        sums = [list(accumulate(self.pools[number].cores for number in among)) for among in (plain, spot)]
        while True:
            one, other = (
                lots.choices(among, cum_weights=cores)[0]
                for among, cores in zip((plain, spot), sums, strict=True)
            )
            yield self.node_name(one), self.node_name(other)

    def _text(self, item: Json) -> str:
        if self.packed:
            return json.dumps(item, separators=(",", ":"))
        return " " * 8 + json.dumps(item, indent=4, sort_keys=True).replace("\n", "\n" + " " * 8)


def _pod_letters(number: int) -> str:
    return letters(number * 104_729)


def _filled(text: str, number: int, words: dict[str, str]) -> str:
    """The text of a template with what its object *number* has of its own."""
    uid = f"{number:08x}-0000-4000-8000-{number * 2654435761 % 2**48:012x}"
    own = {
        **words,
        UID: uid,
        NUMBER: str(10**7 + number),
        HIGH: str(number >> 8 & 255),
        LOW: str(number & 255),
    }
    for mark, value in own.items():
        text = text.replace(mark, value)
    return text


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--nodes", default=RealDump().nodes, show_default=True)
@click.option("--waiting", default=RealDump().waiting, show_default=True, help="Pods that wait.")
@click.option("--templates", default=RealDump().templates, show_default=True, help="Of the pods that wait.")
@click.option("--packed", is_flag=True, help="Without kubectl's spaces.")
def main(path: Path, **size: Any) -> None:
    """Write a dump to PATH."""
    RealDump(**size).write(path)


if __name__ == "__main__":
    main()
