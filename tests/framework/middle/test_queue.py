"""The queue of 1.17 to 1.26."""

from __future__ import annotations

import pytest

from kubeclassic.framework.releases import ALL_RELEASES


@pytest.mark.parametrize(("release", "seconds"), [("1.16", 60), ("1.17", 60), ("1.23", 60), ("1.24", 300), ("1.27", 300)])
def test_how_long_a_pod_is_parked(release: str, seconds: float) -> None:
    """A pod that fits nowhere is tried again after a minute in any case, from 1.24 on after five."""
    assert ALL_RELEASES[release].queue.parked_at_most == seconds
