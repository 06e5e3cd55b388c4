"""Looking at a pod's own cycle: its nomination is away, and comes back as it was."""

from __future__ import annotations

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.cluster.nominations import Nominations
from tests.support.build import pod


@pytest.mark.parametrize("release", RELEASES)
def test_the_order_stays(release: str) -> None:
    """Within the context the pod has no nomination; after it the node's list is in its old order."""
    nominations = Nominations(RELEASES[release].nominations)
    pods = [pod(name, metadata={"uid": name}, status={"nominatedNodeName": "a"}) for name in "pqr"]
    for item in pods:
        nominations.add(item)
    with nominations.without(pods[0]):
        assert [item.name for item in nominations.on("a")] == ["q", "r"]
        assert nominations.node_of(pods[0]) == ""
    assert [item.name for item in nominations.on("a")] == ["p", "q", "r"]
    assert nominations.node_of(pods[0]) == "a"
