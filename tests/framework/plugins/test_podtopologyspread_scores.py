"""PodTopologySpread, soft and default constraints: which domains are preferred, by example and against a plain loop."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import TopologySpreadConstraint
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugins.spreadconstraints import SYSTEM_DEFAULTS
from kubeclassic.framework.status import Code, Status
from tests.support.asking import cycle_of, scores
from tests.support.build import node, obj, pod
from tests.support.spreadbuild import (
    NEAR,
    A,
    against,
    constraint,
    incoming,
    peer,
    plugin,
    soft,
)  # fmt: skip

SERVICE = obj({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}})
ZONED = [node(name, labels={"kubernetes.io/hostname": name, **zone}) for name, zone in (
    ("n0", {"topology.kubernetes.io/zone": "a"}), ("n1", {"topology.kubernetes.io/zone": "b"}), ("n2", {}),
)]  # fmt: skip


class TestDefaults:
    def owned(self, kind: str, name: str = "o", api: str = "apps/v1") -> dict[str, Any]:
        return {"ownerReferences": [{"kind": kind, "name": name, "apiVersion": api, "uid": "u", "controller": True}]}

    def owner(self, kind: str, selector: Any) -> Any:
        return obj({"kind": kind, "metadata": {"name": "o", "namespace": "default"}, "spec": {"selector": selector}})

    def test_system_defaults_spread_the_pods_of_a_service(self) -> None:
        """By hostname and zone; a node without zone counts as one more domain and is scored by hostname alone."""
        pods = [peer("p0", "n0"), peer("p1", "n0"), peer("p2", "n1")]
        assert scores(plugin(), pod("new", labels={"app": "a"}), SERVICE, *ZONED, *pods, raw=True) == {"n0": 12, "n1": 9, "n2": 2}
        assert scores(plugin(), pod("new", labels={"app": "a"}), SERVICE, *ZONED, *pods) == {"n0": 16, "n1": 41, "n2": 100}

    @pytest.mark.parametrize(("kind", "api", "selector"), [
        ("ReplicaSet", "apps/v1", {"matchLabels": {"app": "a"}}),
        ("StatefulSet", "apps/v1", {"matchLabels": {"app": "a"}}),
        ("ReplicationController", "v1", {"app": "a"}),
    ])  # fmt: skip
    def test_a_controller_selects(self, kind: str, api: str, selector: Any) -> None:
        """The controller that owns the pod selects its peers; one that is only called so, of another API group, does not."""
        for version, spreads in ((api, True), ("other/v1", False)):
            new = pod("new", labels={"app": "a"}, metadata=self.owned(kind, api=version))
            found = scores(plugin(), new, self.owner(kind, selector), *ZONED, peer("p", "n0"))
            assert (found["n0"] < 100) is spreads

    def test_a_controller_that_does_not_own_the_pod_does_not_select(self) -> None:
        """A ReplicaSet whose selector takes the pod in, but that does not own it, counts for nothing."""
        stranger = self.owner("ReplicaSet", {"matchLabels": {"app": "a"}})
        found = scores(plugin(), pod("new", labels={"app": "a"}), stranger, *ZONED, peer("p", "n0"))
        assert set(found.values()) == {100}

    def test_own_constraints_of_any_kind_replace_them(self) -> None:
        """A pod with a hard constraint alone gets no soft defaults."""
        found = scores(plugin(), incoming(constraint("kubernetes.io/hostname", 9)), SERVICE, *ZONED, peer("p", "n0"))
        assert set(found.values()) == {100}

    def test_list_defaults_can_be_hard(self) -> None:
        """defaultingType List: the profile's own constraints, over the deduced selector, and all their keys are needed."""
        hard = TopologySpreadConstraint(max_skew=1, topology_key="topology.kubernetes.io/zone", when_unsatisfiable="DoNotSchedule")
        found = against(pod("new", labels={"app": "a"}), SERVICE, *ZONED, peer("p", "n0"), by=plugin([hard]))
        assert found == {"n0": "skew", "n1": None, "n2": "label"}
        assert set(against(pod("new", labels={"app": "b"}), SERVICE, *ZONED, by=plugin([hard])).values()) == {None}

    def test_list_defaults_ignore_nodes_without_a_key(self) -> None:
        """Under List a node that lacks the key scores 0."""
        found = scores(plugin(SYSTEM_DEFAULTS), pod("new", labels={"app": "a"}), SERVICE, *ZONED, peer("p", "n0"))
        assert found["n2"] == 0
        assert found["n1"] == 100

    def test_nodes_without_a_zone_stand_with_those_of_an_empty_one(self) -> None:
        """An empty zone label and none make one domain: the node that has the label is scored with the pods of the one that lacks it."""
        nodes = node("n0", labels={"topology.kubernetes.io/zone": ""}), node("n1")
        found = scores(plugin(), pod("new", labels={"app": "a"}), SERVICE, *nodes, peer("p", "n1"), raw=True)
        assert found == {"n0": 5, "n1": 0}

    def test_a_service_that_comes_later_is_seen(self) -> None:
        """What was deduced is deduced again once a service has come."""
        new = pod("new", labels={"app": "a"})
        cycle = cycle_of(new, *ZONED)
        judge = plugin()
        assert judge.constraints(cycle.template, "ScheduleAnyway", cycle) == ()
        cycle.listings.services.put(SERVICE)
        assert len(judge.constraints(cycle.template, "ScheduleAnyway", cycle)) == 2


class TestSoft:
    def test_an_invalid_selector_is_an_error(self) -> None:
        """An invalid soft constraint is an error of PreScore."""
        cycle = cycle_of(incoming(soft(selector=NEAR)), A)
        status = plugin().pre_score(cycle.template, Batch(cycle.table), cycle)
        of_soft = "calculating preScoreState: obtaining pod's soft topology spread constraints"
        text = f'{of_soft}: "Near" is not a valid label selector operator'
        assert status == Status(Code.ERROR, (text,))


# --- against a plain loop -------------------------------------------------------------------------------------------
