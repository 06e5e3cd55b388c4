"""The answers of ``simulate``: the verdict, a chart of many nodes, and CSV of every field."""

import pytest
import yaml

from kubeclassic.questions.simulate.ask import FEW, verdict
from kubeclassic.questions.simulate.pods import POD_COLUMNS, PodRecord, ScoredPod, UnplacedPods
from kubeclassic.simulation.nodesbyuse import Summary
from kubeclassic.simulation.reasons import about, phrase
from tests.conftest import ROOT
from tests.support.manifests import dumped, manifest
from tests.support.pages import with_page
from tests.support.program import ran


@pytest.mark.parametrize(
    "counts, reasons, said",
    [
        ("pods: 0", [], "No pod is pending."),
        ("{pods: 1, placed: 1}", [], "The pod finds a node."),
        ("{pods: 3, placed: 3, evicted: 1}", [], "All 3 pods find a node; 1 pod is evicted to make room."),
        ("{pods: 3, placed: 2, gated: 1}", [], "2 of 3 pods find a node."),
        ("{pods: 1, unschedulable: 1}", [("Insufficient cpu", 1)], "a/0 finds no node, because of cpu."),
        (
            "{pods: 8, placed: 1, waiting: 1, unschedulable: 6}",
            [
                ("Insufficient cpu", 3),
                ("node(s) had taint {a: b}", 1),
                ("node(s) had taint {c: d}", 1),
                ("odd", 1),
            ],
            "2 of 8 pods find a node; 6 do not: 3 for cpu, 2 for taints, 1 for odd.",
        ),
    ],
)
def test_verdict(counts, reasons, said):
    """One sentence: how many find a node, what the others lack, who has to leave."""
    nothing = dict.fromkeys(Summary.__struct_fields__, 0) | {"ignored": {}, "resources": ()}
    groups = tuple(UnplacedPods(reason, tuple(f"a/{at}" for at in range(count))) for reason, count in reasons)
    summary = Summary(**nothing | yaml.safe_load(counts))
    found = verdict(summary, groups)
    assert str(found) == said


def test_reasons():
    """A reason is told by what it is about."""
    assert phrase(about("Too many pods"), 1) == "the number of pods"
    assert phrase(about("cannot allocate all claims"), 2) == "devices for their claims"


def test_many_nodes_have_a_chart(tmp_path):
    """For more than a few nodes a chart shows how many are how full."""
    has = {"allocatable": {"cpu": "4", "pods": "10"}}
    nodes = [manifest("Node", f"n{at}", status=has) for at in range(FEW + 1)]
    containers = yaml.safe_load("[{name: c, resources: {requests: {cpu: '1'}}}]")
    pod = manifest("Pod", "web", spec={"containers": containers})
    (tmp_path / "many.json").write_text(dumped([*nodes, pod]))
    html, _ = with_page(tmp_path, "simulate", tmp_path / "many.json", "--nodes")
    assert "Nodes by use of cpu" in html


def test_csv_has_each_field_once():
    """Requests are a column for each resource, and none for all of them; what has a column in tables is a
    field."""
    names = (
        ran("simulate", str(ROOT / "examples" / "cluster"), "-o", "csv", status=(0, 1))
        .out.splitlines()[0]
        .split(",")
    )
    fields = PodRecord.__struct_encode_fields__
    assert [name for name in names if "." not in name] == [name for name in fields if name != "requests"]
    assert {"requests.cpu", "requests.memory"} <= set(names)
    assert {column.name for column in POD_COLUMNS} - set(ScoredPod.__struct_fields__) == {
        "reason",
        "decision",
    }
