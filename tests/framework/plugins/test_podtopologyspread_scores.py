"""PodTopologySpread, soft and default constraints: which domains are preferred, by example and against a
plain loop."""

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.status import Code, Status
from tests.support.asking import cycle_of, scores
from tests.support.build import node, obj, pod
from tests.support.spreadbuild import NEAR, A, incoming, peer, plugin, soft

SERVICE = obj(
    {"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}}
)
ZONED = [
    node(name, labels={"kubernetes.io/hostname": name, **zone})
    for name, zone in (
        ("n0", {"topology.kubernetes.io/zone": "a"}),
        ("n1", {"topology.kubernetes.io/zone": "b"}),
        ("n2", {}),
    )
]


class TestDefaults:
    def owned(self, kind, name="o", api="apps/v1"):
        return {
            "ownerReferences": [
                {"kind": kind, "name": name, "apiVersion": api, "uid": "u", "controller": True}
            ]
        }

    def owner(self, kind, selector):
        return obj(
            {"kind": kind, "metadata": {"name": "o", "namespace": "default"}, "spec": {"selector": selector}}
        )

    @pytest.mark.parametrize(
        ("kind", "api", "selector"),
        [
            ("ReplicaSet", "apps/v1", {"matchLabels": {"app": "a"}}),
            ("StatefulSet", "apps/v1", {"matchLabels": {"app": "a"}}),
            ("ReplicationController", "v1", {"app": "a"}),
        ],
    )
    def test_a_controller_selects(self, kind, api, selector):
        """The controller that owns the pod selects its peers; one that is only called so, of another API
        group, does not."""
        for version, spreads in ((api, True), ("other/v1", False)):
            new = pod("new", labels={"app": "a"}, metadata=self.owned(kind, api=version))
            found = scores(plugin(), new, self.owner(kind, selector), *ZONED, peer("p", "n0"))
            assert (found["n0"] < 100) is spreads

    def test_nodes_without_a_zone_stand_with_those_of_an_empty_one(self):
        """An empty zone label and none make one domain: the node that has the label is scored with the pods
        of the one that lacks it."""
        nodes = node("n0", labels={"topology.kubernetes.io/zone": ""}), node("n1")
        found = scores(plugin(), pod("new", labels={"app": "a"}), SERVICE, *nodes, peer("p", "n1"), raw=True)
        assert found == {"n0": 5, "n1": 0}

    def test_a_service_that_comes_later_is_seen(self):
        """What was deduced is deduced again once a service has come."""
        new = pod("new", labels={"app": "a"})
        cycle = cycle_of(new, *ZONED)
        judge = plugin()
        assert judge.constraints(cycle.template, "ScheduleAnyway", cycle) == ()
        cycle.listings.services.put(SERVICE)
        assert len(judge.constraints(cycle.template, "ScheduleAnyway", cycle)) == 2


class TestSoft:
    def test_an_invalid_selector_is_an_error(self):
        """An invalid soft constraint is an error of PreScore."""
        cycle = cycle_of(incoming(soft(selector=NEAR)), A)
        status = plugin().pre_score(cycle.template, Batch(cycle.table), cycle)
        of_soft = "calculating preScoreState: obtaining pod's soft topology spread constraints"
        text = f'{of_soft}: "Near" is not a valid label selector operator'
        assert status == Status(Code.ERROR, (text,))


# --- against a plain loop -----------------------------------------------------------------------------------
