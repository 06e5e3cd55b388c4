"""What counts of KUBE_MAX_PD_VOLS."""

import pytest

from kubeclassic.algorithmprovider.config import MAX_PD_VOLS, ignored_limit, max_pd_vols

MOST = 2**63 - 1


class TestTheLimit:
    @pytest.mark.parametrize(
        ("written", "limit"), [("5", 5), ("+5", 5), ("0005", 5), (str(MOST), MOST), ("0" * 5000 + "7", 7)]
    )
    def test_a_whole_number(self, written, limit):
        """A whole number above 0 of 64 bits counts."""
        assert max_pd_vols({MAX_PD_VOLS: written}) == limit
        assert ignored_limit({MAX_PD_VOLS: written}) is None

    @pytest.mark.parametrize(
        "written", ["0", "-1", "x", "1.5", " 5", "5\n", "1_000", "\u0665", str(MOST + 1), "9" * 5000]
    )
    def test_anything_else(self, written):
        """Anything else is ignored, and a line says so."""
        assert max_pd_vols({MAX_PD_VOLS: written}) is None
        told = ignored_limit({MAX_PD_VOLS: written})
        assert told is not None
        assert "expected a whole number above 0" in told
        assert len(told) < 200

    def test_nothing(self):
        """Where nothing is set, nothing is said."""
        assert max_pd_vols({}) is ignored_limit({}) is ignored_limit({MAX_PD_VOLS: ""}) is None
