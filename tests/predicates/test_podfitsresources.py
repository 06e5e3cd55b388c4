"""PodFitsResources: places, then cpu, memory, ephemeral storage, then scalars."""

import attrs
import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.predicates.podfitsresources import pod_fits_resources
from tests.support.build import answers, ask, engine, node, pod

GPU = "example.com/gpu"
HUGE = "hugepages-2Mi"


def short(incoming, *objects, **options):
    """What the node ``n`` is short of."""
    reasons = ask(pod_fits_resources, incoming, *objects, **options)["n"]
    assert isinstance(reasons, list)
    return [reason.removeprefix("Insufficient ") for reason in reasons]


def init(**requests):
    """One init container."""
    return [{"name": "i", "resources": {"requests": requests}}]


class TestIgnoredResources:
    """An extender that manages a resource with ignoredByScheduler answers for it alone."""

    @pytest.mark.parametrize(
        ("requests", "ignored", "has_metadata", "lacks"),
        [
            ({GPU: "1", "example.com/fpga": "1"}, {GPU}, True, ["example.com/fpga"]),
            (
                {HUGE: "2Mi", "x.kubernetes.io/y": "1"},
                {HUGE, "x.kubernetes.io/y"},
                True,
                [HUGE, "x.kubernetes.io/y"],
            ),
            ({GPU: "1"}, {GPU}, False, [GPU]),
        ],
        ids=["others are checked", "only extended resources", "nothing without metadata"],
    )
    def test_what_is_checked(self, requests, ignored, has_metadata, lacks):
        """An extended resource is ignored, huge pages and names of kubernetes.io are not; what is ignored
        stands in the metadata."""
        cycle = engine(node("n")).begin(pod("p", requests=requests))
        cycle.algorithm = attrs.evolve(cycle.algorithm, ignored_resources=frozenset(ignored))
        cycle.has_metadata = has_metadata
        assert answers(pod_fits_resources, cycle, Batch(cycle.table))["n"] == [
            f"Insufficient {name}" for name in lacks
        ]

    def test_an_ignored_resource_is_a_request_still(self):
        """A pod that requests nothing but an ignored resource is held against cpu."""
        cycle = engine(node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})).begin(
            pod("p", requests={GPU: "1"})
        )
        cycle.algorithm = attrs.evolve(cycle.algorithm, ignored_resources=frozenset({GPU}))
        assert answers(pod_fits_resources, cycle, Batch(cycle.table))["n"] == ["Insufficient cpu"]


class TestKey:
    """Pods that request the same share an answer; pods that do not, must not."""

    def test_sees_requests_alone(self):
        """A scalar of 0 is a request, so its key differs from that of no request; labels are none."""
        begin = engine(node("n")).begin
        pods = [{}, {"labels": {"a": "x"}}, {"requests": {GPU: "0"}}, {"requests": {GPU: "1"}}]
        keys = [pod_fits_resources.key(begin(pod("p", **each)).template) for each in pods]
        assert (keys[0] == keys[1], len(set(keys))) == (True, 3)
