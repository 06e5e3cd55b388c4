"""The openb trace: how many of its 1,523 nodes can go, and a replay of the whole plan."""

import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.api.record import plain
from kubeclassic.questions.drain.options import DrainOptions
from kubeclassic.questions.drain.plan import nodes_asked, planned
from kubeclassic.questions.drain.trial import settle
from kubeclassic.simulation.evictions import DrainFlags
from kubeclassic.simulation.input import scenario_of, spec_of
from kubeclassic.traces import import_openb
from tests.support.drainbuild import replayed

AUTO = DrainOptions(auto=True)


@pytest.fixture(scope="module")
def trace(shared):
    """The whole trace, with its pods placed."""
    data = shared / "data" / "openb"
    cluster = import_openb(
        data / "openb_node_list_all_node.csv", data / "openb_pod_list_default.csv"
    ).cluster()
    spec = spec_of("1.16")
    scenario = scenario_of(cluster, scheduler_names=spec.scheduler_names)
    return settle(scenario, lambda: spec.engine(scenario.config_maps), spec.scheduler_names)


def test_so_many_nodes_can_go(trace, root):
    """The numbers are those of docs/guides/drain.md, and a scheduler that knows no drains empties the same
    nodes in the same way."""
    answer, _ = planned(AUTO, nodes_asked(AUTO, trace.nodes), trace, DrainFlags(recreate_bare=True))
    assert (trace.placed, len(answer.can), len(answer.moves), answer.summary.rounds) == (7919, 418, 625, 305)
    page = " ".join((root / "docs" / "guides" / "drain.md").read_text().split())
    assert "Then 418 of the 1,523 nodes can go together: 625 pods move in 305 rounds." in page
    after = replayed(list(trace.objects), "1.16", plain(answer))
    gone = set(answer.can)
    assert [pod.key for pod in after.pods if pod.spec.node_name in gone] == []
    assert sum(bool(pod.spec.node_name) for pod in after.pods) == sum(
        isinstance(item, Pod) for item in trace.objects
    )


def test_bare_pods_keep_their_nodes(trace):
    """Without a flag for bare pods only nodes without pods can go, at once."""
    answer, evictions = planned(AUTO, nodes_asked(AUTO, trace.nodes), trace, DrainFlags())
    used = {item.spec.node_name for item in trace.objects if isinstance(item, Pod)}
    assert set(answer.can) == {node.name for node in trace.nodes} - used
    assert evictions == ()
