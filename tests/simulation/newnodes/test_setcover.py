"""The bound below new nodes: mixes come the cheapest first, and what has too little room is left out, never what could do."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import add_nodes
from kubeclassic.framework.options import Classic, Framework
from kubeclassic.simulation.newnodes import setcover as covers_module
from kubeclassic.simulation.newnodes.setcover import CoverRow, SetCover
from tests.support.examples import examples
from tests.support.keywords import keywords_of
from tests.support.manifests import node, pod

Json = dict[str, Any]
NODE = node("a", "2", "4Gi", "10")


@st.composite
def problems(draw: st.DrawFn) -> SetCover:
    """Small covering problems of one to three kinds."""
    kinds = draw(st.integers(1, 3))
    gains = st.tuples(*[st.integers(0, 5)] * kinds)
    rows = [CoverRow(need=draw(st.integers(1, 12)), gains=draw(gains)) for _ in range(draw(st.integers(0, 3)))]
    return SetCover(rows, [draw(st.integers(1, 7)) for _ in range(kinds)], most=draw(st.integers(1, 5)))


class TestCheapestFirst:
    @given(problem=problems())
    @examples(4)
    def test_all_mixes_come_in_order(self, problem: SetCover) -> None:
        """Each mix that brings what is needed comes once, by cost and number of nodes, and no other does."""
        every = product(range(problem.most + 1), repeat=len(problem.costs))
        wanted = {
            mix for mix in every if sum(mix) <= problem.most
            and all(sum(count * gain for count, gain in zip(mix, row.gains, strict=True)) >= row.need for row in problem.rows)
        }  # fmt: skip
        found = list(problem.cheapest_first())
        assert set(found) == wanted
        assert len(found) == len(wanted)
        assert [problem.key(mix) for mix in found] == sorted(problem.key(mix) for mix in wanted)
        assert problem.cut_at is None
        assert all(problem.covers(mix) for mix in wanted)

    def test_many_equal_kinds_end_soon(self) -> None:
        """A large problem of many mixes of one cost finds the first at once."""
        problem = SetCover([CoverRow(need=1000, gains=(2, 2, 2, 2))], (1, 1, 1, 1), most=1000)
        assert [sum(mix) for mix in islice(problem.cheapest_first(), 5)] == [500] * 5

    def test_the_end_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the search is cut short it is known from which cost on mixes are missing."""
        monkeypatch.setattr(covers_module, "MOST_STEPS", 40)
        problem = SetCover([CoverRow(need=6, gains=(1, 1))], (2, 3), most=20)
        found = list(problem.cheapest_first())
        assert found[0] == (6, 0)
        assert problem.cut_at is not None
        assert problem.cut_at >= problem.key(found[-1])


def bound(cluster: list[Json], **options: Any) -> tuple[int, int]:
    """How many nodes are added, and how many mixes were simulated: where the bound is the answer these are two."""
    found = add_nodes(cluster, "like:a", **keywords_of(options, "preemption"))
    return sum(found.added.values()), found.record()["simulated"]


class TestNeeds:
    def test_sizes_count(self) -> None:
        """Pods of more than half a node need a node each, though their sum is less; what is free in small pieces is no room for them."""
        filled = [pod("filler", "1", on="a")]
        assert bound([NODE, *filled, *(pod(f"web-{at}", "1100m") for at in range(6))]) == (6, 2)

    def test_no_bound_by_rules_that_are_off(self) -> None:
        """A Policy without the resource predicate places any number on one node, which the bound must not forbid."""
        policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}], "priorities": []}
        found = add_nodes([NODE], "like:a", scheduler=Classic(policy=policy), pod=pod("web", "1500m"), pods=9)
        assert (found.ok, found.added) == (True, {})

    def test_no_bound_by_ignored_resources(self) -> None:
        """A resource that the profile ignores is no need."""
        profile = {
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/thing"]}}]}],
        }  # fmt: skip
        web = pod("web", "100m")
        web["spec"]["containers"][0]["resources"]["requests"]["example.com/thing"] = "5"
        assert add_nodes([NODE], "like:a", scheduler=Framework(profile=profile), pod=web, pods=3).added == {}
        assert not add_nodes([NODE], "like:a", scheduler="1.27", pod=web, pods=3).ok

    def test_preemption_makes_room(self) -> None:
        """With preemption, what pods of lower priority hold is room too."""
        low = pod("low", "2")
        low["spec"] |= {"nodeName": "a", "priority": -5}
        assert bound([NODE, low], pod=pod("web", "1"), pods=2, preemption=False) == (1, 2)
        found = add_nodes([NODE, low], "like:a", pod=pod("web", "1"), pods=2, preemption=True)
        assert (found.added, found.record()["evicted"]) == ({}, {"default/low": "default/web-0"})

    def test_a_quota_is_no_matter_of_nodes(self) -> None:
        """Where a quota stops copies no number of nodes helps, and the answer says what the API server says."""
        quota = {"kind": "ResourceQuota", "metadata": {"name": "few", "namespace": "default"}, "spec": {"hard": {"pods": "2"}}}
        found = add_nodes([NODE, quota], "like:a", pod=pod("web", "1"), pods=4)
        assert not found.ok
        assert 'pods "web-2" is forbidden: exceeded quota: few' in found.without_node["default/web-2"]
