"""1.16 against 1.27 on the openb trace: the comparison's numbers are those of the original schedulers' answers, and the page's too."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import attrs
import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.cli.report.questions.comparisonpage import comparison_html
from kubeclassic.questions.compare import CompareResult
from kubeclassic.simulation.compare.agreement import FREE, LOCKED
from kubeclassic.simulation.compare.compare import compare
from kubeclassic.simulation.conform import engine_for
from kubeclassic.simulation.scenario import Scenario
from kubeclassic.simulation.traces.openb import manifests
from tests.support.pages import assert_told, numbers_of_page, table_of_page

PAIR = {"a": "1.16", "b": "1.27"}
SOME, MORE = 1500, 4000
"""How many pods: in locked mode; in free mode, where by then some fit on either side alone, and some nowhere."""


@pytest.fixture(scope="module")
def trace(shared: Path) -> Scenario:
    """The whole trace."""
    data = shared / "data" / "openb"
    items = manifests(data / "openb_node_list_all_node.csv", data / "openb_pod_list_gpuspec33.csv")["items"]
    objects = [item for document in items if (item := decode(document)) is not None]
    pods = tuple(item for item in objects if isinstance(item, Pod))
    return Scenario(tuple(item for item in objects if not isinstance(item, Pod)), pods)


@pytest.fixture(scope="module")
def answers(shared: Path) -> dict[str, dict[str, str | None]]:
    """Release -> pod -> where the original scheduler put it."""
    found = json.loads(gzip.decompress((shared / "conformance" / "openb" / "hosts.json.gz").read_bytes()))
    pods = [f"openb/{name}" for name in found["pods"]]
    return {release: dict(zip(pods, hosts, strict=True)) for release, hosts in found["hosts"].items()}


def compared(scenario: Scenario, mode: str) -> CompareResult:
    """The two releases, all nodes looked at."""
    made = {name: engine_for(release, {"percentageOfNodesToScore": 100}) for name, release in PAIR.items()}
    return CompareResult.of(compare(scenario, made, mode=mode))


def test_free(trace: Scenario, answers: dict[str, dict[str, str | None]]) -> None:
    """In free mode each side decides as its original, so that who lands elsewhere is who did so for the originals; the page says so."""
    found = compared(attrs.evolve(trace, pending=trace.pending[:MORE]), FREE)
    record = found.record()
    (against,) = record["against"]
    original = {release: dict(list(found.items())[:MORE]) for release, found in answers.items()}
    for configuration in record["configurations"]:
        assert configuration["hosts"] == original[PAIR[configuration["name"]]]
        assert configuration["summary"]["placed"] == sum(host is not None for host in configuration["hosts"].values())
    pairs = {pod: (original["1.16"][pod], original["1.27"][pod]) for pod in original["1.16"]}
    assert against["alike"] == sum(first == second for first, second in pairs.values())
    wanted = {"elsewhere": (True, True), "firstAlone": (True, False), "secondAlone": (False, True)}
    for name, placed in wanted.items():
        unlike = [pod for pod, hosts in pairs.items() if hosts[0] != hosts[1] and tuple(host is not None for host in hosts) == placed]
        assert [moved["pod"] for moved in against[name]] == unlike != []
    html = comparison_html(found)
    assert len(html) < 2_000_000
    assert html.count("<tr") < 250
    assert_told(html, record)
    paths = {told.path for told in numbers_of_page(html)}
    assert {"against.0.alike", "against.0.elsewhere.length", "against.0.firstAlone.length", "against.0.agreement.different"} <= paths
    losing = [row["pod"] for row in table_of_page(html, "lost") if row["change"] == "no longer fits"]
    assert losing == [moved["pod"] for moved in against["firstAlone"]]
    assert sum(reason["pods"] for reason in against["lost"]["reasons"]) == len(losing)


def test_locked(trace: Scenario, answers: dict[str, dict[str, str | None]]) -> None:
    """In locked mode the first side decides as its original, and the verdicts and causes add up to all decisions."""
    record = compared(attrs.evolve(trace, pending=trace.pending[:SOME]), LOCKED).record()
    (against,) = record["against"]
    assert record["configurations"][0]["hosts"] == dict(list(answers["1.16"].items())[:SOME])
    agreement = against["agreement"]
    verdicts = Counter(difference["causes"]["b"]["verdict"] for difference in record["differences"])
    assert agreement["same"] == against["alike"] == SOME - len(record["differences"])
    assert (agreement["equallyGood"], agreement["different"]) == (verdicts["equally good"], verdicts["different"])
    assert agreement["sameFeasible"] == SOME
    assert agreement["sameBest"] <= agreement["bestWithin"] <= agreement["same"] + agreement["equallyGood"]
