"""``kubeclassic replay``: results, exit statuses, an interrupt, and one line for bad input."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubeclassic import cli
from kubeclassic.cli import run
from kubeclassic.simulation.replay.recording import Recording
from tests.support.program import ran, started
from tests.support.replaybuild import BUSY

PACKAGE = Path(cli.__file__).resolve().parent.parent
NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 2, pods: 9}}\n"
POD = """---
kind: Pod
metadata: {name: NAME, annotations: {kubeclassic/creation-time: "5", kubeclassic/run-time: 10s}}
spec: {containers: [{name: c, resources: {requests: {cpu: CPU}}}]}
"""


def pod(name: str, cpu: int = 1) -> str:
    """A pod that comes after 5 seconds and runs for 10."""
    return POD.replace("NAME", name).replace("CPU", str(cpu))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def records(text: str) -> list[dict[str, Any]]:
    """Lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


class TestResults:
    def test_events_and_summary(self, folder: Path) -> None:
        """Events go to standard output as JSON Lines and end with a summary; the summary for people goes to standard error."""
        (folder / "in.yaml").write_text(NODE + pod("one") + pod("two") + pod("three"))
        out, err = ran("replay", "in.yaml", "--release", "1.13", "--cycle-time", "500ms")
        found = records(out)
        assert [record["pod"] for record in found if record["event"] == "Scheduled"] == ["default/one", "default/three", "default/two"]
        assert (found[-1]["event"], found[-1]["scheduled"], found[-1]["waits"]["p50"]) == ("Summary", 3, 0.5)
        assert "3 pods arrived, 3 scheduled, 3 finished, 0 evicted" in err
        assert re.search(r"^p99 +\d", err, re.MULTILINE)

    def test_files(self, folder: Path) -> None:
        """Events and series go to files where these are named."""
        (folder / "in.yaml").write_text(NODE + pod("one"))
        assert ran("replay", "in.yaml", "--output", "e.jsonl", "--series", "s.csv").out == ""
        assert records((folder / "e.jsonl").read_text())[0] == {"time": 5, "event": "Arrived", "pod": "default/one"}
        assert [line.split(",")[0] for line in (folder / "s.csv").read_text().splitlines()] == ["time", "0", "5", "15"]

    def test_parquet(self, folder: Path) -> None:
        """Series go to Parquet where the name says so."""
        parquet = pytest.importorskip("pyarrow.parquet")
        (folder / "in.yaml").write_text(NODE + pod("one"))
        assert run(["replay", "in.yaml", "--output", "e.jsonl", "--series", "s.parquet"]) == 0
        assert parquet.read_table("s.parquet").column("time").to_pylist() == [0, 5, 15]

    @pytest.mark.parametrize(("options", "times"), [([], [5]), (["--compress-time", "10"], [0.5]), (["--ignore-times"], [0])])
    def test_times(self, folder: Path, options: list[str], times: list[float]) -> None:
        """Times can be compressed, and ignored."""
        (folder / "in.yaml").write_text(NODE + pod("one"))
        assert [record["time"] for record in records(ran("replay", "in.yaml", *options).out) if record["event"] == "Arrived"] == times

    def test_until(self, folder: Path) -> None:
        """A replay can be stopped at a virtual time."""
        (folder / "in.yaml").write_text(NODE + pod("one"))
        assert [record["event"] for record in records(ran("replay", "in.yaml", "--until", "2s").out)] == ["Summary"]

    def test_some_never_get_a_node(self, folder: Path) -> None:
        """The exit status is 1 where a pod waits to the end."""
        (folder / "in.yaml").write_text(NODE + pod("one", cpu=3))
        assert "1 pod still waits" in ran("replay", "in.yaml", status=1).err

    def test_help_teaches(self) -> None:
        """The help says what goes in, what comes out, and gives examples."""
        told = ran("replay", "--help-all").out
        words = ("PATHS, in any combination", "Exit status 0", "--until", "kubeclassic replay scenario.yaml")
        assert all(word in told for word in words)


@pytest.mark.whole
def test_an_interrupt_stops_cleanly(folder: Path) -> None:
    """Ctrl-C ends a run after the step that is under way, with whole lines: the first part of what a whole run writes."""
    (folder / "busy.yaml").write_text(BUSY.replace("count: 25", "count: 5000"))
    command = [sys.executable, "-m", "kubeclassic", "replay", "busy.yaml", "--output", "e.jsonl", "--series", "s.csv"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])}
    with started(command, env=environment) as process:
        while process.poll() is None and not (Path("e.jsonl").exists() and Path("e.jsonl").stat().st_size):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.endswith("\ninterrupted\n")) == (130, True), err
    assert all(Path(name).read_bytes().endswith(b"\n") for name in ("e.jsonl", "s.csv"))
    assert records(Path("e.jsonl").read_text())[-1]["event"] != "Summary"


def test_an_event_that_cannot_be(folder: Path) -> None:
    """An event that cannot happen when its time comes ends the replay with exit status 2, and one line with its place."""
    (folder / "good.yaml").write_text(NODE + pod("one"))
    (folder / "fails.jsonl").write_text('{"time": 1, "event": "Fail", "object": {"kind": "Node", "metadata": {"name": "b"}}}\n')
    _, err = ran("replay", "good.yaml", "fails.jsonl", status=2)
    assert err.splitlines()[-1] == "kubeclassic: fails.jsonl, document 1: Fail: got b, wanted a node that exists at that time"


def test_an_error_leaves_nothing_half_written(folder: Path) -> None:
    """The files of a replay that an error ends are gone."""
    (folder / "good.yaml").write_text(NODE + "".join(pod(f"p{number}") for number in range(4)))
    (folder / "fails.jsonl").write_text('{"time": 8, "event": "Fail", "object": {"kind": "Node", "metadata": {"name": "b"}}}\n')
    ran("replay", "good.yaml", "fails.jsonl", "--output", "events", "--series", "rows.csv", status=2)
    assert sorted(path.name for path in folder.iterdir()) == ["fails.jsonl", "good.yaml"]


def test_the_same_seed_gives_the_same_bytes(folder: Path) -> None:
    """A replay up to --until is the first part of the whole one but for its summary, and a second one is the same."""
    (folder / "busy.yaml").write_text(BUSY)
    whole, again = (ran("replay", "busy.yaml", "--seed", "4", status=(0, 1)).out for _ in range(2))
    part = ran("replay", "busy.yaml", "--seed", "4", "--until", "50", status=(0, 1)).out
    assert whole == again
    assert whole.startswith(part[: part.rindex('{"time":')])


def test_an_interrupted_replay_has_no_summary(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an interrupt leaves are the first events of the whole run, and exit status 130."""
    (folder / "in.yaml").write_text(NODE + pod("one") + pod("two"))
    whole = ran("replay", "in.yaml").out
    steps = Recording.run

    def stopping(recording: Recording) -> Iterator[int]:
        for done in steps(recording):
            yield done
            recording.stopped = done == 9

    monkeypatch.setattr(Recording, "run", stopping)
    part, err = ran("replay", "in.yaml", "--output", "e.jsonl", status=130)
    written = (folder / "e.jsonl").read_text()
    assert (part, err.endswith("\ninterrupted\n"), bool(written)) == ("", True, True)
    assert whole.startswith(written)
    assert len(written) < len(whole)
