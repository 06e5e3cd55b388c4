"""Small clusters for drains, and the replay of a plan through a scheduler that knows nothing of drains."""

import random

import attrs
from msgspec.structs import replace

from kubeclassic import Cluster, Scheduler
from kubeclassic.api.objects import Pod, PodDisruptionBudget
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.questions.drain.ask import drain
from tests.support.build import manifest, node, obj, owned_by, pod
from tests.support.keywords import keywords_of

ZONE = "failure-domain.beta.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
APPS = ("web", "web", "web", "db", "job", "bare", "agent")
OWNERS = {"web": "ReplicaSet", "db": "StatefulSet", "job": "Job", "agent": "DaemonSet"}
RELEASES = tuple(ALL_RELEASES)
FLAGS = {"ignore_daemonsets": True, "delete_emptydir_data": True, "force": True}


def budget(name, app, allowed):
    """A budget for the pods of *app*."""
    wanted = {"matchLabels": {"app": app}}
    return obj(
        manifest(
            "PodDisruptionBudget",
            name,
            namespace="default",
            spec={"selector": wanted},
            status={"disruptionsAllowed": allowed},
        )
    )


def owned(name, app="web", on="", cpu="1", **more):
    """A pod of *app*, whose owner has the kind in :data:`OWNERS`; other apps have no owner."""
    kind = OWNERS.get(app)
    owner = owned_by(kind, app, f"uid-of-{app}", apiVersion="apps/v1") if kind else {}
    metadata = owner | {"uid": f"uid-{name}"} | more.pop("metadata", {})
    return pod(name, on=on, cpu=cpu, app=app, metadata=metadata, **more)


def with_devices():
    """The objects of a cluster with a device on each of nodes a and b, and a pod on a with a claim from a
    template."""
    slices = [
        manifest(
            "ResourceSlice",
            f"of-{name}",
            apiVersion="resource.k8s.io/v1",
            spec={
                "driver": "gpu",
                "nodeName": name,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "d"}],
            },
        )
        for name in "ab"
    ]
    spec = {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu"}}]}}
    allocated = {"devices": {"results": [{"request": "g", "driver": "gpu", "pool": "a", "device": "d"}]}}
    status = {
        "allocation": allocated,
        "reservedFor": [{"resource": "pods", "name": "infer", "uid": "uid-infer"}],
    }
    made = [
        manifest("DeviceClass", "gpu", apiVersion="resource.k8s.io/v1", spec={}),
        manifest(
            "ResourceClaimTemplate",
            "t",
            namespace="default",
            apiVersion="resource.k8s.io/v1",
            spec={"spec": spec},
        ),
        manifest(
            "ResourceClaim",
            "infer-gpu",
            namespace="default",
            metadata={"uid": "c", **owned_by("Pod", "infer", "uid-infer")},
            apiVersion="resource.k8s.io/v1",
            spec=spec,
            status=status,
        ),
    ]
    statuses = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "infer-gpu"}]}
    asks = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    return [*map(obj, (*slices, *made)), owned("infer", on="a", status=statuses, resourceClaims=asks)]


# --- random clusters ----------------------------------------------------------------------------------------

AFFINITIES = (
    {},
    {},
    {},
    {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": HOSTNAME}
            ]
        }
    },
    {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
            ]
        }
    },
    {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 10,
                    "podAffinityTerm": {
                        "labelSelector": {"matchLabels": {"app": "web"}},
                        "topologyKey": ZONE,
                    },
                }
            ]
        }
    },
)
TOLERATIONS = ([], [], [], [], [{"operator": "Exists"}])


def cluster_of(seed, *, nodes=5):
    """A random cluster: nodes in two zones, pods of all kinds of owners on them, some pending pods, and
    budgets."""
    rng = random.Random(seed)
    found = []
    for number in range(nodes):
        labels = {ZONE: rng.choice(["z1", "z2"]), HOSTNAME: f"n{number}"}
        found.append(
            node(
                f"n{number}",
                labels=labels,
                cpu=rng.choice(["3", "4", "6"]),
                pods=rng.choice(["110", "110", "5"]),
            )
        )
    for number in range(rng.randrange(5, 18)):
        found.append(_pod_by_lot(rng, number, nodes))
    for app in rng.sample(APPS[2:6], rng.randrange(3)):
        found.append(budget(f"pdb-{app}", app, rng.choice([0, 1, 1, 2])))
    return found


def _pod_by_lot(rng, number, nodes):
    app = rng.choice(APPS)
    more = {"priority": rng.choice([0, 0, 10, 20]), "tolerations": rng.choice(TOLERATIONS)}
    more["affinity"] = rng.choice(AFFINITIES)
    if rng.random() < 0.15:
        more["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    if rng.random() < 0.1:
        more["metadata"] = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    on = "" if rng.random() < 0.15 and app != "agent" else f"n{rng.randrange(nodes)}"
    return owned(f"{app}-{number}", app, on, rng.choice(["500m", "1", "2"]), **more)


def settled(objects, release, **options):
    """The cluster after its pending pods were scheduled, without evictions, and without those that fit
    nowhere."""
    cluster = Cluster(objects, defaults=False)
    hosts = {
        found.pod.key: found.host
        for found in Scheduler(cluster, options_of({"release": release, **options})).run()
    }
    placed = [
        item.bound_to(host) if isinstance(item, Pod) and (host := hosts.get(item.key)) else item
        for item in objects
    ]
    return [item for item in placed if not isinstance(item, Pod) or item.spec.node_name]


# --- a replay -----------------------------------------------------------------------------------------------


@attrs.define
class Replay:
    """A replay of a plan's steps on a cluster, with its own scheduler; a step that does not hold fails an
    assertion."""

    cluster: Cluster
    scheduler: Scheduler
    left: dict
    """Budget -> the disruptions that it allows now."""
    asks_budgets: bool = True

    @classmethod
    def of(cls, objects, release, **options):
        """The replay at the beginning."""
        cluster = Cluster(objects, defaults=False)
        left = {
            item.key: item.disruptions_allowed for item in objects if isinstance(item, PodDisruptionBudget)
        }
        return cls(cluster, Scheduler(cluster, options_of({"release": release, **options})), left)

    def cordon(self, name):
        """Cordon a node as kubectl and the node controller do."""
        found = self.cluster.find(f"node/{name}")
        taint = obj(
            {
                "kind": "Node",
                "spec": {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]},
            }
        ).spec.taints
        spec = replace(found.spec, unschedulable=True, taints=(*found.spec.taints, *taint))
        self.cluster.update(replace(found, spec=spec))

    def of_budget(self, gone):
        """The budgets that select a pod."""
        budgets = [
            found
            for name in self.left
            if isinstance(found := self.cluster.find(f"pdb/{name}"), PodDisruptionBudget)
        ]
        return [
            item.key
            for item in budgets
            if item.selector is not None and item.selector.match_labels.get("app") == gone.labels["app"]
        ]

    def leave(self, key, *, by_drain):
        """Delete a pod; a drain may not take more from a budget than it allows."""
        gone = self.cluster.find(f"pod/{key}")
        assert isinstance(gone, Pod)
        for name in self.of_budget(gone):
            assert not (by_drain and self.asks_budgets) or self.left[name] > 0, f"{key} against {name}"
            self.left[name] -= 1
        self.cluster.delete(gone)
        return gone

    def come(self, made):
        """Schedule a new pod; on a node it becomes ready, and its budgets allow one more disruption."""
        decision = self.scheduler.schedule(made)
        if decision.host is not None:
            self.cluster.add(decision.pod.bound_to(decision.host))
            for name in self.of_budget(made):
                self.left[name] += 1
        return decision


def rounds_of(evictions):
    """The evictions round by round, those of the drain with the preemptions that follow from them."""
    for number in dict.fromkeys(found["round"] for found in evictions):
        yield [found for found in evictions if found["round"] == number]


def renewed(gone, key):
    """The pod that an owner creates in place of *gone*."""
    meta = replace(
        gone.metadata, name=key.partition("/")[2], uid=f"new-{key}-{gone.uid}", creation_timestamp=None
    )
    return replace(
        gone, metadata=meta, spec=replace(gone.spec, node_name=""), status=obj({"kind": "Pod"}).status
    )


def replayed(objects, release, record, *, asks_budgets=True):
    """The cluster after the plan *record*: each host is the scheduler's own choice, and no budget is
    overdrawn."""
    replay = Replay.of(objects, release)
    replay.asks_budgets = asks_budgets
    for name in record["can"]:
        replay.cordon(name)
    for evictions in rounds_of(record["evictions"]):
        _replay_round(replay, evictions)
    return replay.cluster


def _replay_round(replay, evictions):
    wave = [found for found in evictions if found["by"] is None]
    preempted = {found["pod"]: found for found in evictions if found["by"] is not None}
    gone = [(found, replay.leave(found["pod"], by_drain=True)) for found in wave]
    while gone:
        made = [
            (found, renewed(old, found["replacement"]))
            for found, old in gone
            if found["replacement"] is not None
        ]
        made.sort(key=lambda entry: -entry[1].priority)
        victims = []
        while made:
            again = []
            for found, new in made:
                decision = replay.come(new)
                if decision.host is None:
                    assert decision.preemption is not None, decision.error
                    assert decision.preemption.node is not None, decision.error
                    again.append((found, new))
                    victims += [
                        (preempted[one.key], replay.leave(one.key, by_drain=False))
                        for one in decision.preemption.victims
                    ]
                else:
                    assert decision.host == found["to"]
            made = again
        gone = victims


def asked(objects, names, release, **more):
    """The record of a drain of nodes *names*."""
    return drain(objects, names, **keywords_of({"release": release, **more}), defaults=False).record()
