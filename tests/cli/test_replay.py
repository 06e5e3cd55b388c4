"""``kubeclassic replay``: results, exit statuses, stopping and going on, and one line for bad input."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kubeclassic import cli
from kubeclassic.cli import run
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK
from kubeclassic.simulation.replay.checkpoint import load
from tests.support.program import ran
from tests.support.replaybuild import BUSY

TWO = ["1.15", DEFAULT_FRAMEWORK]
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
        words = ("PATHS, in any combination", "Exit status 0", "--checkpoint", "kubeclassic replay scenario.yaml")
        assert all(word in told for word in words)


def arguments(name: str, *options: str) -> list[str]:
    """A replay of the busy scenario, by the first of two releases unless told otherwise."""
    output = ["--output", f"{name}.jsonl", "--series", f"{name}.csv", "--checkpoint", f"{name}.state"]
    return ["replay", "busy.yaml", "--release", TWO[0], "--seed", "4", *output, *options]


def command(name: str, *options: str) -> list[str]:
    """The same in its own process."""
    program = "import sys, tests_path; from kubeclassic.cli import main; main(sys.argv[1:])"
    return [sys.executable, "-c", program, *arguments(name, *options)]


@pytest.fixture
def busy(folder: Path) -> dict[str, str]:
    """A folder with a busy scenario, and the environment for processes there, which find the package wherever it is."""
    (folder / "busy.yaml").write_text(BUSY.replace("count: 25", "count: 50"))
    (folder / "tests_path.py").write_text(
        "import importlib.util, pathlib, sys\n"
        f"root = pathlib.Path({str(PACKAGE)!r})\n"
        "spec = importlib.util.spec_from_file_location('kubeclassic', root / '__init__.py', submodule_search_locations=[str(root)])\n"
        "sys.modules['kubeclassic'] = module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
    )
    return dict(os.environ, PYTHONPATH=str(folder))


def finish(folder: Path, environment: dict[str, str], name: str, *options: str) -> list[bytes]:
    """Let a run come to its end: its results."""
    done = subprocess.run(command(name, *options), env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    return results(folder, name)


def results(folder: Path, name: str) -> list[bytes]:
    """What a run wrote."""
    return [(folder / f"{name}.{kind}").read_bytes() for kind in ("jsonl", "csv")]


class TestStoppingAndGoingOn:
    def test_killed_at_any_moment(self, folder: Path, busy: dict[str, str]) -> None:
        """Killed again and again, while a checkpoint is written too, and resumed: the bytes of a run that was left alone."""
        options = ["--release", DEFAULT_FRAMEWORK, "--binding-delay", "1"]
        wanted = finish(folder, dict(busy, PYTHONHASHSEED="1"), "whole", *options)
        draw = random.Random(7)
        size, part, draw = len(wanted[0]), folder / "killed.state.part", random.Random(7)
        for number in (1, 3):
            part.unlink(missing_ok=True)
            process = subprocess.Popen(
                command("killed", *options, "--checkpoint-every", "40", "--resume"), env=dict(busy, PYTHONHASHSEED=str(number)),
                cwd=folder, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            self._wait(process, folder / "killed.jsonl", draw.uniform(number, number + 1) / 5 * size, part if number > 1 else None)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL or number > 1
        assert finish(folder, busy, "killed", *options, "--checkpoint-every", "40", "--resume") == wanted

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], events: Path, size: float, part: Path | None) -> None:
        """Until *events* has that many bytes, and then until a checkpoint is half written, if *part* is where that would be."""
        while process.poll() is None and not (events.exists() and events.stat().st_size >= size):
            time.sleep(0.001)
        while process.poll() is None and part is not None and not part.exists():
            pass

    def test_an_interrupt_stops_cleanly(self, folder: Path, busy: dict[str, str]) -> None:
        """Ctrl-C ends a run after the step that is under way, with whole lines and a checkpoint, from which it can go on."""
        wanted = finish(folder, busy, "whole")
        process = subprocess.Popen(command("stopped", "--checkpoint-every", "10"), env=busy, cwd=folder, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (folder / "stopped.state").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "interrupted: --resume continues from here" in err
        assert (folder / "stopped.jsonl").read_bytes().endswith(b"\n")
        assert finish(folder, busy, "stopped", "--resume") == wanted

    def test_going_on_after_the_last_second(self, folder: Path, busy: dict[str, str]) -> None:
        """What --until ended can be gone on with, further or to the end, as if it had never been there."""
        run(arguments("whole"))
        for until in ("10", "100.5", "2h"):
            run(arguments("bit", "--resume", "--until", until))
            assert results(folder, "bit") != results(folder, "whole")
        run(arguments("bit", "--resume"))
        assert results(folder, "bit") == results(folder, "whole")


@pytest.mark.parametrize(("line", "message"), [
    ("good.yaml --output e --checkpoint state --resume --seed 9", "state: made with --seed 0, got 9"),
    ("good.yaml two.yaml --output e --checkpoint state --resume", "state: made with other inputs: their bytes differ"),
])  # fmt: skip
def test_another_replay_does_not_go_on(folder: Path, line: str, message: str) -> None:
    """A checkpoint of other options or inputs is refused in one line, with exit status 2."""
    (folder / "good.yaml").write_text(NODE + pod("one"))
    (folder / "two.yaml").write_text(pod("two"))
    assert run(["replay", "good.yaml", "--until", "7", "--output", "e", "--checkpoint", "state"]) == 0
    assert ran("replay", *line.split(), status=2) == ("", f"kubeclassic: {message}\n")


def test_an_event_that_cannot_be(folder: Path) -> None:
    """An event that cannot happen when its time comes ends the replay with exit status 2, and one line with its place."""
    (folder / "good.yaml").write_text(NODE + pod("one"))
    (folder / "fails.jsonl").write_text('{"time": 1, "event": "Fail", "object": {"kind": "Node", "metadata": {"name": "b"}}}\n')
    _, err = ran("replay", "good.yaml", "fails.jsonl", status=2)
    assert err == "kubeclassic: fails.jsonl, document 1: Fail: got b, wanted a node that exists at that time\n"


@pytest.mark.parametrize("every", [None, 2])
def test_an_error_leaves_nothing_half_written(folder: Path, every: int | None) -> None:
    """The files of a replay that an error ends are gone, or as long as the checkpoint needs that goes on from there."""
    (folder / "good.yaml").write_text(NODE + "".join(pod(f"p{number}") for number in range(4)))
    (folder / "fails.jsonl").write_text('{"time": 8, "event": "Fail", "object": {"kind": "Node", "metadata": {"name": "b"}}}\n')
    kept = [] if every is None else ["--checkpoint", "state", "--checkpoint-every", str(every)]
    ran("replay", "good.yaml", "fails.jsonl", "--output", "events", "--series", "rows.csv", *kept, status=2)
    if every is None:
        assert sorted(path.name for path in folder.iterdir()) == ["fails.jsonl", "good.yaml"]
    else:
        files = load(folder / "state").header.files
        assert {"events": (folder / "events").stat().st_size, "series": (folder / "rows.csv").stat().st_size} == {
            name: offset for name, (offset, _) in files.items()
        }
