"""The page of ``replay``: each of its numbers is in the events, the summary or the series that the command
writes."""

import csv
import json
import re
from collections import Counter
from itertools import pairwise

import attrs
import pytest
import yaml

from kubeclassic.cli import run
from kubeclassic.questions.replay.ask import ReplayResult
from kubeclassic.questions.replay.journal import ReplaySummary
from kubeclassic.questions.replay.recording import ROWS, ThinnedSeries
from tests.conftest import ROOT
from tests.support.pages import data_of_page
from tests.support.program import ran

WAITING = """
- {opcode: createNodes, count: 2, nodeTemplate: {status: {allocatable: {cpu: 2, pods: 10}}}}
- {opcode: createPods, count: 5, namespace: big, skipWaitToCompletion: true,
   template: {kind: Pod, metadata: {name: large}, spec: {containers: [{name: c, resources: {requests: {cpu: "1500m"}}}]}}}
- {opcode: sleep, duration: 90s}
"""
"""Three of five pods find no room."""


@attrs.frozen
class Played:
    """The output of a replay."""

    html: str
    events: list
    rows: list

    @property
    def record(self):
        """The summary, counts of events, and the series as the page has them: some rows, by column, with the
        share in use."""
        thinned = ThinnedSeries()
        for row in self.rows:
            thinned.last = [*row.values()]
            thinned.add(lambda: thinned.last)
        columns = {name: [row[at] for row in thinned.kept()] for at, name in enumerate(self.rows[0])}
        for name in [name.removesuffix(".used") for name in columns if name.endswith(".used")]:
            pairs = zip(columns[f"{name}.used"], columns[f"{name}.capacity"], strict=True)
            columns[f"{name}.use"] = [used / capacity if capacity else 0 for used, capacity in pairs]
        return {
            "summary": self.events[-1],
            "events": Counter(event["event"] for event in self.events),
            "series": columns,
        }


def _read(file):
    with file.open(newline="") as stream:
        return [
            {name: float(value) if "." in value else int(value) for name, value in row.items()}
            for row in csv.DictReader(stream)
        ]


@pytest.fixture(scope="module", params=["day", "waiting"])
def played(request, tmp_path_factory):
    """The example's day, and a cluster that is too small."""
    folder = tmp_path_factory.mktemp("replay")
    (folder / "waiting.yaml").write_text(WAITING)
    given = str(ROOT / "examples" / "day.yaml") if request.param == "day" else str(folder / "waiting.yaml")
    html, events, series = (folder / name for name in ("page.html", "events.jsonl", "series.csv"))
    status = run(["replay", given, "--output", str(events), "--series", str(series), "--report", str(html)])
    assert status == (0 if request.param == "day" else 1)
    return Played(
        html.read_text(), [json.loads(line) for line in events.read_text().splitlines()], _read(series)
    )


def test_reasons_of_pods_that_wait(played):
    """Pods that still wait are counted by reason."""
    section = played.html.partition('id="who-still-waits-and-why"')[2].partition("</section>")[0]
    counts = [int(count) for count in re.findall(r"<div>(\d+)</div>", section)]
    assert sum(counts) == played.events[-1]["stillWaiting"]
    assert ("Insufficient cpu" in section) is bool(counts)


def test_map(played):
    """The map has each node; at the end it is as full as the series' last row says, with the pods that
    are there then."""
    found = data_of_page(played.html)["map-data"]
    assert found["nodes"] == [event["node"] for event in played.events if event["event"] == "NodeAdded"]
    last = found["sides"][-1]
    assert sum(map(len, last["pods"])) == played.rows[-1]["running"]
    capacity = [value for value in last["uses"]["cpu"] if value >= 0]
    assert sum(capacity) / len(capacity) == pytest.approx(
        1000 * played.rows[-1]["cpu.used"] / played.rows[-1]["cpu.capacity"], abs=1
    )


def _result(*, is_over=True, **values):
    """A replay that came to these counts."""
    usual = {"warnings": (), "waits": {"max": 2.5}, "mean_use": {}, "arrived": 5}
    counts = dict.fromkeys(ReplaySummary.__struct_fields__, 0) | usual | values
    return ReplayResult("1.16", ReplaySummary(**counts), is_over=is_over)


@pytest.mark.parametrize(
    "values, said",
    [
        ("{}", "All 5 pods got a node; the longest wait was 2.5 s."),
        ("waits: {max: 0}", "All 5 pods got a node, none had to wait."),
        ("{arrived: 0, waits: {}}", "No pod came."),
        (
            "{arrived: 1, waits: {max: 0}, evicted: 1}",
            "The pod got a node, none had to wait; 1 pod had to leave its node.",
        ),
        ("{still_waiting: 1, waits: {}}", "1 of 5 pods still waits for a node."),
        (
            "{still_waiting: 2, never_scheduled: 1, evicted: 3}",
            "2 of 5 pods still wait for a node, 1 left without ever having one; the longest wait was 2.5 s; 3 times a pod had to leave its"
            " node.",
        ),
        ("never_scheduled: 2", "2 of 5 pods left without ever having a node; the longest wait was 2.5 s."),
    ],
)
def test_verdict(values, said):
    """The verdict names the number of waiting pods, their waits, and evictions."""
    values = yaml.safe_load(values)
    found = _result(**values)
    assert str(found.view().verdict) == said
    assert str(_result(**values, is_over=False).view().verdict) == f"Interrupted: {said}"


def test_rows_are_thinned():
    """Many rows are thinned; those kept are in order, with the first and the last among them."""
    thinned = ThinnedSeries()
    made = []
    for time in range(12_345):
        thinned.add(lambda time=time: made.append(time) or [time])
    thinned.last = [12_344]
    kept = [time for (time,) in thinned.kept()]
    assert ROWS <= len(kept) <= 2 * ROWS + 1
    assert (kept[0], kept[-1]) == (0, 12_344)
    assert len({later - earlier for earlier, later in pairwise(kept[:-1])}) == 1
    assert len(made) < 8 * ROWS < 12_345  # a row that is not kept is not made
    assert ThinnedSeries().kept() == []  # of a replay that was interrupted at once


def test_the_events_stay_as_they_are(tmp_path):
    """--report changes no event and no row; a page without any time in it is a page too."""
    day = str(ROOT / "examples" / "day.yaml")
    said = ran("replay", day, "--report", tmp_path / "page.html").out
    ran("replay", day, "--output", tmp_path / "events")
    assert said == (tmp_path / "events").read_text()
    (tmp_path / "none.yaml").write_text(
        "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 2, pods: 9}}\n"
    )
    assert run(["replay", str(tmp_path / "none.yaml"), "--report", str(tmp_path / "none.html")]) == 0
    html = (tmp_path / "none.html").read_text()
    assert "No pod came." in html


def test_resources_that_end_alike(tmp_path):
    """Each of two resources with one short name has its line in the charts."""
    allocatable = "{cpu: 2, pods: 9, nvidia.com/gpu: 2, amd.com/gpu: 2}"
    (tmp_path / "a.yaml").write_text(
        f"kind: Node\nmetadata: {{name: a}}\nstatus: {{allocatable: {allocatable}}}\n---\n"
        "kind: Pod\nmetadata: {name: p, annotations: {kubeclassic/run-time: 10s}}\n"
        "spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1, amd.com/gpu: 1}}}]}\n"
    )
    assert run(["replay", str(tmp_path / "a.yaml"), "--report", str(tmp_path / "a.html")]) == 0
    charts = (tmp_path / "a.html").read_text().partition('id="over-time"')[2].partition("</section>")[0]
    assert "nvidia.com/gpu" in charts
    assert "amd.com/gpu" in charts


def test_places_are_checked_first(tmp_path):
    """A page that cannot be written is refused before anything runs."""
    out, err = ran(
        "replay",
        str(ROOT / "examples" / "day.yaml"),
        "--report",
        str(tmp_path / "no" / "page.html"),
        status=2,
    )
    assert (out, "cannot be written" in err) == ("", True)
