"""What pods request, and which zone a node is in, in the framework's release."""

from __future__ import annotations

import pytest

from kubeclassic.algorithmprovider.cells import zone_key
from kubeclassic.core.pods.requests import exact_sums, exact_sums_with_defaults, nonzero_with_any_overhead
from tests.support.build import obj

MEBI200 = 200 * 1024 * 1024


def made(*requests: dict[str, str], init: dict[str, str] | None = None, overhead: dict[str, str] | None = None) -> object:
    """A pod of containers with these requests."""
    containers = [{"name": f"c{i}", "resources": {"requests": asked}} for i, asked in enumerate(requests)]
    before = [] if init is None else [{"name": "i", "resources": {"requests": init}}]
    spec = {"containers": containers, "initContainers": before, "overhead": overhead or {}}
    return obj({"kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": spec})


class TestExactSums:
    def test_sums_are_rounded_once(self) -> None:
        """Three containers of a tenth of a millicore each request one millicore together."""
        assert exact_sums(made({"cpu": "100u"}, {"cpu": "100u"}, {"cpu": "100u"}), {}) == {"cpu": 1}

    def test_init_containers_and_overhead(self) -> None:
        """An init container that requests more raises the sum, and overhead is added."""
        found = exact_sums(made({"cpu": "1"}, {"cpu": "1"}, init={"cpu": "3", "memory": "5"}, overhead={"cpu": "250m"}), {})
        assert found == {"cpu": 3250, "memory": 5}

    def test_explicit_zeros_stay(self) -> None:
        """A zero scalar is a request, and unknown names are none."""
        assert exact_sums(made({"example.com/x": "0", "pods": "1", "foo": "1"}), {}) == {"example.com/x": 0}


class TestDefaults:
    def test_absent_requests_only(self) -> None:
        """An absent request counts with the default, an explicit zero does not."""
        assert exact_sums_with_defaults(made({"cpu": "0"}, {}), {}) == {"cpu": 100, "memory": 2 * MEBI200}

    def test_init_containers_have_them_too(self) -> None:
        """An init container without requests counts with the defaults."""
        assert exact_sums_with_defaults(made({"cpu": "10m", "memory": "1"}, init={}), {}) == {"cpu": 100, "memory": MEBI200}

    def test_on_a_node_each_container_is_rounded(self) -> None:
        """What a pod counts on its node is rounded container by container."""
        assert nonzero_with_any_overhead(made({"cpu": "100u"}, {"cpu": "100u"}, overhead={"cpu": "1"}), {})["cpu"] == 1002


class TestZoneKey:
    @pytest.mark.parametrize(
        ("labels", "key"),
        [
            ({}, ""),
            ({"topology.kubernetes.io/zone": "z"}, ":\x00:z"),
            ({"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"}, ":\x00:old"),
            ({"failure-domain.beta.kubernetes.io/zone": "", "topology.kubernetes.io/zone": "z"}, ""),
            ({"topology.kubernetes.io/region": "r", "failure-domain.beta.kubernetes.io/zone": "z"}, "r:\x00:z"),
        ],
    )
    def test_beta_labels_win(self, labels: dict[str, str], key: str) -> None:
        """A beta label wins over the newer one, even if it is empty."""
        assert zone_key(labels) == key
