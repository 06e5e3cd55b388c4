"""What the releases 1.17 to 1.26 are around a decision: locks, ports, configurations and clients, as their sources say."""

from __future__ import annotations

import pytest

from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.live.scheduler.flags import FlagError, read_settings
from kubeclassic.live.settings.configz import componentconfig
from kubeclassic.live.settings.livereleases import LIVE_RELEASES

SOME = ("SchedulerName", "AlgorithmSource", "Parallelism", "DisablePreemption", "BindTimeoutSeconds")


@pytest.mark.parametrize(
    ("release", "lock", "port", "releases"),
    [
        ("1.17", "endpointsleases", 10251, False),
        ("1.20", "leases", 10251, False),
        ("1.22", "leases", 10251, True),
        ("1.23", "leases", 0, True),
    ],
)
def test_defaults(release: str, lock: str, port: int, releases: bool) -> None:
    """The default lock becomes a lease in 1.20, leaders give it back from 1.22 on, and 1.23 serves the secure port alone."""
    cells = LIVE_RELEASES[release]
    assert (cells.leader.default_lock, cells.serving.port, cells.leader.releases) == (lock, port, releases)
    assert cells.serving.secure_port == 10259


def test_locks_that_are_gone() -> None:
    """1.23 can lock endpoints, and 1.24 says what to use instead."""
    found = read_settings({"leader-elect-resource-lock": "endpoints"}, "1.23").election
    assert found is not None
    assert found.kind == "endpoints"
    with pytest.raises(FlagError, match="endpoints lock is removed, migrate to endpointsleases"):
        read_settings({"leader-elect-resource-lock": "endpoints"}, "1.24")


@pytest.mark.parametrize(
    ("release", "fields"),
    [
        ("1.17", {"SchedulerName", "AlgorithmSource", "DisablePreemption", "BindTimeoutSeconds"}),
        ("1.18", {"AlgorithmSource", "DisablePreemption", "BindTimeoutSeconds"}),
        ("1.19", {"AlgorithmSource"}),
        ("1.21", {"AlgorithmSource", "Parallelism"}),
        ("1.22", {"Parallelism"}),
    ],
)
def test_the_configuration_that_is_shown(release: str, fields: set[str]) -> None:
    """It has profiles from 1.18 on, and loses the fields that profiles replace."""
    shown = componentconfig(read_settings({}, release), 0)
    assert set(shown) & set(SOME) == fields
    assert ("Profiles" in shown) is (release != "1.17")


def test_what_clients_list() -> None:
    """Namespaces are listed from 1.22 on, CSIDrivers from 1.21 on, and disruption budgets by their last version from 1.21 on."""
    found = {release: FRAMEWORK_RELEASES[release].client.resources for release in ("1.20", "1.21", "1.22", "1.24")}
    assert ["Namespace" in found[release] for release in found] == [False, False, True, True]
    assert ["CSIDriver" in found[release] for release in found] == [False, True, True, True]
    assert [found[release]["PodDisruptionBudget"] for release in found] == ["policy/v1beta1", *3 * ["policy/v1"]]
    assert found["1.22"]["CSIStorageCapacity"] == "storage.k8s.io/v1beta1"
