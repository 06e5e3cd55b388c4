"""What users of replay stumbled over: results that cannot be written, and inputs with wrong values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubeclassic.cli.declaring.setup import NamedSetup
from kubeclassic.exceptions import ManifestError, UnknownNameError
from kubeclassic.simulation.replay.inputs.inputs import read_inputs
from kubeclassic.simulation.replay.outputs import ResultFileError, check_places
from kubeclassic.simulation.replay.settings import Places
from tests.support.refusals import refusal_text

NODE = "kind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
SCENARIO = """
- {opcode: createNodes, count: 2}
- {opcode: createPods, count: 3, runTime: 50s, podTemplate: {spec: {containers: [{name: c}]}}}
- {opcode: sleep, duration: 100s}
"""


# --- places ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({"events": "there"}, "there: cannot be written: is a directory"),
        ({"report": "nowhere/page.html"}, "cannot be written: no such file or directory"),
        ({"series": "there"}, "there: cannot be written: is a directory"),
        ({"events": "e", "series": "nowhere/s.parquet"}, "cannot be written: no such file or directory"),
        ({"events": "e", "series": "loop"}, "cannot be written: too many levels of symbolic links"),
    ],
)
def test_a_bad_place_is_refused_before_the_run(tmp_path: Path, places: dict[str, str], message: str) -> None:
    """A place that is a directory, or cannot be written, is told before anything is read; nothing is left there."""
    (tmp_path / "there").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ResultFileError) as refused:
        check_places(Places(**{option: tmp_path / name for option, name in places.items()}))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_device_is_written_to() -> None:
    """Events can go to a device, which is no file that anything could be lost in."""
    check_places(Places(events=Path(os.devnull)))
    assert Path(os.devnull).is_char_device()


# --- scenarios, traces and configurations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        ("{opcode: createPods, count: 1000000000000}", "count: got 1000000000000, wanted at most 10,000,000"),
        ("{opcode: createPods, count: -1}", "count: got -1, wanted 0 or more"),
        ("{opcode: createPods, count: 1, perSecond: .nan}", "perSecond: got "),
        ("{opcode: createPods, count: 1, perSecond: 1" + "0" * 400 + "}", "perSecond: got "),
        ("{opcode: sleep, duration: -1s}", 'duration: got "-1s", wanted seconds, or a duration'),
        ("{opcode: sleep, duration: 1000000000000000}", "duration: got 1000000000000000, wanted at most 100 years"),
        ("{opcode: sleep, duration: [1]}", "duration: got a list, wanted seconds, or a duration"),
        ("{opcode: sleep, duratoin: 1s}", 'duratoin: got an unknown field; did you mean "duration"'),
        ("{opcode: slep}", 'opcode: got "slep", wanted one of '),
        ("{opcode: [sleep]}", "opcode: got a list, wanted one of "),
    ],
)
def test_a_scenario_with_wrong_values_is_told_in_one_line(tmp_path: Path, operation: str, text: str) -> None:
    """Wrong types, negative and huge numbers and unknown words in a scenario are named with their place."""
    path = tmp_path / "s.yaml"
    path.write_text(f"- {{opcode: createNodes, count: 1}}\n- {operation}\n")
    told = refusal_text(ManifestError, read_inputs, [path])
    assert text in told
    assert told.startswith(f"{path}, document 2")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"sn,cpu_milli,memory_mib\nn," + b"9" * 5000 + b",1\n", "line 2: cpu_milli: got "),
        (b"sn,cpu_milli,memory_mib\nn,-1,1\n", 'line 2: cpu_milli: got "-1", wanted a whole number'),
        (b"sn,cpu_milli,memory_mib\nn,nan,1\n", 'line 2: cpu_milli: got "nan", wanted a whole number'),
        ("sn,cpu_milli,memory_mib\nn,１２,1\n".encode(), "line 2: cpu_milli: got "),  # noqa: RUF001  # digits of another script
        (b"sn,cpu\nn,1\n", "line 1: got columns sn,cpu, wanted cpu_milli,memory_mib too"),
        (b"sn,cpu_milli,memory_mib\n\xff,1,1\n", "got bytes that are no text, wanted CSV in UTF-8"),
        (b"", "line 1: got columns none, wanted those of nodes (sn, ...) or of pods (name, ...)"),
        (b"x" * 10_000 + b"\n", "line 1: got columns xxxx"),
        (b'sn,cpu_milli,memory_mib\n"n' + b"x" * 200_000 + b'",1,1\n', "broken CSV: field larger than field limit"),
        (b"sn,cpu_milli,memory_mib\nn,1,1\nn,1,1\n", 'line 3: sn: got "n" again, wanted each name once'),
    ],
    ids=range(10),
)
def test_a_trace_with_wrong_values_is_told_in_one_line(tmp_path: Path, content: bytes, text: str) -> None:
    """Wrong columns, numbers and encodings of a CSV are named with their line; the line is short."""
    nodes, pods = tmp_path / "nodes.csv", tmp_path / "pods.csv"
    nodes.write_bytes(content)
    pods.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n")
    told = refusal_text(ManifestError, read_inputs, [nodes, pods])
    assert text in told
    assert "\n" not in told
    assert len(told) < 400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("percentage=\uff11\uff12", "--a: percentage: got "),
        ("percentage=-1", '--a: percentage: got "-1", wanted a number from 0 to 100'),
        ("percentage=" + "9" * 5000, "--a: percentage: got "),
        ("config=", "--a: got config without a value, wanted config=FILE"),
        ("policy=a\0b", "--a: policy: got "),
        ("relase=1.16", 'did you mean "release"'),
        ("x" * 5000, "--a: got "),
        ("policy='a", "no closing quotation"),
    ],
    ids=range(8),
)
def test_a_configuration_in_words_is_told_in_one_line(text: str, message: str) -> None:
    """Empty values, digits of other scripts, numbers out of range and control characters of ``--a`` are named, in a short line."""
    told = refusal_text(UnknownNameError, NamedSetup.parse, "a", text)
    assert message in told
    assert "\n" not in told
    assert len(told) < 400
