"""Two schedulers side by side: what misled users of ``kubeclassic compare``."""

import csv
import io
from html import unescape

import pytest
import yaml

from kubeclassic.cli.report.tables import write_view
from kubeclassic.questions.compare.ask import CompareResult
from kubeclassic.questions.compare.comparison import compare
from kubeclassic.simulation.conform import engine_for
from tests.conftest import CLUSTER
from tests.support.build import dumped, manifest, node, pod, policy_of, scenario
from tests.support.pages import page_of
from tests.support.program import ran

RULES = """
from kubeclassic.rules import CATALOGUE, priority

@priority.each_node("ByName")
def by_name(pod, nodes, i, cycle):
    return 10 if nodes.name(i) == "b" else 0

MINE = CATALOGUE.with_(by_name, weight=1000000)
"""


def weighing(name, weight):
    """A scheduler of 1.16 with one priority."""
    rules = {"predicates": [{"name": "PodFitsResources"}], "priorities": [{"name": name, "weight": weight}]}
    return engine_for("1.16", {"policy": policy_of(**rules)})


def compared(objects, engines, **options):
    """The result of a comparison."""
    return CompareResult.of(compare(objects, engines, **options))


def text_of(found):
    """The output of ``-o table``."""
    stream = io.StringIO()
    write_view(found.view(), stream)
    return stream.getvalue()


def gated():
    """A pod with a scheduling gate beside one without, in a release that knows gates and in one that does
    not."""
    objects = scenario(node("n"), pod("held", schedulingGates=[{"name": "later"}]), pod("free"))
    return compared(objects, {"a": engine_for("1.16", {}), "b": engine_for("1.27", {})})


def falling_out(mode):
    """Two pods on two nodes, where one side packs and the other spreads."""
    there = pod("there", on="a", requests={"cpu": 2, "memory": "16Gi"})
    objects = scenario(node("a"), node("b"), there, pod("p"), pod("q"))
    return compared(
        objects,
        {"a": weighing("LeastRequestedPriority", 1), "b": weighing("MostRequestedPriority", 5)},
        mode=mode,
    )


def sampled():
    """More nodes than a sampling scheduler looks at; the best comes last."""
    full = [pod(f"p{i:03}", on=f"n{i:03}", cpu=3) for i in range(199)]
    return scenario(*(node(f"n{i:03}") for i in range(200)), *full, pod("p", cpu=1))


def test_free_mode_names_the_first_difference():
    """In mode free the verdict is followed by the first pod on which the two differ, as later ones can
    follow from it."""
    found = falling_out("free")
    assert len(found.differences) == 2
    lines = text_of(found).splitlines()
    assert lines[0] == "The same pods find a place under a and b, 2 of them on another node."
    assert lines[1] == "free: 2 pods, 2 decisions; the first decision that differs:"
    assert lines[2].startswith("  default/p (decision 0): b in a, a in b; different: ")
    more = "1 more decision differs; each side has its own cluster, so that can follow from the first; --mode locked rules it out"
    assert lines[3] == more
    assert "default/p (decision 0): b in a, a in b; different: " in unescape(page_of(found))
    first = found.document.against[0].first_difference
    assert first.pod == found.differences[0].pod


# --- Why ----------------------------------------------------------------------------------------------------


def test_sampling_suggests_to_look_at_all_nodes():
    """Where the two look at different shares of the nodes, every form that people read suggests
    percentage=100."""
    engines = {
        "a": engine_for("1.16", {"percentageOfNodesToScore": 100}),
        "b": engine_for("1.16", {"percentageOfNodesToScore": 50}),
    }
    found = compared(sampled(), engines)
    assert [cause.kind for cause in found.document.against[0].causes] == ["sampling"]
    for text in (text_of(found), page_of(found)):
        assert "with percentage=100 in both configurations" in text
    assert "percentage=100" not in text_of(falling_out("locked"))


def test_weighted_beside_weighted():
    """A weighted difference is told beside the weighted maximum, never as 350 of 100."""
    (first, _) = falling_out("locked").differences
    told = "b prefers a to b by 25 of 50 points; a prefers b to a by 5 of 10 points"
    assert first.causes["b"].text == told


def test_a_gated_pod_is_an_outcome_and_no_error():
    """A pod that one side does not try for its gates is counted as gated: not as an error, and not as
    placed by the other alone."""
    result = gated()
    record = result.record()
    (against,), (difference,) = record["against"], record["differences"]
    cause = difference["causes"]["b"]
    assert (cause["verdict"], cause["kind"], cause["side"]) == ("gated", "gated", "b")
    assert (against["agreement"]["gated"], against["agreement"]["different"]) == (1, 0)
    assert (against["gated"], against["firstAlone"]) == (
        [{"pod": "default/held", "first": "n", "second": None}],
        [],
    )
    text = text_of(result)
    assert "gated           0   1" in text
    assert "<gated>" in text
    assert "error" not in text
    assert "1 pod is gated by 1.16 or 1.27, and placed by the other one" in text
    assert "gated" in page_of(result)


# --- Configurations -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(workdir):
    """A folder to work in, with a cluster and rules."""
    items = [manifest("Node", name, status={"allocatable": {"cpu": "4", "pods": "9"}}) for name in "ab"]
    waiting = manifest("Pod", "p", spec=yaml.safe_load("{containers: [{name: c, image: i}]}"))
    (workdir / "cluster.json").write_text(dumped([*items, waiting]))
    (workdir / "rules_of_one_side.py").write_text(RULES)
    return workdir


def test_each_side_can_have_rules_of_its_own(folder):
    """The key rules gives one side a user's own rules."""
    arguments = ["--a", "release=1.16", "--b", "release=1.16 rules=rules_of_one_side:MINE", "-o", "json"]
    (found,) = ran("compare", "cluster.json", *arguments, status=1).document["differences"]
    assert (found["decisions"]["a"]["host"], found["decisions"]["b"]["host"]) == ("a", "b")
    assert found["causes"]["b"]["rule"] == "ByName"


def test_csv_has_a_line_for_each_difference():
    """``-o csv`` has a line for each decision that differs, with the names of ``-o json``."""
    sides = ["--a", "release=1.12", "--b", "release=1.27", "--c", "release=1.16"]
    record = ran("compare", CLUSTER, *sides, "-o", "json", status=1).document
    lines = list(csv.DictReader(io.StringIO(ran("compare", CLUSTER, *sides, "-o", "csv", status=1).out)))
    wanted = [
        (found["pod"], name, cause["rule"] or "")
        for found in record["differences"]
        for name, cause in found["causes"].items()
    ]
    assert [(line["pod"], line["second"], line["rule"]) for line in lines] == wanted
    assert ran("compare", CLUSTER, "--a", "1.15", "--b", "1.15", "-o", "csv").out == ",".join(lines[0]) + "\n"
