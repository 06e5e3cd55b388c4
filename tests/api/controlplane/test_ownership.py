"""The workload of each pod, where a dump lacks the objects between them."""

import pytest

from kubeclassic.api.controlplane.ownership import Ownership, read_workload
from kubeclassic.api.meaning import selects_some
from kubeclassic.api.objects import LabelSelector, Map, Requirement
from tests.support.build import manifest, owned_by, pod

HASHED = {"app": "web", "pod-template-hash": "abc"}


def workload(kind, name, uid="", owner="", **spec):
    """A workload; *owner*: the name of the Deployment that controls it."""
    metadata = {"name": name, "uid": uid, **(owned_by("Deployment", owner, "") if owner else {})}
    template = {"metadata": {"labels": {"app": "web"}}}
    return read_workload(
        {
            "kind": kind,
            "metadata": metadata,
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template} | spec,
        }
    )


def owned(name, kind="ReplicaSet", owner="web-abc", labels=HASHED, **more):
    """A pod with a controller."""
    return pod(name, labels=labels, metadata=owned_by(kind, owner, more.pop("uid", "u")) | more)


def owning(pods, *workloads):
    """Ownership among *workloads* that was told of *pods*."""
    made = Ownership(list(workloads), frozenset())
    made.take_in(pods)
    return made


def names(pods):
    """The names of pods."""
    return [found.name for found in pods]


# --- Pods ---------------------------------------------------------------------------------------------------


def test_by_reference():
    """Pods with a reference belong to the workload of that kind and name, with the same UID if both have
    one."""
    mine = workload("ReplicaSet", "web-abc", uid="u")
    other = workload("ReplicaSet", "web-abd", uid="v")
    found = owning([owned("a"), owned("b", uid="w"), owned("c", owner="web-abd", uid="v")], mine, other)
    assert (names(found.pods_of(mine)), names(found.pods_of(other))) == (["a"], ["c"])


def test_by_selector():
    """Pods that nobody controls belong to the first workload that asks and whose selector matches them."""
    first = workload("ReplicaSet", "first")
    second = workload("ReplicaSet", "second")
    found = owning([pod("bare", app="web"), pod("other", app="api")], first, second)
    assert [names(found.pods_of(each)) for each in (first, second, first)] == [["bare"], [], ["bare"]]


def test_who_has_finished_or_leaves_does_not_count():
    """Pods that have finished or are being deleted belong to nobody."""
    gone = pod("done", app="web", status={"phase": "Failed"})
    leaving = pod("leaving", app="web", metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
    mine = workload("ReplicaSet", "web")
    assert owning([gone, leaving], mine).pods_of(mine) == []


def test_jobs_adopt_by_their_own_selector_alone():
    """A Job without a selector does not take pods by the labels of its template."""
    job = workload("Job", "web", selector=None)
    assert owning([pod("bare", app="web")], job).pods_of(job) == []


@pytest.mark.parametrize(
    "namespace, name, found", [("default", "web", True), ("default", "we", False), ("other", "web", False)]
)
def test_jobs_are_named_after_their_cron_job(namespace, name, found):
    """Pods of a Job that is not there show their CronJob by the Job's name."""
    cron_job = read_workload(manifest("CronJob", name, namespace=namespace))
    assert owning([owned("p", "Job", "web-28")], cron_job).has_pods_of_jobs(cron_job) is found


def test_who_controls_whom():
    """A ReplicaSet and its Deployment find each other."""
    deployment = workload("Deployment", "web")
    mine = workload("ReplicaSet", "a", owner="web")
    other = workload("ReplicaSet", "b")
    found = owning([], deployment, mine, other)
    assert found.workloads_of(deployment, "ReplicaSet") == [mine]
    assert (found.owner_of(mine), found.owner_of(other)) == (deployment, None)


# --- Lost replica sets --------------------------------------------------------------------------------------


def test_pods_show_them():
    """Pods of a ReplicaSet that is not there show its name, UID and hash; the newest comes last."""
    deployment = workload("Deployment", "web")
    older = owned(
        "x",
        owner="web-old",
        labels={**HASHED, "pod-template-hash": "old"},
        creationTimestamp="2020-01-01T00:00:00Z",
    )
    newer = owned("y", creationTimestamp="2021-01-01T00:00:00Z")
    found = owning([newer, older], deployment).lost_replica_sets(deployment)
    assert [(lost.name, lost.uid, lost.hash, names(lost.pods)) for lost in found] == [
        ("web-old", "u", "old", ["x"]),
        ("web-abc", "u", "abc", ["y"]),
    ]


def test_not_where_they_are_given():
    """A ReplicaSet that is given is not lost."""
    deployment = workload("Deployment", "web")
    assert (
        owning([owned("x")], deployment, workload("ReplicaSet", "web-abc")).lost_replica_sets(deployment)
        == []
    )


def test_selectors_that_overlap():
    """Where several selectors match, the Deployment that the ReplicaSet is named after has the pods, and
    no other."""
    first = workload("Deployment", "shop")
    second = workload("Deployment", "web")
    found = owning([owned("x")], first, second)
    assert [len(found.lost_replica_sets(each)) for each in (first, second)] == [0, 1]


def test_without_references_the_hash_counts():
    """Pods that nobody controls count for a Deployment if they have a template's hash; others are bare
    pods."""
    deployment = workload("Deployment", "web")
    (lost,) = owning([pod("x", labels=HASHED), pod("y", app="web")], deployment).lost_replica_sets(deployment)
    assert (lost.name, lost.uid, names(lost.pods)) == ("web-abc", "", ["x"])


@pytest.mark.parametrize(
    "selector, wanted",
    [
        (None, False),
        (LabelSelector(), False),
        (LabelSelector(match_labels=Map(app="web")), True),
        (LabelSelector(match_labels=Map(app="api")), False),
        (LabelSelector(match_expressions=(Requirement(key="app", operator="Near"),)), False),
    ],
)
def test_what_a_selector_must_say(selector, wanted):
    """An empty, absent or invalid selector adopts nothing."""
    assert selects_some(selector, HASHED) is wanted
