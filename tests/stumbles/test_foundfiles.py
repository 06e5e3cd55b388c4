"""Policies and configurations as public repositories have them: what each release says of them, and what runs or is left out."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.program import ran

UNREAD = "apiVersion: not read by this release"
GATE = "TaintNodesByCondition=false"
ANSWERS = {
    "simulate cluster.yaml k1-groups/rancher-node-other-name.yaml": {
        "1.12-1.34 0": "placed on 2 nodes|1 of kind Node (management.cattle.io)",
    },
    "simulate cluster.yaml k1-groups/longhorn-node-same-name.yaml": {
        "1.12-1.34 0": "placed on 2 nodes|1 of kind Node (longhorn.io)",
    },
    "simulate cluster.yaml k1-groups/volcano-job.yaml": {
        "1.12-1.34 0": "1 of 1 pod placed|1 of kind Job (batch.volcano.sh)",
    },
    "policy check k2-policy-strict/unknown-key.json": {
        "1.12-1.16 0": "LeastRequestedPriority 1|priorities[0].order of the Policy does not count",
        "1.17-1.22 1": "found unknown field: order",
    },
    "policy check k2-policy-strict/given-twice.json": {
        "1.12-1.16 0": "2 HostName Policy 3 PodToleratesNodeTaints|predicates of the Policy is given twice",
        "1.17-1.22 1": 'key "predicates" already set in map',
    },
    "policy check k2-policy-strict/no-kind.json": {
        "1.12-1.16 0": "2 GeneralPredicates DefaultProvider|LeastRequestedPriority 1|reads an empty one",
        "1.17-1.22 1": "strict decoder error: predicates: found unknown field: predicates",
    },
    "simulate cluster.yaml k2-policy-strict/picky-pod.json --policy k2-policy-strict/no-kind.json": {
        "1.12-1.16 1": "2 node(s) didn't match node selector",
        "1.17-1.22 2": "found unknown field: predicates",
    },
    "policy check k2-policy-strict/extender-api-version.json": {
        "1.12-1.22 0": "http://127.0.0.1:3456/scheduler|extenders[0].apiVersion of the Policy does not count",
    },
    "policy check k3-policy-yaml/policy.yaml": {
        "1.12-1.14 1": "invalid policy: couldn't get version/kind; json parse error",
        "1.15-1.16 0": "2 PodFitsResources Policy|MostRequestedPriority 1",
        "1.17-1.22 0": "2 NodeResourcesFit Policy: PodFitsResources|NodeResourcesMostAllocated 1",
    },
    "policy check k4-configmap/configuration.yaml": {
        "1.17-1.24 1": UNREAD,
        "1.25-1.34 0": "pods of second-scheduler",
    },
    "simulate cluster.yaml --profile k4-configmap/configuration.yaml": {
        "1.25-1.34 0": "ignored: 1 for another scheduler",
    },
    "simulate cluster.yaml --policy k4-configmap/two-configmaps.yaml": {
        "1.12-1.22 0": "1 of 1 pod placed",
    },
    "policy check k4-configmap/two-configmaps.yaml": {
        "1.12-1.16 0": "MostRequestedPriority 1",
        "1.17-1.18 0": "NodeResourcesMostAllocated 1",
        "1.19-1.22 0": "NodeResourcesMostAllocated 1|does not read the configuration, of v1alpha1",
    },
    "policy check k4-configmap/with-another-object.yaml": {
        "1.25-1.34 0": "pods of default-scheduler",
    },
    "policy check k5-alpha-config/typo.yaml": {
        "1.12-1.16 0": "hardPodAffinitySymmetricWieght of the configuration does not count",
        "1.17-1.18 0": "hardPodAffinitySymmetricWieght: unknown field, ignored",
        "1.19-1.34 1": UNREAD,
    },
    "simulate cluster.yaml --config k5-alpha-config/typo.yaml -o json": {
        "1.12-1.18 0": "hardPodAffinitySymmetricWieght",
    },
    "policy check k5-alpha-config/plugins.yaml": {
        "1.12-1.14 0": "plugins of the configuration does not count|pluginConfig of the configuration",
        "1.15-1.15 1": "reserve plugin MyReserve does not exist",
        "1.16-1.16 1": 'reserve plugin "MyReserve" does not exist',
        "1.17-1.18 1": 'ReservePlugin "MyReserve" does not exist',
    },
    "policy check k7-plugins/coscheduling.yaml": {
        "1.25-1.34 1": "Coscheduling",
    },
    "policy check k7-plugins/coscheduling.yaml --plugins leave-out": {
        "1.25-1.34 0": "1 plugin of the configuration is left out",
    },
    "simulate cluster.yaml k8-template/deployment.yaml": {
        "1.12-1.34 2": "got a template ({{ ... }}): render it first",
    },
    "policy check k9-old-policy/conditions.json": {
        "1.12-1.16 1": f"type not found for CheckNodeCondition|{GATE} registers it",
        "1.17-1.22 1": "CheckNodeCondition",
    },
    f"policy check k9-old-policy/conditions.json --feature-gates {GATE}": {
        "1.12-1.16 0": "CheckNodeCondition Policy|CheckNodeDiskPressure Policy",
    },
    "policy migrate k9-old-policy/conditions.json --to 1.27": {
        "1.12-1.16 2": f"{GATE} registers it",
    },
    "policy check k9-old-policy/even-spread.json": {
        "1.12-1.15 1": "Predicate type not found for EvenPodsSpread",
        "1.16-1.17 1": "EvenPodsSpread=true registers it",
        "1.18-1.22 0": "PodTopologySpread Policy: EvenPodsSpread",
    },
    "policy migrate k9-old-policy/even-spread.json --to 1.23": {
        "1.16-1.17 2": "EvenPodsSpread=true registers it",
    },
}
"""What is asked -> releases and exit status -> what is said, and of rules which run."""


@pytest.mark.parametrize("asked", ANSWERS)
def test_what_each_release_says(asked: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is taken, refused or ignored as the release does it, in words."""
    monkeypatch.chdir(shared / "found/files")
    for when, says in ANSWERS[asked].items():
        first, last, status = when.replace("-", " ").split()
        for release in (name for name in ALL_RELEASES if first <= name <= last):
            told = " ".join(" ".join(ran(*asked.split(), "--release", release, status=int(status))).split())
            assert all(words in told for words in says.split("|")), (release, told)


def test_traces(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace of SimKube has a pod for each bare Pod, and for each run of a CronJob."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(shared / "found/files/k6-simkube/make.py"))
    for trace, pods in (("bare-pod", "1 pod"), ("cronjob", "2 pods")):
        assert f"0 nodes, {pods}" in ran("import", "simkube", f"{trace}.sktrace").err
