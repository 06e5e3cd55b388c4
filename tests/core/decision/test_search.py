"""The nodes that a search and preemption visit, and nominated pods that do not count and must change
nothing."""

import pytest
import yaml

from kubeclassic.core.run import EventFeed
from tests.support.build import engine, node, pod, policy_of
from tests.support.volumebuild import claim, ebs, using

RELEASES = ("1.12", "1.13", "1.14", "1.15", "1.16")
every_release = pytest.mark.parametrize("release", RELEASES)


def disk(number):
    """A volume source: a disk of AWS."""
    return ebs(f"vol-{number}")


@every_release
def test_preemption_does_not_try_them(release):
    """A deleted node is no candidate, although the pod that remains on it could be a victim."""
    small = {"cpu": "3"}
    made = engine(
        node("a"),
        node("gone"),
        pod("low", on="a", requests=small, priority=1),
        pod("left", on="gone", requests=small, priority=0),
        release=release,
    )
    made.schedule(pod("first"))
    EventFeed(made).delete(node("gone"))
    plan = made.schedule(pod("new", requests=small, priority=5)).preemption
    assert (plan.node, [*plan.candidates]) == ("a", ["a"])


def nominated(release, *waiting, check_all=False):
    """A scheduler with two nodes and a full one, where pods of lower priority wait for *waiting*; free
    volumes are scored."""
    there = [node("a"), node("b"), node("full", pods="0"), using("old", disk(1), on="b")]
    policy = policy_of(alwaysCheckAllPredicates=check_all)
    made = engine(*there, release=release, gates={"BalanceAttachedNodeVolumes": True}, policy=policy)
    for name in waiting:
        made.nominations.add(pod(f"for-{name}", cpu="4", priority=1, nominated=name), name)
    return made


def told(decision):
    """A decision with its reasons and scores."""
    assert decision.details is not None
    return decision.record()


@every_release
@pytest.mark.parametrize("check_all", [False, True])
def test_they_change_nothing(release, check_all):
    """Nominated pods of lower priority do not change reasons, scores and counts of volumes."""
    new = using("new", disk(1), disk(2), priority=5)
    plain = nominated(release, check_all=check_all)
    waited_for = nominated(release, "a", "b", "full", check_all=check_all)
    assert told(waited_for.schedule(new)) == told(plain.schedule(new))
    assert (
        waited_for.table.transient[:, :3].tolist()
        == plain.table.transient[:, :3].tolist()
        != [[0, 0, 0], [0, 0, 0]]
    )


def test_equal_ones_are_counted():
    """An error of several nodes is reported once, with the number of nodes."""
    made = engine(node("a"), node("b"), node("c"), claim("c", kind="missing"))
    error = made.schedule(using("new", "c")).error
    assert error.endswith(" (repeated 3 times)")


def test_different_ones_are_sorted():
    """Different texts are sorted alphabetically, not in the order of nodes."""
    term = yaml.safe_load("{labelSelector: {matchLabels: {app: lost}}, topologyKey: zone}")
    wants = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    made = engine(node("b"), node("a"), pod("lost", on="gone", app="lost"), release="1.12")
    text = 'Cannot schedule pod default/new onto node {}, because of PodAffinity, err: node "gone" not found'
    assert made.schedule(pod("new", affinity=wants)).error == f"[{text.format('a')}, {text.format('b')}]"
