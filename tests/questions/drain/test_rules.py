"""The treatment of pods as by kubectl drain: pods that leave, stay, or block the drain; rounds, budgets,
preemption."""

import pytest
import yaml

from kubeclassic import Cluster, drain
from kubeclassic.questions.drain.plan import DrainMove
from kubeclassic.simulation.simulate import UNPLACED
from tests.support import manifests, volumebuild
from tests.support.build import manifest, node, obj, owned_by, pod
from tests.support.drainbuild import OWNERS, RELEASES, budget, owned
from tests.support.keywords import keywords_of

SCRATCH = yaml.safe_load("{volumes: [{name: scratch, emptyDir: {}}]}")
MIRROR = {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}}
KUBELETS = {"metadata": owned_by("Node", "a")}
LEAVING = {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}
EVERYWHERE = {"tolerations": [{"operator": "Exists"}]}
ONCE = {"accessModes": ["ReadWriteOnce"]}
STORAGE = {"resources": {"requests": {"storage": "1Gi"}}}
DATA = yaml.safe_load("{volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}")
NAMED = [node(name, labels={"kubernetes.io/hostname": name}) for name in "ab"]
WEB = {"selector": {"matchLabels": {"app": "web"}}}
each_release = pytest.mark.parametrize("release", RELEASES)


def bare_budget(spec, namespace="default", **more):
    """A budget as a manifest has it: with no status but what is in *more*."""
    return obj(manifest("PodDisruptionBudget", "b", namespace=namespace, spec=spec, **more))


def disk(name, on, status="Bound", **spec):
    """A volume on one node."""
    reach = volumebuild.on(**{"kubernetes.io/hostname": on})
    spec = {"capacity": {"storage": "1Gi"}, **ONCE, **reach, **spec}
    return obj(manifest("PersistentVolume", name, spec=spec, status={"phase": status}))


def claim(spec, name="data", **metadata):
    """A claim to a volume."""
    spec = {**ONCE, **STORAGE, **spec}
    return obj(manifest("PersistentVolumeClaim", name, namespace="default", metadata=metadata, spec=spec))


def emptied(*objects, nodes="a", **options):
    """The result of a drain of *nodes*."""
    return drain(Cluster(objects, defaults=False), nodes, **keywords_of(options))


def beside(*pods, cpu="4", **options):
    """The result of a drain of node a beside a node b."""
    return emptied(node("a"), node("b", cpu=cpu), *pods, **options)


# --- Who leaves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("app", ["web", "db", "job"])
def test_pods_of_controllers(app):
    """Pods of controllers leave, and their controller makes others; only a StatefulSet's keep their names."""
    found = beside(owned("p", app, on="a"))
    assert found.moves == (DrainMove("default/p", "a", "b"),)
    assert (found.record()["evictions"][0]["replacement"] == "default/p") == (OWNERS[app] == "StatefulSet")


@pytest.mark.parametrize(
    "one, flag, why",
    [
        (
            owned("p", "agent", on="a"),
            "ignore_daemonsets",
            "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)",
        ),
        (
            owned("p", on="a", **SCRATCH),
            "delete_emptydir_data",
            "Pods with local storage (use --delete-emptydir-data to override)",
        ),
        (owned("p", "bare", on="a"), "force", "Pods that declare no controller (use --force to override)"),
    ],
)
def test_pods_that_need_a_flag(one, flag, why):
    """Without the flag nothing at all is evicted, in kubectl's words."""
    refused = beside(one, owned("q", on="a"))
    assert refused.cannot == {"a": f"cannot delete {why}: default/p"}
    assert refused.moves == ()
    assert beside(one, owned("q", on="a"), **{flag: True}).can == ["a"]


def test_several_refusals():
    """All are told, each with its pods; of many the first five."""
    bare = [owned(f"p{number}", "bare", on="a") for number in range(7)]
    (why,) = beside(*bare, owned("d", "agent", on="a")).cannot.values()
    assert why.startswith(
        "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/d; Pods that declare "
    )
    assert why.endswith("default/p0, default/p1, default/p2, default/p3, default/p4 and 2 more")


@pytest.mark.parametrize(
    "one, why",
    [
        (pod("p", on="a", **MIRROR), "a static pod of its kubelet"),
        (pod("p", on="a", **KUBELETS), "a static pod of its kubelet"),
        (owned("p", "agent", on="a"), "DaemonSet-managed"),
    ],
)
def test_pods_of_the_node_stay(one, why):
    """The image of a static pod is ignored, with the flag a DaemonSet's pod too, and both are listed."""
    found = beside(one, ignore_daemonsets=True)
    assert found.can == ["a"]
    assert found.record()["staying"] == [{"pod": "default/p", "node": "a", "why": why}]


def test_pods_that_are_not_selected_stay():
    """With a selector others are neither evicted nor in the way, whatever they are."""
    found = beside(owned("p", on="a"), owned("q", "bare", on="a", **SCRATCH), pod_selector="app=web")
    assert [move.pod for move in found.moves] == ["default/p"]
    assert [stay["why"] for stay in found.record()["staying"]] == ["not selected by --pod-selector"]


def test_finished_pods_do_not_matter():
    """Finished pods no longer run, so they block nothing."""
    assert beside(owned("p", "bare", on="a", status={"phase": "Succeeded"})).can == ["a"]


def test_forced_pods_are_gone_for_good():
    """Forced pods have no replacement and no new node."""
    found = beside(owned("p", "bare", on="a"), force=True)
    gone = dict.fromkeys(("by", "replacement", "to", "why", "reason"))
    assert found.record()["evictions"] == [{"round": 1, "pod": "default/p", "node": "a", **gone}]


@pytest.mark.parametrize("app, moves", [("web", 0), ("db", 1)])
def test_pods_that_are_being_deleted(app, moves):
    """In place of one that is leaving already only a StatefulSet still makes another; no budget is asked."""
    found = beside(owned("p", app, on="a", **LEAVING), budget("none", app, 0))
    assert found.can == ["a"]
    assert len(found.moves) == moves


def test_pods_of_another_scheduler():
    """Nobody here knows where they would go."""
    found = beside(owned("p", on="a", schedulerName="other"))
    assert found.cannot == {"a": 'the pod in place of default/p asks for another scheduler, "other"'}


# --- Where they go ------------------------------------------------------------------------------------------


@each_release
def test_nowhere(release):
    """A pod that fits on no other node keeps its node from going; nothing moves."""
    found = beside(owned("p", on="a", cpu="3"), owned("q", on="a"), cpu="2", release=release)
    assert found.can == []
    (why,) = found.cannot.values()
    assert "made in place of default/p, finds no other node: 0/2 nodes are available: " in why
    assert (found.moves, found.ok) == ((), False)


@each_release
def test_back_again(release):
    """A pod that tolerates everything comes back to the cordoned node, so it cannot be emptied."""
    found = emptied(
        node("a", cpu="8"), node("b", cpu="1"), owned("p", on="a", cpu="2", **EVERYWHERE), release=release
    )
    (why,) = found.cannot.values()
    assert (
        why
        == "default/web-0, made in place of default/p, comes back to a, as it tolerates that the node is cordoned"
    )


def test_pods_with_disks_of_the_node():
    """A claim whose volume is on the node keeps its pod there."""
    volume = disk("disk", "a", claimRef={"namespace": "default", "name": "data"})
    bound = claim({"volumeName": "disk"}, annotations=volumebuild.BOUND)
    (why,) = emptied(*NAMED, volume, bound, owned("p", "db", on="a", **DATA)).cannot.values()
    assert "default/p finds no other node: " in why


@each_release
def test_waiting_pods_come_first(release):
    """Pending pods are scheduled before the drain if asked for, so they may take the room; else they are left
    out."""
    first = {"pending_first": True, "release": release}
    found = beside(owned("p", on="a", cpu="3"), owned("w", cpu="4", nodeSelector={"b": "b"}), **first)
    assert found.can == ["a"]
    cluster = (
        node("a"),
        node("b", labels={"b": "b"}),
        owned("p", on="a", cpu="3"),
        owned("w", cpu="2", nodeSelector={"b": "b"}),
    )
    found = emptied(*cluster, **first)
    without = emptied(*cluster, release=release)
    assert (found.can, without.can) == ([], ["a"])
    counts = [
        [one.record()["summary"][name] for name in ("placedBefore", "waiting", "leftOut")]
        for one in (found, without)
    ]
    assert counts == [[1, 0, 0], [0, 0, 1]]


@each_release
def test_claims_of_pods_that_came_first(release):
    """A claim that got its local volume with a waiting pod binds that pod to the node, as on a cluster."""
    kind = obj(
        manifest(
            "StorageClass",
            "local",
            provisioner="kubernetes.io/no-provisioner",
            volumeBindingMode="WaitForFirstConsumer",
        )
    )
    disks = [
        disk(f"disk-{name}", name, "Available", storageClassName="local", volumeMode="Filesystem")
        for name in "ab"
    ]
    wanted = claim({"storageClassName": "local", "volumeMode": "Filesystem"})
    found = emptied(
        *NAMED,
        kind,
        *disks,
        wanted,
        owned("p", "db", **DATA),
        nodes=["a", "b"],
        release=release,
        pending_first=True,
    )
    assert len(found.can) == 1
    (why,) = found.cannot.values()
    assert "default/p finds no other node: " in why


@pytest.mark.parametrize("mode", ["WaitForFirstConsumer", "Immediate"])
@pytest.mark.parametrize("app", ["web", "db"])
def test_ephemeral_volumes(app, mode):
    """The claim of a generic ephemeral volume goes with its pod, and the new pod gets a new one, wherever
    the old disk is."""
    kind = obj(manifest("StorageClass", "disks", provisioner="disk.example.com", volumeBindingMode=mode))
    there = disk(
        "disk",
        "a",
        storageClassName="disks",
        volumeMode="Filesystem",
        claimRef={"namespace": "default", "name": "p-v"},
    )
    spec = {"storageClassName": "disks", **ONCE, **STORAGE}
    one = owned(
        "p", app, on="a", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}]
    )
    made = claim(
        {**spec, "volumeName": "disk"}, "p-v", annotations=volumebuild.BOUND, **owned_by("Pod", "p", "uid-p")
    )
    found = emptied(*NAMED, kind, there, made, one, release="1.27")
    assert found.cannot == {}
    assert found.moves == (DrainMove("default/p", "a", "b"),)
    told = [group for group in map(str, found.warnings) if "reachable from every node" in group]
    assert [f"PersistentVolumeClaim default/p-v: {UNPLACED}"] * (mode == "Immediate") == told
    full = emptied(*NAMED, kind, there, made, one, owned("q", on="b", cpu="4"), release="1.27", nodes="b")
    assert list(full.cannot) == ["b"]


@pytest.mark.parametrize("is_there", [True, False])
def test_ephemeral_volumes_made_by_hand(is_there):
    """Where nothing provisions, a new pod's claim needs a volume that is free."""
    provisioner = "kubernetes.io/no-provisioner"
    kind = obj(manifest("StorageClass", "disks", provisioner=provisioner, volumeBindingMode="Immediate"))
    free = disk("free", "b", storageClassName="disks", volumeMode="Filesystem")
    template = {"volumeClaimTemplate": {"spec": {"storageClassName": "disks", **ONCE, **STORAGE}}}
    one = owned("p", on="a", volumes=[{"name": "v", "ephemeral": template}])
    found = emptied(*NAMED, kind, *([free] if is_there else []), one, release="1.27")
    assert ["a" in found.can, "a" in found.cannot] == [is_there, not is_there]


@each_release
def test_who_is_preempted_moves_on(release):
    """A pod of higher rank that takes another's place is fine where that one's owner finds room for a new
    one."""
    high = owned("high", "db", on="a", cpu="3", priority=10)
    low = owned("low", on="b", cpu="2", priority=0)
    found = emptied(node("a"), node("b"), node("c", cpu="2"), high, low, release=release)
    assert found.can == ["a"]
    first, second = found.record()["evictions"]
    assert (first["pod"], first["to"], first["by"]) == ("default/high", "b", None)
    assert (second["pod"], second["node"], second["to"], second["by"]) == (
        "default/low",
        "b",
        "c",
        "default/high",
    )


@each_release
def test_nobody_is_pushed_out(release):
    """Where the preempted pod finds no other node, or nobody makes it again, the node cannot go."""
    high = owned("high", "db", on="a", cpu="3", priority=10)
    pushed = beside(high, owned("low", on="b", cpu="2"), release=release)
    assert "default/web-0, made in place of default/low, finds no other node" in pushed.cannot["a"]
    bare = emptied(
        node("a"),
        node("b"),
        node("c"),
        high,
        owned("low", "bare", on="b", cpu="2"),
        owned("w", on="c"),
        release=release,
    )
    assert bare.can == ["a"] or "which is not made again" in bare.cannot["a"]
    alone = beside(high, owned("low", "bare", on="b", cpu="2"), force=True, release=release)
    assert alone.cannot == {"a": "default/high would preempt default/low on b, which is not made again"}


# --- Budgets ------------------------------------------------------------------------------------------------


def pods(count, app="web"):
    """Pods on node a."""
    return [owned(f"p{number}", app, on="a", cpu="100m") for number in range(count)]


@pytest.mark.parametrize("allowed, sizes", [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (5, [5]), (9, [5])])
def test_rounds(allowed, sizes):
    """In each round as many leave as the budget allows; the new ones get ready, and then it allows as
    many again."""
    found = beside(*pods(5), budget("b", "web", allowed))
    rounds = [one["round"] for one in found.record()["evictions"]]
    assert [rounds.count(number) for number in dict.fromkeys(rounds)] == sizes
    (told,) = found.record()["budgets"]
    assert told == {
        "budget": "default/b",
        "allowed": allowed,
        "evictions": 5,
        "lowest": allowed - sizes[0],
        "left": allowed,
    }


def test_others_need_not_wait():
    """Pods without a budget leave in the first round."""
    found = beside(*pods(2), owned("q", "job", on="a"), budget("b", "web", 1))
    assert [(one["pod"], one["round"]) for one in found.record()["evictions"]] == [
        ("default/p0", 1),
        ("default/q", 1),
        ("default/p1", 2),
    ]


@pytest.mark.parametrize(
    "spec, allowed",
    [
        ("minAvailable: 3", 2),
        ("minAvailable: 50%", 2),
        ("minAvailable: 9", 0),
        ("maxUnavailable: 1", 1),
        ("maxUnavailable: 30%", 2),
        ("maxUnavailable: 100%", 5),
        ("maxUnavailable: 7", 5),
        ("minAvailable: most", 0),
        ("maxUnavailable: most", 0),
        ("maxUnavailable: -1", 0),
        ("maxUnavailable: 0%", 0),
        ("{}", 0),
    ],
)
def test_without_a_status(spec, allowed):
    """A budget that no controller has counted, as in a manifest, allows what its spec says of the pods
    that run."""
    found = beside(*pods(5), bare_budget({**WEB, **yaml.safe_load(spec)}))
    assert bool(found.can) == bool(allowed)
    assert [told["allowed"] for told in found.record()["budgets"]] == ([allowed] if allowed else [])


@pytest.mark.parametrize("spec, allowed", [({"minAvailable": 3}, 2), ({"maxUnavailable": 2}, 1)])
def test_a_pod_that_waits_is_expected(spec, allowed):
    """A pending pod is one of the pods that a budget expects, and is not healthy."""
    found = beside(*pods(5), owned("waits", cpu="64"), bare_budget({**WEB, **spec}), pending_first=True)
    assert [told["allowed"] for told in found.record()["budgets"]] == [allowed]


@pytest.mark.parametrize(
    "phase, ready, health, policy, release, goes",
    [
        ("Running", "False", (1, 1), "", "1.36", True),
        ("Running", "False", (1, 2), "", "1.36", False),
        ("Running", "False", (1, 2), "AlwaysAllow", "1.36", True),
        ("Running", "True", (1, 1), "AlwaysAllow", "1.36", False),
        ("Pending", "False", (1, 2), "", "1.16", True),
        ("Pending", "", (1, 2), "", "1.36", True),
        ("Running", "False", (1, 1), "", "1.20", True),
        ("Running", "False", (1, 1), "", "1.19", False),
    ],
)
def test_pods_that_are_not_ready(phase, ready, health, policy, release, goes):
    """A pod that is not ready may go if those that are suffice, or if the budget says so; one that was never
    started in any case."""
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": ready}] if ready else []}
    counts = dict(zip(("currentHealthy", "desiredHealthy"), health, strict=True))
    spec = {**WEB, "minAvailable": 1, "unhealthyPodEvictionPolicy": policy}
    made = bare_budget(spec, status={"disruptionsAllowed": 0, **counts})
    found = beside(owned("p", on="a", status=status), made, release=release)
    assert (found.can == ["a"]) == goes
    assert not goes or not found.record()["budgets"]


def test_an_edited_budget():
    """What a budget allows follows from its spec after an edit, whatever its status said."""
    made = bare_budget({**WEB, "minAvailable": 5}, status={"disruptionsAllowed": 0, "expectedPods": 5})
    assert not beside(*pods(5), made).can
    (told,) = beside(*pods(5), made, edits=["pdb b minAvailable=3"]).record()["budgets"]
    assert told["allowed"] == 2
    assert not beside(*pods(5), made, edits=["pdb b labels.a=b"]).can


def test_an_edited_budget_among_manifests():
    """All pods count for an edited budget, however the cluster is given."""
    spec = {**WEB, "minAvailable": 2}
    budget = manifest("PodDisruptionBudget", "b", apiVersion="policy/v1", namespace="default", spec=spec)
    owner = owned_by("ReplicaSet")
    given = [*map(manifests.node, "ab"), *(manifests.pod(x, app="web", on="a", metadata=owner) for x in "pq")]
    assert not drain([*given, budget], "a").can
    assert drain([*given, budget], "a", edits=["pdb b minAvailable=1"]).can == ["a"]


OF_JOB = owned_by("Job", "job", "") | {"labels": {"app": "x"}}


def three_at_a_time(spec, failed=0):
    """A Job."""
    return manifest(
        "Job",
        "job",
        namespace="default",
        apiVersion="batch/v1",
        spec={"parallelism": 3, "template": {"spec": {"containers": [{"name": "c"}]}}, **spec},
        status={"failed": failed},
    )


SPARED, FAILED = (
    {"rules": [{"action": action, "onPodConditions": [{"type": "DisruptionTarget"}]}]}
    for action in ("Ignore", "FailJob")
)
OTHERS = {
    "rules": [
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [3]}},
        {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget"}]},
    ]
}


@pytest.mark.parametrize(
    "spec, failed, release, replaced",
    [
        ({"backoffLimit": 0}, 0, "1.36", 0),
        ({"backoffLimit": 0}, 0, "1.24", 3),
        ({"backoffLimit": 2}, 0, "1.36", 0),
        ({"backoffLimit": 3}, 0, "1.36", 3),
        ({"backoffLimit": 2}, 1, "1.36", 0),
        ({"backoffLimit": 0, "podFailurePolicy": SPARED}, 0, "1.36", 3),
        ({"backoffLimit": 0, "podFailurePolicy": OTHERS}, 0, "1.36", 0),
        ({"backoffLimit": 2, "podFailurePolicy": FAILED}, 0, "1.36", 0),
        ({"backoffLimitPerIndex": 0}, 0, "1.36", 3),
        ({}, 5, "1.36", 0),
        ({}, 0, "1.36", 3),
    ],
)
def test_jobs_that_end(spec, failed, release, replaced):
    """A Job counts an evicted pod as failed, and makes none when there are too many of them."""
    there = [manifests.pod(f"p{at}", on="a", metadata=OF_JOB) for at in range(3)]
    job = three_at_a_time(spec, failed)
    found = drain([*map(manifests.node, "ab"), *there, job], "a", scheduler=release)
    assert [bool(one["replacement"]) for one in found.record()["evictions"]].count(True) == replaced


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("limit, can", [(0, True), (1, False)])
def test_a_job_that_ends_leaves_other_nodes_too(gone, limit, can):
    """The other pods of a failed Job are deleted, so that pods that leave find room there."""
    jobs = [manifests.pod(f"p{on}", on=on, cpu="2", metadata=OF_JOB) for on in "ab"]
    web = manifests.pod("web", on="a", cpu="2", metadata=owned_by())
    nodes = [manifests.node(name, cpu="4" if name == "a" else "2") for name in "ab"]
    found = drain(
        [*nodes, *jobs, web, three_at_a_time({"backoffLimit": limit, "parallelism": 2})], "a", gone=gone
    )
    assert ([move.to for move in found.moves] == ["b"]) == can


def test_none_allowed():
    """A budget that allows none keeps the node from going, for ever."""
    found = beside(*pods(2), budget("b", "web", 0))
    assert found.cannot == {
        "a": "PodDisruptionBudget default/b allows no disruption: default/p0 and default/p1"
    }
    assert beside(*pods(2), budget("b", "web", 0), disable_eviction=True).can == ["a"]


def test_pods_that_do_not_come_back_use_it_up():
    """A bare pod is not made again, so its budget allows one less from then on."""
    found = beside(*pods(3, "bare"), budget("b", "bare", 2), force=True)
    assert found.cannot == {
        "a": "PodDisruptionBudget default/b allows 2 at a time, and none any more: pods of it left and are not made again: default/p2"
    }


def test_two_budgets():
    """The eviction API refuses a pod of two budgets."""
    found = beside(*pods(1), budget("b", "web", 3), budget("c", "web", 3))
    assert found.cannot["a"].startswith(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    )


@pytest.mark.parametrize(
    "release, guards", [("1.16", False), ("1.26", False), ("1.27", True), ("1.36", True)]
)
def test_empty_selectors(release, guards):
    """An empty selector selects all pods of the namespace from 1.27 on, also those without labels, and none
    before."""
    leaving = pod("p", on="a", metadata=owned_by())
    assert bool(beside(leaving, bare_budget({"selector": {}}), release=release).can) != guards


@pytest.mark.parametrize(
    "made, goes",
    [
        (bare_budget({**WEB, "maxUnavailable": 3}, status={"disruptionsAllowed": 0}), False),
        (bare_budget(yaml.safe_load("{selector: {matchExpressions: [{key: a, operator: Odd}]}}")), True),
        (bare_budget({"selector": None}), True),
        (bare_budget(WEB, "far"), True),
    ],
    ids=[
        "a status that a controller has counted",
        "a selector that means nothing",
        "no selector",
        "another namespace",
    ],
)
def test_which_count(made, goes):
    """A budget counts with its status where it has one, and for the pods of its namespace that its
    selector means."""
    assert (beside(*pods(5), made).can == ["a"]) == goes
