"""Small clusters that show facts of 1.22 to 1.36, one a fact."""

from __future__ import annotations

from collections.abc import Mapping

from tests.framework.facts.forms import (
    REQUIRED,
    UNREADABLE,
    ZONE,
    Json,
    apart,
    case,
    claim,
    csi_node,
    disabled,
    enabled,
    event,
    leaning,
    named,
    near,
    node,
    peers,
    pod,
    profile,
    spread,
    storage_class,
    volume,
)

BETA_ZONE, DRIVER, RBD = "failure-domain.beta.kubernetes.io/zone", "csi.example.com", "kubernetes.io/rbd"
LOCAL = (storage_class("local"), storage_class("made", DRIVER))
SOLE = "ReadWriteOncePod"
WEB = {"app": "web"}
RESTART = "RestartAllContainersOnContainerExits"
RATIO: Json = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
BALANCE = profile(score=enabled("NodeResourcesBalancedAllocation", only=True))
PROXY: Json = {"name": "proxy", "restartPolicy": "Always"}


def _driven(name: str) -> Json:
    """The volume of a claim, which a CSI driver attaches."""
    return volume(f"v-{name}", claim_name=name, csi={"driver": DRIVER, "volumeHandle": name})


def _attributes(**config: Json) -> Json:
    """A claim that wants the class of attributes that volume *plain* does not have."""
    wanting = claim("data", volumeAttributesClassName="gold")
    return case(
        [*LOCAL, wanting, volume("plain", on="a"), volume("gold", on="b", volumeAttributesClassName="gold"), node("a"), node("b")],
        pod("web", claims=["data"]),
        **config,
    )


def _extended(reply: Json, **more: str) -> Json:
    head = {"extenders": [{"urlPrefix": "http://one.test", "filterVerb": "filter", "nodeCacheCapable": True}]}
    return {"profile": profile(more.pop("version", "v1"), head=head), "extenders": {"http://one.test": {"filter": {"default": reply}}}}


def _tainted(item: Json, effect: str = "PreferNoSchedule", value: str = "v") -> Json:
    return {**item, "spec": {"taints": [{"key": "k", "value": value, "effect": effect}]}}


def _declaring(item: Json, feature: str) -> Json:
    return {**item, "status": {**item["status"], "declaredFeatures": [feature]}}


def _with_image(item: Json, name: str) -> Json:
    return {**item, "status": {**item["status"], "images": [{"names": [name], "sizeBytes": 900 << 20}]}}


def _restarting() -> Json:
    """A pod all of whose containers are restarted when one exits."""
    return pod("web", containers=[{"name": "main", "restartPolicyRules": [{"action": "RestartAllContainers"}]}])


def _resized() -> tuple[list[Json], Json]:
    """A pod that has more as a whole than it asks for, and one for which there is no room then."""
    there = pod("there", "n", resources={"requests": {"cpu": "1"}}, status={"resources": {"requests": {"cpu": "3"}}})
    return [node("n"), there], pod("web", cpu="2")


def _driverless() -> Json:
    """A pod with a volume of a CSI driver that its node does not have."""
    driver = {"kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": {}}
    cluster = [*LOCAL, driver, node("n"), claim("a", volume="v-a"), _driven("a")]
    return case(cluster, pod("web", claims=["a"]), gates={"VolumeLimitScaling": True})


def _batch() -> Json:
    """Two equal pods of which each fills a node, where nothing spreads them."""
    nodes = [node(name, cpu="1") for name in "abc"]
    return case(nodes, pod("one", cpu="1"), pod("two", cpu="1"), profile=profile(multiPoint=disabled("PodTopologySpread")))


def _leaving(item: Json) -> Json:
    return {**item, "metadata": {**item["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def _two_profiles(name: str, **points: Json) -> Json:
    found = profile()
    return {**found, "profiles": [*found["profiles"], {"schedulerName": name, "plugins": points}]}


NEWER_CLUSTERS: Mapping[str, Json] = {
    "sidecars-on-nodes-scored": case(
        [
            node("a"),
            node("b"),
            pod("plain", "b", cpu="1"),
            pod("proxied", "a", cpu="1", initContainers=[{**PROXY, "resources": {"requests": {"cpu": "1"}}}]),
        ],
        pod("web", cpu="1"),
    ),
    "portworx-moves": case(
        [
            *LOCAL,
            node("n"),
            csi_node("n", ("pxd.portworx.com", 1), moved="kubernetes.io/portworx-volume"),
            *(claim(name, volume=f"v-{name}") for name in "ab"),
            *(volume(f"v-{name}", claim_name=name, portworxVolume={"volumeID": name}) for name in "ab"),
        ],
        pod("web", claims=["a", "b"]),
    ),
    # --- 1.22 to 1.26 -----------------------------------------------------------------------------------------------
    "preemption-needs-victims": case(
        [node("n"), pod("low", "n", priority=0)], pod("high", priority=9), **_extended({"drop": {"n": "not this one"}}, version="v1beta2")
    ),
    "zero-scalars-asked": case(
        [node("n", cpu="1"), pod("more", "n", cpu="2")],
        pod("web", initContainers=[{"name": "init", "resources": {"requests": {"example.com/gpu": "0"}}}]),
    ),
    "policies-of-1.22": case(
        [
            node("a"),
            node("b"),
            pod("prefers", "a", affinity=leaning(peers(app="web"))),
            pod("requires", "b", affinity=near(peers(app="web"))),
        ],
        pod("web", labels=WEB),
        hardPodAffinitySymmetricWeight=100,
    ),
    "texts-of-1.22": case([node("n"), pod("there", "n", labels=WEB)], pod("web", affinity=apart(peers(app="web")))),
    "weights-of-v1beta3": case([node("a"), {**node("b"), "spec": {"taints": [{"key": "old", "effect": "PreferNoSchedule"}]}}], pod("web")),
    "lost-claims-reject": case(
        [*LOCAL, claim("data", volume="v", phase="Lost"), volume("v", claim_name="data"), node("n")], pod("web", claims=["data"])
    ),
    "cinder-moves": case(
        [
            *LOCAL,
            node("n"),
            csi_node("n", ("cinder.csi.openstack.org", 1)),
            *(claim(name, volume=f"v-{name}") for name in "ab"),
            *(volume(f"v-{name}", claim_name=name, cinder={"volumeID": name}) for name in "ab"),
        ],
        pod("web", claims=["a", "b"]),
        gates={"CSIMigrationOpenStack": False},
    ),
    "nominated-keeps-start": case(
        [node(f"n{number}") for number in range(100, 201)],
        pod("first"),
        pod("waiting"),
        pod("last"),
        nominated={"default/waiting": "n100"},
        percentageOfNodesToScore=50,
    ),
    "trials-leave-users": case(
        [
            *LOCAL,
            claim("sole", volume="v", mode=SOLE),
            volume("v", claim_name="sole", accessModes=[SOLE]),
            node("n", cpu="1"),
            node("m"),
            pod("low", "n", claims=["sole"], cpu="1", priority=0),
        ],
        pod("high", cpu="9", priority=9),
        pod("web", claims=["sole"]),
        gates={"ReadWriteOncePod": True},
    ),
    "storage-always-counts": case(
        [node("n", ephemeral_storage="1Gi")],
        pod("web", requests={"ephemeral-storage": "2Gi"}),
        gates={"LocalStorageCapacityIsolation": False},
    ),
    "percentage-of-a-profile": case(
        [node("n")],
        pod("web"),
        profile={**profile(), "profiles": [{"schedulerName": "default-scheduler", "percentageOfNodesToScore": 50}]},
    ),
    "confirmed-pods-move": case(
        [node("n", cpu="2")],
        pod("one", cpu="1", priority=0),
        pod("two", cpu="1", priority=0),
        event("add", pod("one", "n", cpu="1", priority=0)),
        pod("high", cpu="1", priority=9),
    ),
    # --- 1.27 -------------------------------------------------------------------------------------------------------
    "amounts-added-exactly": case(
        [node("n", cpu="1m")], pod("web", containers=[{"name": name, "resources": {"requests": {"cpu": "0.5m"}}} for name in "ab"])
    ),
    "resources-as-a-list": case(
        [node("a", cpu="2", memory="8Gi"), node("b", cpu="4", memory="1Gi")],
        pod("web", cpu="1", requests={"memory": "512Mi"}),
        profile=profile(
            args={
                "NodeResourcesFit": {
                    "scoringStrategy": {
                        "type": "LeastAllocated",
                        "resources": [
                            {"name": "cpu", "weight": 1},
                            {"name": "memory", "weight": 1},
                            {"name": "cpu", "weight": 1},
                        ],
                    }
                }
            }
        ),
    ),
    "one-contradiction-passes": case([node("a"), node("b")], pod("web", affinity=named(["a", "b"], ["a"]))),
    "unknown-names-pass": case([node("a")], pod("web", affinity=named(["a"], ["gone"]))),
    "sole-users-are-preempted": case(
        [
            *LOCAL,
            claim("sole", volume="v", mode=SOLE),
            volume("v", claim_name="sole", accessModes=[SOLE]),
            node("n"),
            pod("low", "n", claims=["sole"], priority=0),
        ],
        pod("high", claims=["sole"], priority=9),
    ),
    "zones-before-nodes": case(
        [
            claim("there", volume="v"),
            volume("v", claim_name="there", labels={ZONE: "x"}),
            claim("gone", volume="missing"),
            node("n", labels={ZONE: "y"}),
        ],
        pod("web", claims=["there", "gone"]),
        profile=profile(filter=disabled("VolumeBinding"), preFilter=disabled("VolumeBinding", "VolumeZone")),
    ),
    "default-points-of-1.27": case(
        [*LOCAL, claim("data", volume="missing"), node("n", labels={ZONE: "x"})],
        pod("web", claims=["data"]),
        profile=profile("v1beta2", filter=disabled("VolumeBinding"), preFilter=disabled("VolumeBinding")),
    ),
    # --- 1.28 to 1.30 -----------------------------------------------------------------------------------------------
    "index-of-all-nodes": case([node(name) for name in "abc"], pod("first", affinity=named(["a"])), pod("second")),
    "no-v1beta2": case([node("n")], pod("web"), profile=profile("v1beta2")),
    "operators-listed": case(
        [node("n")],
        pod("web"),
        profile=profile(
            args={
                "NodeAffinity": {
                    "addedAffinity": {
                        REQUIRED: {"nodeSelectorTerms": [UNREADABLE]},
                    }
                }
            }
        ),
    ),
    "no-v1beta3": case([node("n")], pod("web"), profile=profile("v1beta3")),
    "newer-zone-label-of-volumes": case(
        [*LOCAL, claim("data", volume="v"), volume("v", claim_name="data", labels={BETA_ZONE: "x"}), node("n", labels={ZONE: "x"})],
        pod("web", claims=["data"]),
    ),
    "one-node-is-enough": case([node("a"), node("b")], pod("web"), profile=profile(multiPoint={}, score=enabled(only=True))),
    "missing-claim-is-no-error": case(
        [node("n"), csi_node("n", (DRIVER, 1))],
        pod("web", claims=["missing"]),
        profile=profile(
            multiPoint=disabled("VolumeBinding", "VolumeRestrictions", "VolumeZone", "EBSLimits", "GCEPDLimits", "AzureDiskLimits")
        ),
    ),
    "constraint-errors-named": case([node("n")], pod("web", topologySpreadConstraints=[spread(selector=UNREADABLE)])),
    "gates-plugin-always": case([node("n")], pod("web"), profile=_two_profiles("other", queueSort=enabled(only=True))),
    # --- 1.31 to 1.34 -----------------------------------------------------------------------------------------------
    "cloud-disk-limits-moved": case(
        [node("n", attachable_volumes_aws_ebs="1")],
        pod("web", volumes=[{"name": name, "awsElasticBlockStore": {"volumeID": name}} for name in "ab"]),
    ),
    "rbd-stays-in-tree": case(
        [
            *LOCAL,
            storage_class("rbd", RBD),
            node("n"),
            csi_node("n", ("rbd.csi.ceph.com", 1), moved=RBD),
            claim("a", "rbd"),
            claim("b", "rbd"),
        ],
        pod("web", claims=["a", "b"]),
        gates={"CSIMigrationRBD": True},
    ),
    "attributes-classes-match": _attributes(gates={"VolumeAttributesClass": True}),
    "waits-for-preempted": case(
        [node("n", cpu="1"), _leaving(pod("low", "n", cpu="1", priority=0))],
        pod("high", cpu="1", priority=9),
        nominated={"default/high": "n"},
        gates={"PodDisruptionConditions": False},
    ),
    "limits-by-csinode": case(
        [
            *LOCAL,
            node("n", **{"attachable_volumes_csi_csi.example.com": "1"}),
            *(claim(name, volume=f"v-{name}") for name in "ab"),
            *map(_driven, "ab"),
        ],
        pod("web", claims=["a", "b"]),
    ),
    "extender-reasons-alone": case(
        [node("n", cpu="1"), node("m")], pod("web", cpu="2"), **_extended({"drop": {"m": "too cold"}, "alsoFailed": {"n": "too hot"}})
    ),
    "fit-scores-containers": case(
        [node("a"), node("b")], pod("web", cpu="1", resources={"requests": {"cpu": "3"}}), gates={"PodLevelResources": True}
    ),
    "huge-pages-of-pods": case(
        [node("n", hugepages_2Mi="2Mi")],
        pod("web", cpu="1", resources={"requests": {"hugepages-2Mi": "4Mi"}}),
        gates={"PodLevelResources": True},
    ),
    "constraints-count-apart": case(
        [node("a"), node("b"), pod("one", "a", labels=WEB), pod("other", "b", labels={"app": "shop"})],
        pod("web", labels={**WEB}, topologySpreadConstraints=[spread(app="web"), spread(app="shop", skew=2)]),
    ),
    "storage-capacity-scored": case(
        [
            *LOCAL,
            claim("data"),
            volume("small", on="a", capacity={"storage": "1Gi"}),
            volume("big", on="b", capacity={"storage": "9Gi"}),
            node("a"),
            node("b"),
        ],
        pod("web", claims=["data"]),
        gates={"StorageCapacityScoring": True, "VolumeCapacityPriority": True},
    ),
    "cloud-disk-plugins-gone": case([node("n")], pod("web"), profile=profile(multiPoint=enabled("EBSLimits"))),
    "faults-as-json": case([node("n")], pod("web"), profile=_two_profiles("default-scheduler")),
    "attributes-classes-by-default": _attributes(),
    # --- 1.35 -------------------------------------------------------------------------------------------------------
    "ties-by-heap": case([_tainted(node("a")), _tainted(node("b")), node("c"), node("d")], pod("web")),
    "taints-unnamed": case([_tainted(node("n"), "NoSchedule")], pod("web")),
    "features-declared": case([node("a"), _declaring(node("b"), RESTART)], _restarting(), gates={"NodeDeclaredFeatures": True}),
    "devices-score": case([node("a"), node("b")], pod("web")),
    "tolerations-compare": case(
        [_tainted(node("n"), "NoSchedule", "950")],
        pod("web", tolerations=[{"key": "k", "operator": "Gt", "value": "900", "effect": "NoSchedule"}]),
        gates={"TaintTolerationComparisonOperators": True},
    ),
    "resize-of-whole-pods": case(*_resized(), gates={"InPlacePodLevelResourcesVerticalScaling": True, "NodeDeclaredFeatures": True}),
    "no-post-filter-no-nomination": case(
        [node("n", cpu="1")],
        pod("high", cpu="1", priority=9, requests={"example.com/gpu": "1"}),
        pod("low", cpu="1", priority=0),
        nominated={"default/high": "n"},
        profile=profile(postFilter={"disabled": [{"name": "*"}]}),
    ),
    "missing-drivers": _driverless(),
    "gates-need-gates": case([node("n")], pod("web"), gates={"MatchLabelKeysInPodTopologySpread": False}),
    "batches": _batch(),
    # --- 1.36 -------------------------------------------------------------------------------------------------------
    "features-by-default": case([node("a"), _declaring(node("b"), RESTART)], _restarting()),
    "features-of-host-users": case(
        [node("a"), _declaring(node("b"), "UserNamespacesHostNetworkSupport")], pod("web", hostNetwork=True, hostUsers=False)
    ),
    "features-unnamed": case([node("n")], _restarting()),
    "balance-by-change": case(
        [node("a"), node("b"), pod("there", "a", cpu="2")], pod("web", cpu="1", requests={"memory": "3Gi"}), profile=BALANCE
    ),
    "image-volumes-count": case(
        [node("a"), _with_image(node("b"), "models:1")], pod("web", volumes=[{"name": "models", "image": {"reference": "models:1"}}])
    ),
    "resize-of-whole-pods-by-default": case(*_resized()),
    "migration-always-on": case(
        [node("n"), csi_node("n", ("pxd.portworx.com", 1))],
        pod("web", volumes=[{"name": name, "portworxVolume": {"volumeID": name}} for name in "ab"]),
    ),
    "missing-drivers-opt-in": _driverless(),
    "shapes-of-ratios-alone": case(
        [node("n")],
        pod("web"),
        profile=profile(args={"NodeResourcesFit": {"scoringStrategy": {"type": "LeastAllocated", "requestedToCapacityRatio": RATIO}}}),
    ),
    "extended-resources-batch": _batch(),
}
"""Fact -> a cluster."""
