"""Which pods are nominated to which node."""

from __future__ import annotations

import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.core.cluster.nominations import Nominations, Nominee
from kubeclassic.framework.releases import ALL_RELEASES as RELEASES
from tests.support.build import pod

BY_STATUS, BY_UID = list(RELEASES)[:1], list(RELEASES)[1:]
ASKING, STRICT = ["1.20", *list(RELEASES)[list(RELEASES).index("1.22") :]], list(RELEASES)[list(RELEASES).index("1.24") :]
"""The releases that ask which pods there are, and those that leave out pods with a node, too."""


def nominations(release: str) -> Nominations:
    """The empty map of *release*."""
    return Nominations(RELEASES[release].nominations)


def named(found: Nominations) -> dict[str, list[str]]:
    """Node -> names of its pods."""
    return {node: [waiting.name for waiting in found.on(node)] for node in found}


def wanting(node: str, name: str = "a", **labels: str) -> Pod:
    """A pod whose status nominates it to *node*."""
    return pod(name, labels=labels, status={"nominatedNodeName": node})


class TestAdd:
    @pytest.mark.parametrize("release", RELEASES)
    def test_by_the_status_in_order(self, release: str) -> None:
        """Pods wait for the node that their status names, in the order in which they were nominated; others are not here."""
        found = nominations(release)
        for item in (wanting("n", "b"), wanting("n", "a"), wanting("m", "c"), pod("d")):
            found.add(item)
        assert (named(found), found.node_of(wanting("n")), found.node_of(pod("d"))) == ({"n": ["b", "a"], "m": ["c"]}, "n", "")

    @pytest.mark.parametrize("release", BY_STATUS)
    def test_a_pod_that_is_there_stays_as_it_is(self, release: str) -> None:
        """In 1.12 a second nomination to the same node changes nothing, and one to another node adds a place."""
        found = nominations(release)
        for item in (wanting("n"), wanting("n", "b"), wanting("n", "a", x="y"), wanting("m")):
            found.add(item)
        assert (named(found), found.on("n")[0].labels) == ({"n": ["a", "b"], "m": ["a"]}, {})

    @pytest.mark.parametrize("release", BY_UID)
    def test_a_pod_is_in_one_place(self, release: str) -> None:
        """From 1.13 on a second nomination ends the first, so that the pod comes last."""
        found = nominations(release)
        for item in (wanting("n"), wanting("n", "b"), wanting("n", "a", x="y")):
            found.add(item)
        assert (named(found), found.on("n")[1].labels) == ({"n": ["b", "a"]}, {"x": "y"})
        found.add(wanting("m"))
        assert named(found) == {"n": ["b"], "m": ["a"]}

    @pytest.mark.parametrize(("release", "node"), [(name, "n" if name in BY_STATUS else "m") for name in RELEASES])
    def test_an_explicit_node(self, release: str, node: str) -> None:
        """A node given by name, as by preemption, wins over the status from 1.13 on."""
        found = nominations(release)
        found.add(wanting("n"), "m")
        assert named(found) == {node: ["a"]}

    @pytest.mark.parametrize(("release", "node"), [(name, "" if name in STRICT else "n") for name in RELEASES])
    def test_the_empty_name(self, release: str, node: str) -> None:
        """From 1.24 on there is a list under the empty name; earlier releases take it as none, and go by the status."""
        found = nominations(release)
        found.add(wanting("n"), "")
        assert (named(found), found.node_of(wanting("n"))) == ({node: ["a"]}, node)

    @pytest.mark.parametrize("release", RELEASES)
    @pytest.mark.parametrize(("lister", "strict"), [({}, ASKING), ({"default/a": pod("a", on="m")}, STRICT)], ids=["gone", "placed"])
    def test_a_pod_that_is_gone_or_has_a_node(self, release: str, lister: dict[str, Pod], strict: list[str]) -> None:
        """A pod that is gone is nominated no longer in 1.20 and from 1.22 on, one that has a node from 1.24 on; the others do not ask."""
        found = nominations(release)
        found.add(wanting("n"))
        found.lister = lister
        found.add(wanting("n"))
        assert named(found) == ({} if release in strict else {"n": ["a"]})

    @pytest.mark.parametrize("release", STRICT)
    def test_a_pod_with_a_node_where_nobody_knows_all_pods(self, release: str) -> None:
        """Without a list of all pods the pod itself says whether it has a node."""
        found = nominations(release)
        found.add(pod("a", on="m"), "n")
        assert not found


class TestHolders:
    @pytest.mark.parametrize("release", BY_UID)
    def test_a_holder_whose_pod_is_replaced(self, release: str) -> None:
        """What a queue lends is seen with the pod that it has now; once that has another UID the entry is not found by the old one."""
        found, holder = nominations(release), Nominee(wanting("n"))
        found.add(holder.pod, holder=holder)
        holder.pod = wanting("n", "a", x="y")
        assert found.on("n") == [holder.pod]
        old, holder.pod = holder.pod, wanting("n", "b")
        found.remove(old)
        assert (named(found), found.node_of(old)) == ({"n": ["b"]}, "")


class TestRemove:
    @pytest.mark.parametrize(("release", "is_gone"), [(name, name in BY_UID) for name in RELEASES])
    def test_by_status_or_by_uid(self, release: str, is_gone: bool) -> None:
        """1.12 removes a pod from the node in its current status; later releases store its node."""
        found = nominations(release)
        found.add(wanting("n"))
        found.remove(pod("a"))
        assert bool(found) == (not is_gone)


class TestUpdate:
    @pytest.mark.parametrize(("release", "is_kept"), [(name, name not in ("1.13", "1.14")) for name in BY_UID])
    def test_a_node_that_no_status_names_is_kept(self, release: str, is_kept: bool) -> None:
        """A pod that preempted and whose update does not say so yet keeps its node from 1.15 on; 1.13 and 1.14 lose it."""
        found = nominations(release)
        found.add(pod("a"), "n")
        found.update(pod("a"), pod("a", labels={"x": "y"}))
        assert named(found) == ({"n": ["a"]} if is_kept else {})
