"""Small clusters that show facts of 1.13 to 1.21, one a fact."""

from __future__ import annotations

from collections.abc import Mapping

from tests.framework.facts.forms import (
    FULL,
    PREFERRED,
    UNREADABLE,
    ZONE,
    Json,
    apart,
    case,
    claim,
    csi_node,
    event,
    leaning,
    near,
    node,
    peers,
    pod,
    policy,
    service,
    spread,
    storage_class,
    volume,
)

LABELS = policy({"name": "ByService", "argument": {"serviceAffinity": {"labels": ["region"]}}})
"""Pods of a service go where the value of label region is the same."""
LOCAL = (storage_class("local"), storage_class("made", "csi.example.com"))
BETA_ZONE, NOT_A_LABEL = "failure-domain.beta.kubernetes.io/zone", "no label!"
SERVICE = service("web", app="web")
WEB = {"app": "web"}


def _extender(name: str, **more: bool) -> Json:
    return {"urlPrefix": f"http://{name}.test", "filterVerb": "filter", "nodeCacheCapable": True, **more}


def _in_other_namespace() -> Json:
    """A nominated pod of another namespace refuses pods of its own namespace with label app=web."""
    refusing = pod("first", ns="other", priority=9, affinity=apart(peers(app="web")))
    return case([node("n")], pod("web", labels=WEB), refusing, nominated={"other/first": "n"})


def _stale_choice() -> Json:
    """Both pods preempt on their first try; on its second, *web* needs v1 no longer, which *late* could have."""
    there = [
        *LOCAL,
        claim("mine"),
        claim("more", "made"),
        claim("late"),
        volume("v1"),
        node("n"),
        pod("low1", "n", labels={"low": "1"}, priority=0),
        pod("low2", "n", labels={"low": "2"}, priority=0),
    ]
    web = pod("web", claims=["mine", "more"], priority=9, affinity=apart(peers(low="1")))
    late = pod("late", claims=["late"], priority=8, affinity=apart(peers(low="2")))
    return case(there, web, late, event("add", volume("v9", claim_name="mine")), event("update", claim("mine", volume="v9")))


MOVED = case(
    [
        *LOCAL,
        claim("data", volume="v"),
        volume("v", claim_name="data", on="b", labels={BETA_ZONE: "x"}, gcePersistentDisk={"pdName": "v"}),
        *(node(name, labels={"topology.gke.io/zone": "x"}) for name in "ab"),
        *(csi_node(name, moved="kubernetes.io/gce-pd") for name in "ab"),
    ],
    pod("web", claims=["data"]),
    gates={"CSIMigration": True, "CSIMigrationGCE": True},
)
"""A disk whose driver has moved to CSI, with a zone label and another node affinity."""


OLDER_CLUSTERS: Mapping[str, Json] = {
    # --- 1.13 to 1.16 -----------------------------------------------------------------------------------------------
    "zones-without-gate": case(
        [*LOCAL, claim("data"), node("n", labels={BETA_ZONE: "z"})],
        pod("web", claims=["data"]),
        policy=policy("NoVolumeZoneConflict"),
        gates={"VolumeScheduling": False},
    ),
    "binding-without-gate": case(
        [*LOCAL, claim("data"), volume("v", on="b"), node("a"), node("b")], pod("web", claims=["data"]), gates={"VolumeScheduling": False}
    ),
    "no-stale-volumes": _stale_choice(),
    "block-mode-rejected": case(
        [*LOCAL, claim("data", volumeMode="Block"), volume("v", volumeMode="Block"), node("n")],
        pod("web", claims=["data"]),
        gates={"BlockVolume": False},
    ),
    "ignorable-extenders-last": case(
        [node("a"), node("b")],
        pod("web"),
        extenders={},
        policy=policy("PodFitsResources", extenders=[_extender("spare", ignorable=True), _extender("main")]),
    ),
    "preemption-without-gate": case(FULL, pod("high", cpu="1", priority=9), gates={"PodPriority": False}),
    # --- 1.17 -------------------------------------------------------------------------------------------------------
    "bad-affinity-is-no-error": case(
        [node("a"), node("b"), pod("there", "a")],
        pod("web", affinity=leaning({"topologyKey": "zone", "labelSelector": UNREADABLE})),
    ),
    "selectors-merged": case(
        [SERVICE, service("team", team=NOT_A_LABEL), node("a"), node("b"), pod("there", "a", labels=WEB)],
        pod("web", labels={**WEB, "team": NOT_A_LABEL}),
        policy=policy("PodFitsResources", priorities=["SelectorSpreadPriority"]),
    ),
    "label-rules-run": case(
        [node("a"), node("b", labels={"disk": "ssd"})],
        pod("web"),
        policy=policy({"name": "WithDisk", "argument": {"labelsPresence": {"labels": ["disk"], "presence": True}}}),
    ),
    "bound-volumes-translated": MOVED,
    "first-reason-alone": case([node("n", cpu="1")], pod("web", cpu="2", nodeSelector={"disk": "ssd"})),
    "scores-to-100": case([node("a", cpu="4"), node("b", cpu="4200m")], pod("web", cpu="1")),
    "newer-zone-labels-order": case(
        [node("a", labels={ZONE: "x"}), node("b", labels={ZONE: "x"}), node("c", labels={ZONE: "y"})], pod("web")
    ),
    "gone-nodes-with-pods": case(
        [node("a", labels={"zone": "z"}), node("b", labels={"zone": "z"}), pod("there", "a", labels=WEB)],
        pod("any"),
        event("delete", node("a")),
        pod("web", affinity=apart(peers(key="zone", app="web"))),
    ),
    # --- 1.18 -------------------------------------------------------------------------------------------------------
    "spread-constraints-by-default": case(
        [node("a"), node("b"), pod("there", "a", labels=WEB)], pod("web", labels=WEB, topologySpreadConstraints=[spread(app="web")])
    ),
    "profiles-come": case(
        [node("n")],
        pod("web"),
        policy=policy(
            "PodFitsResources",
            priorities=[{"name": name, "weight": 2**63 // 150} for name in ("LeastRequestedPriority", "ImageLocalityPriority")],
        ),
    ),
    "preferences-in-64-bits": case(
        [node("a", labels={"disk": "ssd"}), node("b", labels={"disk": "hdd"})],
        pod(
            "web",
            affinity={
                "nodeAffinity": {
                    PREFERRED: [
                        {"weight": 2**31 - 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}},
                        {"weight": 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}},
                    ]
                }
            },
        ),
    ),
    "terms-one-by-one": case(
        [node("n", cpu="1", labels={"zone": "z"}), pod("low", "n", cpu="1", priority=0), pod("web", "n", labels=WEB, priority=0)],
        pod("high", cpu="1", priority=9, affinity=apart(peers(key="zone", app="shop"), peers(key="rack", app="web"))),
    ),
    "first-peer-by-list": case(
        [
            SERVICE,
            node("b", labels={"region": "east"}),
            node("a", labels={"region": "west"}),
            *(pod(f"on-{at}", at, labels=WEB) for at in "ba"),
        ],
        pod("web", labels=WEB),
        policy=LABELS,
    ),
    "trials-read-the-namespace": _in_other_namespace(),
    # --- 1.19 -------------------------------------------------------------------------------------------------------
    "trials-keep-the-namespace": _in_other_namespace(),
    "disrupted-pods-are-exempt": case(
        [
            node("a", cpu="1"),
            node("b", cpu="1"),
            pod("a", "a", labels=WEB, cpu="1", priority=0),
            pod("b", "b", cpu="1", priority=1),
            {
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "budget", "namespace": "default"},
                "spec": {"selector": {"matchLabels": WEB}},
                "status": {"disruptionsAllowed": 0, "disruptedPods": {"a": "2026-01-01T00:00:00Z"}},
            },
        ],
        pod("web", cpu="1", priority=9),
    ),
    "nominated-company": case(
        [node("n")], pod("web", affinity=apart(peers(app="web"))), pod("first", labels=WEB, priority=9), nominated={"default/first": "n"}
    ),
    "literal-service-labels": case(
        [SERVICE, node("a", labels={"region": NOT_A_LABEL}), node("b", labels={"region": "west"}), pod("on-a", "a", labels=WEB)],
        pod("web", labels=WEB),
        policy=LABELS,
    ),
    "one-node-is-not-scored": case([node("n")], pod("web", topologySpreadConstraints=[spread(soft=True, selector=UNREADABLE)])),
    "never-without-gate": case(
        FULL,
        pod("high", cpu="1", priority=9, preemptionPolicy="Never"),
        gates={"NonPreemptingPriority": False},
    ),
    "volumes-assumed-by-plugin": case([storage_class("now", waits=False), claim("data", "now"), node("n")], pod("web", claims=["data"])),
    "no-preemption-under-policies": case(FULL, pod("high", cpu="1", priority=9), policy=policy("PodFitsResources")),
    "system-constraints-come": case(
        [SERVICE, node("a", labels={ZONE: "x"}), node("b", labels={ZONE: "y"}), pod("there", "a", labels=WEB)],
        pod("web", labels=WEB),
        gates={"DefaultPodTopologySpread": True},
    ),
    # --- 1.20, 1.21 -------------------------------------------------------------------------------------------------
    "bad-affinity-rejects": case([node("n")], pod("web", affinity=near({"topologyKey": "zone", "labelSelector": UNREADABLE}))),
    "missing-claims-reject": case([node("n")], pod("web", claims=["missing"])),
    "namespaces-selected": case(
        [
            {"kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "a"}}},
            node("a"),
            node("b"),
            pod("there", "b", ns="other", labels=WEB),
        ],
        pod("web", affinity=near({**peers(app="web"), "namespaceSelector": {"matchLabels": {"team": "a"}}})),
        gates={"PodAffinityNamespaceSelector": True},
    ),
    "volume-zones-added": MOVED,
}
"""Fact -> a cluster."""
