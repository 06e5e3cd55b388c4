"""Which zone a node is in, in the releases of the framework."""

import pytest

from kubeclassic.algorithmprovider.cells import zone_key


class TestZoneKey:
    @pytest.mark.parametrize(
        ("labels", "key"),
        [
            ({}, ""),
            ({"topology.kubernetes.io/zone": "z"}, ":\x00:z"),
            (
                {"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"},
                ":\x00:old",
            ),
            ({"failure-domain.beta.kubernetes.io/zone": "", "topology.kubernetes.io/zone": "z"}, ""),
            (
                {"topology.kubernetes.io/region": "r", "failure-domain.beta.kubernetes.io/zone": "z"},
                "r:\x00:z",
            ),
        ],
    )
    def test_beta_labels_win(self, labels, key):
        """A beta label wins over the newer one, even if it is empty."""
        assert zone_key(labels) == key
