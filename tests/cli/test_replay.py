"""``kubeclassic replay``: results, exit statuses, an interrupt, and one line for bad input."""

import gzip
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from kubeclassic import cli
from kubeclassic.cli.declaring.setup import NamedSetup
from kubeclassic.exceptions import ManifestError, UnknownNameError
from kubeclassic.questions.replay.inputs import read_inputs
from tests.support.program import ran, started
from tests.support.refusals import refusal_text
from tests.support.replaybuild import BUSY

PACKAGE = Path(cli.__file__).resolve().parent.parent
NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 2, pods: 9}}\n"
POD = """---
kind: Pod
metadata: {name: NAME, annotations: {kubeclassic/creation-time: "5", kubeclassic/run-time: 10s}}
spec: {containers: [{name: c, resources: {requests: {cpu: CPU}}}]}
"""


def pod(name, cpu=1):
    """A pod that comes after 5 seconds and runs for 10."""
    return POD.replace("NAME", name).replace("CPU", str(cpu))


def records(text):
    """Lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


def test_events_and_summary(workdir):
    """Events go to standard output as JSON Lines and end with a summary; the summary for people goes to
    standard error."""
    (workdir / "in.yaml").write_text(NODE + pod("one") + pod("two") + pod("three"))
    out, err = ran("replay", "in.yaml", "--release", "1.13", "--cycle-time", "500ms")
    found = records(out)
    assert [record["pod"] for record in found if record["event"] == "Scheduled"] == [
        "default/one",
        "default/three",
        "default/two",
    ]
    assert (found[-1]["event"], found[-1]["scheduled"], found[-1]["waits"]["p50"]) == ("Summary", 3, 0.5)
    assert "3 pods arrived, 3 scheduled, 3 finished, 0 evicted" in err
    assert re.search(r"^p99 +\d", err, re.MULTILINE)


def test_files(workdir):
    """Events and series go to files where these are named."""
    (workdir / "in.yaml").write_text(NODE + pod("one"))
    assert ran("replay", "in.yaml", "--output", "e.jsonl", "--series", "s.csv").out == ""
    assert records((workdir / "e.jsonl").read_text())[0] == {
        "time": 5,
        "event": "Arrived",
        "pod": "default/one",
    }
    assert [line.split(",")[0] for line in (workdir / "s.csv").read_text().splitlines()] == [
        "time",
        "0",
        "5",
        "15",
    ]


def test_until(workdir):
    """A replay can be stopped at a virtual time."""
    (workdir / "in.yaml").write_text(NODE + pod("one"))
    assert [record["event"] for record in records(ran("replay", "in.yaml", "--until", "2s").out)] == [
        "Summary"
    ]


def test_some_never_get_a_node(workdir):
    """The exit status is 1 where a pod waits to the end."""
    (workdir / "in.yaml").write_text(NODE + pod("one", cpu=3))
    assert "1 pod still waits" in ran("replay", "in.yaml", status=1).err


@pytest.mark.whole
def test_an_interrupt_stops_cleanly(workdir):
    """Ctrl-C ends a run after the step that is under way, with whole lines: the first part of what a whole
    run writes."""
    (workdir / "busy.yaml").write_text(BUSY.replace("count: 25", "count: 5000"))
    command = [
        sys.executable,
        "-m",
        "kubeclassic",
        "replay",
        "busy.yaml",
        "--output",
        "e.jsonl",
        "--series",
        "s.csv",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]),
    }
    with started(command, env=environment) as process:
        while process.poll() is None and not (Path("e.jsonl").exists() and Path("e.jsonl").stat().st_size):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.endswith("\ninterrupted\n")) == (130, True), err
    assert all(Path(name).read_bytes().endswith(b"\n") for name in ("e.jsonl", "s.csv"))
    assert records(Path("e.jsonl").read_text())[-1]["event"] != "Summary"


def test_an_event_that_cannot_be(workdir):
    """An event that cannot happen when its time comes ends the replay with exit status 2, and one line with
    its place."""
    (workdir / "good.yaml").write_text(NODE + pod("one"))
    (workdir / "fails.jsonl").write_text(
        '{"time": 1, "event": "Fail", "object": {"kind": "Node", "metadata": {"name": "b"}}}\n'
    )
    _, err = ran("replay", "good.yaml", "fails.jsonl", status=2)
    assert (
        err.splitlines()[-1]
        == "kubeclassic: fails.jsonl, document 1: Fail: expected a node that exists at that time, got b"
    )


def test_an_error_leaves_nothing_half_written(workdir):
    """The files of a replay that an error ends are gone."""
    (workdir / "good.yaml").write_text(NODE + "".join(pod(f"p{number}") for number in range(4)))
    (workdir / "fails.jsonl").write_text(
        '{"time": 8, "event": "Fail", "object": {"kind": "Node", "metadata": {"name": "b"}}}\n'
    )
    ran("replay", "good.yaml", "fails.jsonl", "--output", "events", "--series", "rows.csv", status=2)
    assert sorted(path.name for path in workdir.iterdir()) == ["fails.jsonl", "good.yaml"]


def test_the_same_seed_gives_the_same_bytes(workdir):
    """A replay up to --until is the first part of the whole one but for its summary, and a second one is the
    same."""
    (workdir / "busy.yaml").write_text(BUSY)
    whole, again = (ran("replay", "busy.yaml", "--seed", "4", status=(0, 1)).out for _ in range(2))
    part = ran("replay", "busy.yaml", "--seed", "4", "--until", "50", status=(0, 1)).out
    assert whole == again
    assert whole.startswith(part[: part.rindex('{"time":')])


# --- places -------------------------------------------------------------------------------------------------


def test_compressed_files(workdir):
    """Files called .gz are compressed."""
    (workdir / "in.yaml").write_text(NODE + pod("one"))
    ran("replay", "in.yaml", "--output", "e.jsonl.gz", "--series", "s.csv.gz")
    assert gzip.decompress((workdir / "e.jsonl.gz").read_bytes()).decode() == ran("replay", "in.yaml").out
    assert gzip.decompress((workdir / "s.csv.gz").read_bytes()).startswith(b"time,pending,")


def test_another_patch_level(workdir):
    """A release is told if it is evaluated as another patch level."""
    (workdir / "in.yaml").write_text(NODE + pod("one"))
    err = ran("replay", "in.yaml", "--release", "1.27.99").err
    assert err.startswith("warning: release 1.27.99 is evaluated as 1.27.14\n")


@pytest.mark.parametrize("option", ["--series", "--output"])
def test_a_full_disk_is_told_with_the_file(workdir, option):
    """What cannot be written is told with its file, even if that is known only at the end."""
    (workdir / "in.yaml").write_text(NODE + pod("one"))
    _, err = ran("replay", "in.yaml", option, "/dev/full", status=2)
    assert err.splitlines()[-1] == "kubeclassic: /dev/full: cannot be written: no space left on device"


def test_the_period_of_no_series(workdir):
    """The period of a series needs a file for the series."""
    (workdir / "in.yaml").write_text(NODE + pod("one"))
    _, err = ran("replay", "in.yaml", "--series-every", "1s", status=2)
    assert err.splitlines()[-1] == "kubeclassic: --series-every needs --series"


# --- scenarios, traces and configurations -------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation, text",
    [
        (
            "{opcode: createPods, count: 1000000000000}",
            "count: expected at most 10,000,000, got 1000000000000",
        ),
        ("{opcode: createPods, count: -1}", "count: expected 0 or more, got -1"),
        ("{opcode: createPods, count: 1, perSecond: 1" + "0" * 400 + "}", "perSecond: expected "),
        (
            "{opcode: sleep, duration: -1s}",
            'duration: expected seconds, or a duration such as 90s, 1.5h or 2m30s, got "-1s"',
        ),
        ("{opcode: sleep, duration: 10000000000}", "duration: expected at most 100 years, got 10000000000"),
        (
            "{opcode: sleep, duration: [1]}",
            "duration: expected seconds, or a duration such as 90s, 1.5h or 2m30s, got a list",
        ),
        ("{opcode: sleep, duratoin: 1s}", 'duratoin: got an unknown field; did you mean "duration"'),
        ("{opcode: slep}", "opcode: expected one of "),
        ("{opcode: [sleep]}", "opcode: expected one of "),
    ],
)
def test_a_scenario_with_wrong_values_is_told_in_one_line(tmp_path, operation, text):
    """Wrong types, negative and huge numbers and unknown words in a scenario are named with their place."""
    path = tmp_path / "s.yaml"
    path.write_text(f"- {{opcode: createNodes, count: 1}}\n- {operation}\n")
    told = refusal_text(ManifestError, read_inputs, [path])
    assert text in told
    assert told.startswith(f"{path}, document 2")
    assert "\n" not in told


@pytest.mark.parametrize(
    "content, text",
    [
        (b"sn,cpu_milli,memory_mib\nn," + b"9" * 5000 + b",1\n", "line 2: cpu_milli: expected "),
        (b"sn,cpu_milli,memory_mib\nn,-1,1\n", 'line 2: cpu_milli: expected a whole number, got "-1"'),
        (b"sn,cpu_milli,memory_mib\nn,nan,1\n", 'line 2: cpu_milli: expected a whole number, got "nan"'),
        ("sn,cpu_milli,memory_mib\nn,１２,1\n".encode(), "line 2: cpu_milli: expected "),  # noqa: RUF001  # digits of another script
        (b"sn,cpu\nn,1\n", "line 1: expected the columns cpu_milli,memory_mib too, got sn,cpu"),
        (b"sn,cpu_milli,memory_mib\n\xff,1,1\n", "expected CSV in UTF-8, got bytes that are no text"),
        (b"", "line 1: expected the columns of nodes (sn, ...) or of pods (name, ...), got none"),
        (b"x" * 10_000 + b"\n", "or of pods (name, ...), got xxxx"),
        (
            b'sn,cpu_milli,memory_mib\n"n' + b"x" * 200_000 + b'",1,1\n',
            "broken CSV: field larger than field limit",
        ),
        (b"sn,cpu_milli,memory_mib\nn,1,1\nn,1,1\n", 'line 3: sn: expected each name once, got "n" again'),
    ],
    ids=range(10),
)
def test_a_trace_with_wrong_values_is_told_in_one_line(tmp_path, content, text):
    """Wrong columns, numbers and encodings of a CSV are named with their line; the line is short."""
    nodes = tmp_path / "nodes.csv"
    pods = tmp_path / "pods.csv"
    nodes.write_bytes(content)
    pods.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n")
    told = refusal_text(ManifestError, read_inputs, [nodes, pods])
    assert text in told
    assert "\n" not in told
    assert len(told) < 400


@pytest.mark.parametrize(
    "text, message",
    [
        ("percentage=\uff11\uff12", "--a: percentage: expected "),
        ("percentage=-1", '--a: percentage: expected a number from 0 to 100, got "-1"'),
        ("percentage=" + "9" * 5000, "--a: percentage: expected "),
        ("config=", "--a: expected config=FILE, got config without a value"),
        ("policy=a\0b", "--a: policy: expected "),
        ("relase=1.16", 'did you mean "release"'),
        ("x" * 5000, "--a: expected "),
        ("policy='a", "no closing quotation"),
    ],
    ids=range(8),
)
def test_a_configuration_in_words_is_told_in_one_line(text, message):
    """Empty values, digits of other scripts, numbers out of range and control characters of ``--a`` are
    named, in a short line."""
    told = refusal_text(UnknownNameError, NamedSetup.parse, "a", text)
    assert message in told
    assert "\n" not in told
    assert len(told) < 400
