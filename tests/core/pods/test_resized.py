"""Which requests of a pod count while it is resized in place, by example and against a naive choice."""

import pytest

from kubeclassic.core.pods import resized
from kubeclassic.core.pods.template import Templates
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.build import pod

ON = {"InPlacePodVerticalScaling": True}
RULES = {"1.31": resized.by_allocated, "1.32": resized.by_reported, "1.33": resized.by_reported_and_allocated}
PENDING = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}


def running(asked, status, *, infeasible=False, sidecar=None):
    """A pod of one container that asks for this cpu, with a status, and a sidecar of 100m with one."""
    first = (
        []
        if sidecar is None
        else [{"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}]
    )
    more = {"resize": "Infeasible", "conditions": [PENDING]} if infeasible else {}
    states = {
        "containerStatuses": [{"name": "c", "ready": True, **status}],
        "initContainerStatuses": [{"name": "s", **(sidecar or {})}],
    }
    return pod(
        "p",
        on="n",
        requests={"cpu": asked},
        initContainers=first,
        status={"phase": "Running", **states, **more},
    )


def reported(cpu):
    return {"resources": {"requests": {"cpu": cpu}}}


class TestRules:
    def test_without_resources_nothing_changes(self):
        """From 1.32 on a status without resources is not read, even with allocatedResources."""
        new = running("1", {"allocatedResources": {"cpu": "7"}})
        assert resized.by_reported(new, ON) is new
        assert resized.by_reported_and_allocated(new, ON) is new

    def test_sidecars(self):
        """From 1.33 on sidecars are resized too."""
        new = running("1", reported("1"), sidecar=reported("3"))
        assert (
            resized.by_reported_and_allocated(new, ON).spec.init_containers[0].requests["cpu"].milli_value()
            == 3000
        )
        assert resized.by_reported(new, ON) is new

    @pytest.mark.parametrize("release", RULES)
    def test_without_the_gate(self, release):
        """The spec counts."""
        new = running("1", {**reported("7"), "allocatedResources": {"cpu": "7"}})
        assert RULES[release](new, {}) is new


class TestTemplates:
    def test_a_pod_that_is_not_resized_is_like_others(self):
        """A status that says what the spec says, in other words, makes no other template."""
        templates = Templates(ALL_RELEASES["1.33"], ON)
        plain = running("1", {})
        same = running("1", {**reported("1000m"), "allocatedResources": {"cpu": "1000m"}})
        assert templates.entry(plain).template is templates.entry(same).template

    def test_a_resized_pod_counts_its_status_on_a_node_alone(self):
        """It counts what it has on a node and for the balance of resources; for room and in
        NodeResourcesFit's score its spec counts."""
        templates = Templates(ALL_RELEASES["1.33"], ON)
        found = templates.entry(running("1", reported("3"))).template
        assert (found.footprint, found.nonzero_footprint[0]) == ({"cpu": 3000}, 3000)
        assert (found.requests, found.nonzero[0]) == ({"cpu": 1000}, 1000)
