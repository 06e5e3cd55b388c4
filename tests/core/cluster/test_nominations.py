"""The nominations of pods to nodes."""

import pytest

from kubeclassic.core.cluster.nominations import Nominations, Nominee
from kubeclassic.framework.releases import ALL_RELEASES as RELEASES
from tests.support.build import pod

BY_UID = list(RELEASES)[1:]
ASKING = ["1.20", *list(RELEASES)[list(RELEASES).index("1.22") :]]
STRICT = list(RELEASES)[list(RELEASES).index("1.24") :]
"""The releases that ask which pods there are, and those that leave out pods with a node, too."""


def nominations(release):
    """The empty map of *release*."""
    return Nominations(RELEASES[release].nominations)


def named(found):
    """Node -> names of its pods."""
    return {node: [waiting.name for waiting in found.on(node)] for node in found}


def wanting(name="a", **labels):
    """A pod whose status nominates it to *node*."""
    return pod(name, labels=labels, nominated="n")


@pytest.mark.parametrize(
    "release, node", [(name, "" if name in ("1.23", *STRICT) else "n") for name in RELEASES]
)
def test_the_empty_name(release, node):
    """From 1.23 on there is a list under the empty name; earlier releases take it as none, and go by the
    status."""
    found = nominations(release)
    found.add(wanting(), "")
    assert (named(found), found.node_of(wanting())) == ({node: ["a"]}, node)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "lister, strict", [({}, ASKING), ({"default/a": pod("a", on="m")}, STRICT)], ids=["gone", "placed"]
)
def test_a_pod_that_is_gone_or_has_a_node(release, lister, strict):
    """A pod that is gone is nominated no longer in 1.20 and from 1.22 on, one that has a node from 1.24
    on; the others do not ask."""
    found = nominations(release)
    found.add(wanting())
    found.lister = lister
    found.add(wanting())
    assert named(found) == ({} if release in strict else {"n": ["a"]})


@pytest.mark.parametrize("release", STRICT)
def test_a_pod_with_a_node_where_nobody_knows_all_pods(release):
    """Without a list of all pods the pod itself says whether it has a node."""
    found = nominations(release)
    found.add(pod("a", on="m"), "n")
    assert not found


@pytest.mark.parametrize("release", BY_UID)
def test_a_holder_whose_pod_is_replaced(release):
    """An entry lent by a queue shows the queue's present pod; once that has another UID, the entry is not
    found by the old one."""
    found = nominations(release)
    holder = Nominee(wanting())
    found.add(holder.pod, holder=holder)
    holder.pod = wanting("a", x="y")
    assert found.on("n") == [holder.pod]
    old = holder.pod
    holder.pod = wanting("b")
    found.remove(old)
    assert (named(found), found.node_of(old)) == ({"n": ["b"]}, "")
