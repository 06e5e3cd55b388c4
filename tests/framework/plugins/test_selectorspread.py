"""SelectorSpread: peers by service and controller, by node and zone."""

import pytest

from kubeclassic.simulation.conform import engine_for
from kubeclassic.simulation.simulate import Scenario, Simulation
from tests.support.build import manifest, node, obj, pod

ZONE = "topology.kubernetes.io/zone"
NODES = (
    node("x", labels={ZONE: "1"}),
    node("y", labels={ZONE: "1"}),
    node("z", labels={ZONE: "2"}),
    node("bare"),
)
SERVICE = obj(manifest("Service", "s", namespace="default", spec={"selector": {"app": "a"}}))


def peer(name, on="", **more):
    return pod(name, on=on, app="a", **more)


@pytest.mark.parametrize("release", ["1.17", "1.18", "1.19", "1.20", "1.21"])
def test_hosts_are_read_off(release):
    """Hosts are read off boards, and are those of whole cycles, while peers come and constraints leave
    some pods out."""
    own = [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}]
    waiting = tuple(
        pod(f"p{number}", app="b")
        if number % 5 == 3
        else peer(f"p{number}", topologySpreadConstraints=own)
        if number % 7 == 5
        else peer(f"p{number}")
        for number in range(40)
    )
    scenario = Scenario((*NODES, SERVICE, peer("there", "x")), waiting)
    quick, whole = (
        Simulation(scenario, engine_for(release, {}), details=details) for details in (False, True)
    )
    assert [one.host for one in quick.decisions()] == [one.host for one in whole.decisions()]
    (path,) = quick.engine.flow.quick_paths.values()
    constrained = sum(bool(one.spec.topology_spread_constraints) for one in waiting)
    assert path.taken >= len(waiting) - constrained
    assert path.detours.total() <= constrained
