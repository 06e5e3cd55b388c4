"""Rules' answers are cached by keys: a pod that differs in a field that a rule reads gets its own answer."""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.api.objects import strings
from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod
from tests.support.volumebuild import (
    BOUND,
    EPHEMERAL,
    WAIT,
    bound,
    claim,
    csi_node,
    made_for,
    storage_class,
    using,
    volume,
)

CLOSED = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
TAINTED = [node(name, taints=[{"key": name, "effect": "NoSchedule"}]) for name in "ab"]
DISKS = [volume(f"pv{name}", csi={"driver": "d", "volumeHandle": name}) for name in "xy"]


def tolerant(name, *tolerations):
    """A pod with tolerations."""
    return pod(name, tolerations=list(tolerations))


def with_claim(name, disk):
    """The claim of the ephemeral volume of pod *name*, bound to a disk."""
    found = made_for(using(name, EPHEMERAL).uid, f"{name}-v0", volumeName=disk)
    return [replace(found, metadata=replace(found.metadata, annotations=strings(BOUND)))]


CASES = {
    "who enters a closed node": (
        "1.16",
        [node("a", unschedulable=True), node("b", pods="0")],
        tolerant("p"),
        tolerant("q", CLOSED),
    ),
    "which taints": (
        "1.16",
        TAINTED,
        tolerant("p", {"key": "a", "operator": "Exists"}),
        tolerant("q", {"key": "b", "operator": "Exists"}),
    ),
    "whose ephemeral volume": (
        "1.27",
        [
            node("n"),
            csi_node("n", d=1),
            *DISKS,
            bound("x", "pvx"),
            using("old", "x", on="n"),
            *with_claim("p", "pvx"),
            *with_claim("q", "pvy"),
        ],
        using("p", EPHEMERAL),
        using("q", EPHEMERAL),
    ),
}


def made(release, objects):
    """A scheduler of *release*."""
    found = engine_for(release, {"percentageOfNodesToScore": 100})
    EventFeed(found).put_all(objects)
    return found


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("is_swapped", [False, True])
def test_one_after_the_other(case, is_swapped):
    """Two pods one after the other get what each gets in a scheduler of its own, and that is not the same."""
    release, objects, *pods = CASES[case]
    incoming = pods[::-1] if is_swapped else pods
    both = made(release, objects)
    with verifying(False):
        alone = [made(release, objects).schedule(one, details=False) for one in incoming]
        found = [both.schedule(one, details=False) for one in incoming]
    assert [(one.host, one.error) for one in found] == [(one.host, one.error) for one in alone]
    assert alone[0].host != alone[1].host


def test_a_limit_that_rises():
    """Where the emptiest of many domains gets a pod, all others may take one more, though nothing came to
    them."""
    constraint = yaml.safe_load("""
        maxSkew: 1
        topologyKey: host
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: a}
        """)
    names = [f"n{number:02}" for number in range(40)]
    objects = [node(name, labels={"host": name}) for name in names]
    objects += [pod(f"old-{name}", on=name, app="a") for name in names[1:]]
    both = made("1.27", objects)
    incoming = [pod(f"p{number}", app="a", topologySpreadConstraints=[constraint]) for number in range(2)]
    with verifying(False):
        assert both.schedule(incoming[0]).feasible == ["n00"]
        EventFeed(both).put(pod("last", on="n00", app="a"))
        assert sorted(both.schedule(incoming[1]).feasible) == names


@pytest.mark.parametrize("release", ["1.12", "1.16", "1.27"])
def test_volumes_that_a_pod_finds(release):
    """The volume that one pod takes is gone for the next one: its cycle is run, as its host is not all that
    comes of it."""
    waits = storage_class("wait", provisioner="kubernetes.io/no-provisioner", **WAIT)
    both = made(release, [node("a"), node("b"), waits, volume("pv"), claim("x"), claim("y")])
    first = both.schedule(using("p", "x"), details=False)
    assert first.host is not None
    both.assume(first.pod, first.host)
    assert "didn't find available persistent volumes to bind" in str(
        both.schedule(using("q", "y"), details=False).error
    )
