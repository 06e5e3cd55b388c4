"""What a release answers on the small clusters that were made by hand for its facts, and what it answers without the fact."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.framework.facts.facttable import BY_ID
from tests.framework.facts.newerclusters import NEWER_CLUSTERS
from tests.framework.facts.olderclusters import OLDER_CLUSTERS
from tests.support.factshows import Json, answers

CLUSTERS = {**OLDER_CLUSTERS, **NEWER_CLUSTERS}
ANSWERS: dict[str, tuple[str, Any, Any]] = {
    "zones-without-gate": ("host", None, "n"),
    "binding-without-gate": ("host", "a", "b"),
    "no-stale-volumes": ("host", None, "n"),
    "block-mode-rejected": ("host", "n", None),
    "preemption-without-gate": ("preemption", None, ["n", "default/low"]),
    "bad-affinity-is-no-error": ("host", None, "b"),
    "selectors-merged": ("host", "b", "a"),
    "label-rules-run": ("host", "a", "b"),
    "bound-volumes-translated": ("host", "b", "a"),
    "first-reason-alone": ("failed", {"n": ["Insufficient cpu", "node(s) didn't match node selector"]}, {"n": ["Insufficient cpu"]}),
    "scores-to-100": ("host", "a", "b"),
    "gone-nodes-with-pods": ("host", None, "b"),
    "newer-zone-labels-order": ("feasible", ["a", "b", "c"], ["a", "c", "b"]),
    "spread-constraints-by-default": ("failed", {}, {"a": ["node(s) didn't match pod topology spread constraints"]}),
    "preferences-in-64-bits": ("host", None, "a"),
    "terms-one-by-one": ("preemption", ["n", "default/low", "default/web"], ["n", "default/low"]),
    "profiles-come": ("error", None, "total score of Score plugins could overflow"),
    "first-peer-by-list": ("host", "a", "b"),
    "trials-read-the-namespace": ("host", "n", None),
    "nominated-company": ("host", "n", None),
    "no-preemption-under-policies": ("preemption", ["n", "default/low"], None),
    "volumes-assumed-by-plugin": ("failed", {}, {"n": ["pod has unbound immediate PersistentVolumeClaims"]}),
    "literal-service-labels": ("failed", {}, {"b": ["node(s) didn't match service affinity"]}),
    "one-node-is-not-scored": ("host", None, "n"),
    "trials-keep-the-namespace": ("host", None, "n"),
    "never-without-gate": ("preemption", ["n", "default/low"], [None]),
    "system-constraints-come": ("PodTopologySpread", {"a": 100, "b": 100}, {"a": 75, "b": 100}),
    "bad-affinity-rejects": ("host", "n", None),
    "missing-claims-reject": ("failed", {}, {"n": ['persistentvolumeclaim "missing" not found']}),
    "namespaces-selected": ("host", None, "b"),
    "volume-zones-added": ("host", "a", "b"),
    "preemption-needs-victims": ("preemption", ["n"], [None]),
    "zero-scalars-asked": ("host", "n", None),
    "policies-of-1.22": ("host", "b", "a"),
    "texts-of-1.22": (
        "failed",
        {"n": ["node(s) didn't match pod affinity/anti-affinity rules", "node(s) didn't match pod anti-affinity rules"]},
        {"n": ["node(s) didn't match pod anti-affinity rules"]},
    ),
    "weights-of-v1beta3": ("scores", {"a": 497, "b": 397}, {"a": 697, "b": 397}),
    "lost-claims-reject": ("host", "n", None),
    "cinder-moves": ("host", "n", None),
    "nominated-keeps-start": ("host", "n101", "n200"),
    "trials-leave-users": ("host", "m", None),
    "storage-always-counts": ("host", "n", None),
    "percentage-of-a-profile": ("error", 'unknown field "profiles[0].percentageOfNodesToScore"', None),
    "confirmed-pods-move": ("preemption", ["n", "default/two"], ["n", "default/one"]),
    "amounts-added-exactly": ("host", None, "n"),
    "resources-as-a-list": ("host", "a", "b"),
    "one-contradiction-passes": ("host", None, "a"),
    "unknown-names-pass": ("host", None, "a"),
    "zones-before-nodes": ("failed", {"n": ["node(s) had no available volume zone"]}, {"n": ['persistentvolume "missing" not found']}),
    "sole-users-are-preempted": ("host", "n", None),
    "default-points-of-1.27": ("error", 'available: 1 persistentvolume "missing"', 'available: persistentvolume "missing"'),
    "index-of-all-nodes": ("feasible", ["a", "b", "c"], ["b", "c", "a"]),
    "operators-listed": ("error", 'Unsupported value: "Like"', '"Like": supported values: "In", "NotIn"'),
    "no-v1beta2": ("error", None, 'registered for version "kubescheduler.config.k8s.io/v1beta2" in scheme'),
    "newer-zone-label-of-volumes": ("host", None, "n"),
    "no-v1beta3": ("error", None, 'registered for version "kubescheduler.config.k8s.io/v1beta3" in scheme'),
    "one-node-is-enough": ("feasible", ["a", "b"], ["a"]),
    "missing-claim-is-no-error": ("failed", {}, {"n": ['looking up PVC default/missing: persistentvolumeclaim "missing" not found']}),
    "constraint-errors-named": ("error", 'Spread": obtaining pod', 'Spread": get constraints from pod: obtaining pod'),
    "gates-plugin-always": ("error", "has to match for all profiles", "queueSort must be the same for all profiles"),
    "cloud-disk-limits-moved": ("host", None, "n"),
    "rbd-stays-in-tree": ("host", None, "n"),
    "attributes-classes-match": ("host", "a", "b"),
    "waits-for-preempted": ("preemption", [None], ["n", "default/low"]),
    "portworx-moves": ("host", "n", None),
    "disrupted-pods-are-exempt": ("preemption", ["b", "default/b"], ["a", "default/a"]),
    "sidecars-on-nodes-scored": ("NodeResourcesFit", {"a": 72, "b": 72}, {"a": 58, "b": 72}),
    "limits-by-csinode": ("host", None, "n"),
    "extender-reasons-alone": ("failed", {"n": ["Insufficient cpu", "too hot"], "m": ["too cold"]}, {"n": ["too hot"], "m": ["too cold"]}),
    "cloud-disk-plugins-gone": ("error", None, 'PreFilterPlugin "EBSLimits" does not exist'),
    "huge-pages-of-pods": ("host", "n", None),
    "fit-scores-containers": ("NodeResourcesFit", {"a": 61, "b": 61}, {"a": 86, "b": 86}),
    "constraints-count-apart": ("host", "a", "b"),
    "storage-capacity-scored": ("host", "a", "b"),
    "faults-as-json": ("error", "schedulerName: Duplicate value: profiles[0].schedulerName", "schedulerName: Duplicate value: {}"),
    "attributes-classes-by-default": ("host", None, "b"),
    "ties-by-heap": ("host", "c", "d"),
    "taints-unnamed": ("failed", {"n": ["node(s) had untolerated taint {k: v}"]}, {"n": ["node(s) had untolerated taint(s)"]}),
    "features-declared": ("host", "a", "b"),
    "devices-score": ("DynamicResources", None, {"a": 0, "b": 0}),
    "tolerations-compare": ("host", None, "n"),
    "resize-of-whole-pods": ("host", "n", None),
    "no-post-filter-no-nomination": ("host", None, "n"),
    "missing-drivers": ("failed", {}, {"n": ["csi.example.com CSI driver is not installed on the node"]}),
    "gates-need-gates": ("error", None, "is enabled, but depends on features that are disabled: [MatchLabelKeysInPodTopologySpread]"),
    "batches": ("feasible", ["b", "c"], ["c"]),
    "features-by-default": ("host", "a", "b"),
    "features-of-host-users": ("host", "a", "b"),
    "features-unnamed": (
        "failed",
        {"n": ["node declared features check failed - unsatisfied requirements: RestartAllContainersOnContainerExits"]},
        {"n": ["node(s) didn't match Pod's required features"]},
    ),
    "balance-by-change": ("host", "b", "a"),
    "image-volumes-count": ("ImageLocality", {"a": 0, "b": 0}, {"a": 0, "b": 43}),
    "resize-of-whole-pods-by-default": ("host", "n", None),
    "migration-always-on": ("host", "n", None),
    "missing-drivers-opt-in": ("host", None, "n"),
    "shapes-of-ratios-alone": ("error", None, "must be nil when type is not RequestedToCapacityRatio"),
    "extended-resources-batch": ("feasible", ["b", "c"], ["c"]),
}
"""Fact -> a field of the first cycle in which the answers differ, without the fact and with it; of an error some words; of preemption
the node and its victims; a plugin stands for its scores."""


def seen(answer: Json, cycle: int, field: str) -> Any:
    """What *answer* has in *field* of one cycle."""
    found = answer["cycles"][cycle] if "cycles" in answer else {"host": None, **answer}
    if field == "preemption":
        plan = found[field]
        return plan and [plan["node"], *plan["victims"]]
    return found[field] if field in found else found.get("priorities", {}).get(field)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answers_of_both(name: str) -> None:
    """The release answers as it should with the fact, and as the release before without it."""
    field, *wanted = ANSWERS[name]
    both = answers(CLUSTERS[name], BY_ID[name])[::-1]
    cycles = [found.get("cycles", []) for found in both]
    first = next((i for i, (one, other) in enumerate(zip(*cycles, strict=False)) if one != other), 0)
    for found, want in zip(both, wanted, strict=True):
        value = seen(found, first, field)
        assert (want in value) if field == "error" and want else value == want
