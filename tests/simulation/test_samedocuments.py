"""Python's functions and the commands: one document, and ``ok`` says what the exit status says."""

import json
import shutil

import pytest
import yaml

import kubeclassic
from tests.conftest import ROOT
from tests.support.manifests import dumped, manifest
from tests.support.program import ran

HEAD = ("apiVersion", "kind")
LINE = ("time", "event")
NODE = manifest("Node", "a", apiVersion="v1", status={"allocatable": {"cpu": "1", "pods": "9"}})
CASES = ROOT / "tests" / "conformance" / "1.14"


def pods(count):
    """A node with room for one of *count* pods, and the pods."""
    spec = yaml.safe_load("{containers: [{name: c, resources: {requests: {cpu: '1'}}}]}")
    made = [manifest("Pod", f"p{at}", apiVersion="v1", spec=spec) for at in range(count)]
    return [NODE, *made]


def check(result, arguments, without=HEAD):
    """Compare *result* with what the command prints, or with its last line; answers whether it is well."""
    text = ran(*arguments, status=0 if result.ok else 1).out
    printed = json.loads(text.splitlines()[-1] if without is LINE else text)
    assert result.record() == {name: value for name, value in printed.items() if name not in without}
    return result.ok


@pytest.mark.parametrize("is_right", [True, False])
def test_conform(is_right, tmp_path):
    """Cases that are identical, and answers of other cases."""
    answers = "roundrobin" if is_right else "percentage"
    shutil.copy(CASES / "roundrobin.cases.jsonl.gz", tmp_path)
    shutil.copy(CASES / f"{answers}.answers.jsonl.gz", tmp_path / "roundrobin.answers.jsonl.gz")
    assert check(kubeclassic.conform(tmp_path), ["conform", str(tmp_path), "-o", "json"]) is is_right


@pytest.mark.parametrize("count", [1, 2])
def test_replay(count, tmp_path):
    """Pods that all get a node, and one that waits in the end: the result is the last line."""
    path = tmp_path / "cluster.json"
    path.write_text(dumped(pods(count)))
    assert check(kubeclassic.replay(path), ["replay", str(path)], LINE) is (count == 1)


@pytest.mark.parametrize("policy", [None, "unknown.json"])
def test_sweep(policy, tmp_path):
    """Runs that succeed, and one that has an error."""
    (tmp_path / "cluster.json").write_text(dumped(pods(2)))
    (tmp_path / "unknown.json").write_text(
        json.dumps(yaml.safe_load("{kind: Policy, apiVersion: v1, predicates: [{name: Unknown}]}"))
    )
    runs = [{"name": "as it is"}, {"name": "other", **({"policy": policy} if policy else {})}]
    path = tmp_path / "sweep.json"
    path.write_text(
        json.dumps({"cluster": "cluster.json", "runs": runs, "grid": {"release": ["1.12", "1.16"]}})
    )
    assert check(kubeclassic.sweep(path), ["sweep", str(path), "-o", "json", "--jobs", "1"]) is (
        policy is None
    )


@pytest.mark.parametrize("is_checked", [False, True])
def test_migrate(is_checked):
    """The document is the profile; the check of it is not in it, but in the exit status. Its head is of
    Kubernetes, so it stays."""
    policy = ROOT / "examples" / "policies" / "kubernetes-classic.json"
    cluster = ROOT / "examples" / "cluster"
    more = ["--check", str(cluster)] if is_checked else []
    found = kubeclassic.migrate(policy, "1.16", check=cluster if is_checked else None)
    arguments = ["policy", "migrate", str(policy), "--release", "1.16", "-o", "json", *more]
    assert check(found, arguments, ()) is not is_checked


PROFILE = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": name} for name in ("first", "second")],
}


@pytest.mark.parametrize("start, end, has_profiles", [("1.14", "1.15", False), ("1.35", "1.36", True)])
def test_the_first_release_says_what_is_pending(start, end, has_profiles, tmp_path):
    """Comparisons and upgrades try the pods of all profiles of the first release, as its API server admits
    them: 1.14 admits an overhead that the RuntimeClass does not have."""
    cluster, profile = tmp_path / "cluster.json", tmp_path / "profile.json"
    made = [manifest("RuntimeClass", "runc", apiVersion="node.k8s.io/v1", handler="runc"), *pods(5)]
    names = ("first", "second", "third", "default-scheduler", "default-scheduler")
    for pod, name in zip(made[2:], names, strict=True):
        pod["spec"] = {**pod["spec"], "schedulerName": name}
    made[-1]["spec"] |= {"runtimeClassName": "runc", "overhead": {"cpu": "1"}}
    cluster.write_text(dumped(made))
    profile.write_text(json.dumps(PROFILE))
    given = {"profile": str(profile)} if has_profiles else {}
    kind = kubeclassic.Framework if has_profiles else kubeclassic.Classic
    result = kubeclassic.compare(cluster, kind(release=start, **given), kind(release=end, **given))
    more = [f"profile={profile}"] if has_profiles else []
    sides = [" ".join([f"release={release}", *more]) for release in (start, end)]
    check(result, ["compare", str(cluster), "--a", sides[0], "--b", sides[1], "-o", "json"])
    assert len(result.document.configurations[1].hosts) == 2
    result = kubeclassic.upgrade(cluster, start, end, **given)
    more = ["--profile", str(profile)] if has_profiles else []
    check(result, ["upgrade", str(cluster), "--from", start, "--to", end, *more, "-o", "json"])
    assert result.document.pods == 2


def test_what_is_missing_is_told_of_every_form(tmp_path):
    """Manifests, objects and a Cluster of them lack what a file of the same lacks, and warn of it in the same
    words, once."""
    owner = yaml.safe_load("{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: '1', controller: true}")
    pod = {**pods(1)[1], "metadata": {"name": "p", "ownerReferences": [owner]}}
    pod["spec"] = {**pod["spec"], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "lost"}}]}
    manifests = [
        {**NODE, "metadata": {"name": "a", "uid": "2", "creationTimestamp": "2024-01-01T00:00:00Z"}},
        pod,
    ]
    path = tmp_path / "cluster.json"
    path.write_text(dumped(manifests))
    read = kubeclassic.Cluster.load(path)
    whats = [
        [notice.what for group in kubeclassic.simulate(form).warnings for notice in group.notices]
        for form in (path, manifests, read.objects, read, kubeclassic.Cluster(manifests))
    ]
    assert len(whats[0]) >= 2
    assert all(sorted(found) == sorted(whats[0]) for found in whats)
