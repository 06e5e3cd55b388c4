"""What users of replay stumbled over: checkpoints that are not what they say, and results that cannot be written."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.cli.declaring.setup import NamedSetup
from kubeclassic.exceptions import ManifestError, UnknownNameError
from kubeclassic.simulation.replay.checkpoint import FORMAT, MAGIC, CheckpointError, Header, _as_json, _checksum, load, save
from kubeclassic.simulation.replay.guard import guarded
from kubeclassic.simulation.replay.inputs.inputs import InputOptions, read_inputs
from kubeclassic.simulation.replay.outputs import ResultFileError
from kubeclassic.simulation.replay.settings import Places
from tests.conftest import ROOT
from tests.support.refusals import refusal_text

NODE = "kind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
SCENARIO = """
- {opcode: createNodes, count: 2}
- {opcode: createPods, count: 3, runTime: 50s, podTemplate: {spec: {containers: [{name: c}]}}}
- {opcode: sleep, duration: 100s}
"""
STATE = {"kinds": [["list"]], "nodes": [[0, 1]], "order": [0]}
HEADER = Header(inputs="", options={}).record()


class Runs:
    """What a pickle that runs something looks like."""

    def __reduce__(self) -> Any:
        return os.system, ("touch ran",)


def crafted(path: Path, state: Any = STATE, body: bytes | None = None, **changed: Any) -> Path:
    """A checkpoint of that content whose checksum is right."""
    body = _as_json(state) if body is None else body
    first = {"what": MAGIC, "format": FORMAT, "madeBy": "kubeclassic", "size": len(body), **HEADER, **changed}
    path.write_bytes(_as_json({**first, "sha256": _checksum(first, body)}) + b"\n" + body)
    return path


def read(path: Path) -> Any:
    """The state in a checkpoint."""
    found = load(path)
    assert found is not None
    return found.state({})


def of(*nodes: Any, kinds: Any) -> Any:
    """A state of a list and these nodes, of the *kinds* after it."""
    return {"kinds": [["list"], *kinds], "nodes": [[0, [1]], *nodes], "order": [*range(len(nodes), -1, -1)]}


def test_a_crafted_checkpoint_is_read(tmp_path: Path) -> None:
    """The crafted checkpoints of this file are right but for what each test changes."""
    assert read(crafted(tmp_path / "state")) == 1


@pytest.mark.parametrize(
    "body",
    [
        pickle.dumps(Runs()), b"cos\nsystem\n(S'touch ran'\ntR.", b"cbuiltins\neval\n(S'open(\"ran\", \"w\")'\ntR.",
        b"cbuiltins\ngetattr\n(cos\nsystem\nS'__call__'\ntR.", b"cnumpy\nload\n(S'x'\ntR.", b"r\xff\xff\xff\x7f.",
    ],
)  # fmt: skip
def test_a_pickle_in_a_checkpoint_runs_nothing(tmp_path: Path, body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pickle in place of the state is damage in one line: it is never loaded, whatever it would call."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="state: damaged: its second line is not JSON"):
        read(crafted(tmp_path / "state", body=body))
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize(
    ("nodes", "kinds"),
    [
        ([[1, "os.system"]], [["function"]]),
        ([[1, "eval"]], [["function"]]),
        ([[1, "os"]], [["named"]]),
        ([[1, "touch ran"]], [["record", "os.system", "command"]]),
        ([[1]], [["record", "simulation.replay.recording.Recording", "replay", "places", "header"]]),
        ([[1]], [["record", "simulation.replay.outputs.GrowingFile", "path", "_stream", "_offset", "_checksum"]]),
        ([[1]], [["class", "builtins.eval"]]),
        ([[1]], [["class", "framework.config.configuration.os"]]),
        ([[1]], [["class", "core.incremental.verify.os"]]),
        ([[1, [2], "__class__"], [2]], [["method"], ["list"]]),
        ([[1, [2], "append"], [2]], [["method"], ["list"]]),
        ([[1, [2], "__subclasses__"], [2]], [["method"], ["class", "core.queue.backoff.Clock"]]),
        ([[1, [2], "touch ran"], [2, "first_best"]], [["method"], ["function"]]),
        ([[1, [2]], [2]], [["partial"], ["class", "core.queue.backoff.Clock"]]),
        ([[1, "|O", "AAAAAAAAAAA=", 1]], [["array"]]),
        ([[1, "<i8", "AAAAAAAAAAA=", 1 << 60]], [["array"]]),
        ([[1, "<i8", "not base64", 1]], [["array"]]),
        ([[1, "u", "AAAA"]], [["numbers"]]),
        ([[1, 3, None, *range(10)]], [["random"]]),
        ([[1, [3], [2]], [2, [4]], [3], [4, None, 1 << 40, 1]], [["census"], ["list"], ["dict"], ["tuple"]]),
        ([[1, [1]]], [["tuple"]]),
        ([[1, [7]]], [["list"]]),
        ([[1, {"a": 1}]], [["list"]]),
        ([[1, [1], 1]], [["dict"]]),
        ([[7]], [["list"]]),
        (["list"], [["list"]]),
        ([[1, 99]], [["enum", "core.incremental.quick.Detour"]]),
        ([[1, 0.0]], [["record", "core.queue.backoff.Clock", "now", "origin"]]),
        ([[1, 0.0]], [["record", "core.queue.backoff.Clock", "__class__"]]),
        ([[1]], [[]]),
        ([[1]], [[1]]),
    ],
)
def test_a_checkpoint_holds_only_what_is_allowed(tmp_path: Path, nodes: Any, kinds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions, classes, methods, arrays and references that no replay writes are refused in one line, and nothing runs."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="state: made by another version of kubeclassic, or damaged: got"):
        read(crafted(tmp_path / "state", of(*nodes, kinds=kinds)))
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize(
    "state", [None, [], {}, {"kinds": 1, "nodes": [], "order": []}, {**STATE, "order": [0, 0]}, {**STATE, "nodes": []}]
)
def test_a_checkpoint_without_a_state_is_refused(tmp_path: Path, state: Any) -> None:
    """A state without its parts is refused in one line."""
    with pytest.raises(CheckpointError, match="state: made by another version of kubeclassic, or damaged: got"):
        read(crafted(tmp_path / "state", state))


def test_a_checkpoint_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    """Nesting ends with an error, not with the process."""
    with pytest.raises(CheckpointError, match="state: damaged"):
        read(crafted(tmp_path / "state", body=b"[" * 200_000))
    (tmp_path / "state").write_bytes(b"[" * 200_000)
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        load(tmp_path / "state")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inputs", 1), ("options", []), ("options", {"--seed": 1}), ("steps", "many"), ("steps", -1), ("steps", True), ("time", None),
        ("time", float("inf")), ("files", []), ("files", {"events": 1}), ("files", {"events": [1]}), ("files", {"events": ["a", 1]}),
        ("files", {"events": [-1, 1]}),
    ],
)  # fmt: skip
def test_a_header_with_wrong_types_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    """A field of another type in the header is damage, and the error names it."""
    with pytest.raises(CheckpointError, match=f"state: damaged: {field}: got"):
        load(crafted(tmp_path / "state", **{field: value}))


def test_the_header_is_under_the_checksum(tmp_path: Path) -> None:
    """A header in which anything was changed is damaged, as a changed state is."""
    path = tmp_path / "state"
    save(path, Header(inputs="digest", options={"--seed": "1"}, steps=5), 1, {})
    content = path.read_bytes()
    for old, new in ((b'"steps":5', b'"steps":6'), (b'"--seed":"1"', b'"--seed":"2"'), (b'"digest"', b'"digesT"')):
        assert old in content
        path.write_bytes(content.replace(old, new))
        with pytest.raises(CheckpointError, match="damaged: its bytes are not those that were written"):
            load(path)


def test_an_older_checkpoint_is_refused_by_name_and_version(tmp_path: Path) -> None:
    """The error about a checkpoint of another format says which one it is and who made it."""
    first = {"what": MAGIC, "format": 5, "size": 1, "sha256": "x"}
    (tmp_path / "state").write_bytes(json.dumps(first).encode() + b"\nx")
    with pytest.raises(CheckpointError, match=f"a checkpoint of format 5, wanted {FORMAT}: made by another version of kubeclassic"):
        load(tmp_path / "state")
    (tmp_path / "state").write_bytes(json.dumps({**first, "format": FORMAT + 1, "madeBy": "kubeclassic 9.1"}).encode() + b"\nx")
    with pytest.raises(CheckpointError, match=f"a checkpoint of format {FORMAT + 1}, wanted {FORMAT}: made by kubeclassic 9.1"):
        load(tmp_path / "state")


# --- places ---------------------------------------------------------------------------------------------------------


def told(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    """The exit status and the errors of ``kubeclassic replay``, in a folder with a scenario."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "there").mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT.parent), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "kubeclassic", "replay", "s.yaml", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({"events": "there"}, "--output: got a directory, wanted a file"),
        ({"series": "there"}, "--series: got a directory, wanted a file"),
        ({"events": "e", "checkpoint": "there"}, "--checkpoint: got a directory, wanted a file"),
        ({"events": "e", "checkpoint": "nowhere/c"}, "cannot be written: no such file or directory"),
        ({"events": "e", "series": "nowhere/s.parquet"}, "cannot be written: no such file or directory"),
        ({"events": "e", "series": "loop"}, "cannot be written: too many levels of symbolic links"),
        ({"events": "e", "checkpoint": "loop"}, "cannot be written"),
        ({"events": "e\0"}, "cannot be written: "),
        ({"events": "s.yaml"}, "--output: got the same file as an input, wanted another one"),
        ({"series": "./there/../s.yaml"}, "--series: got the same file as an input, wanted another one"),
        ({"events": "e", "checkpoint": "e"}, "--checkpoint: got the same file as --output, wanted another one"),
        ({"events": "e", "series": "link"}, "--series: got the same file as --output, wanted another one"),
        ({"events": "/dev/null", "checkpoint": "c"}, "--output: got a device or a pipe, wanted a file, which can be read again"),
        ({"events": "e", "checkpoint": "/dev/null"}, "--checkpoint: got a device or a pipe, wanted a file, which can be read again"),
    ],
)
def test_a_bad_place_is_refused_before_the_run(tmp_path: Path, places: dict[str, str], message: str) -> None:
    """A place that is a directory, an input, a device, or cannot be written is told before anything is read; nothing is left there."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "there").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("e")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ResultFileError) as refused, guarded(Places(**{k: tmp_path / v for k, v in places.items()}), [tmp_path / "s.yaml"]):
        pass
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_device_is_written_to() -> None:
    """Events can go to a device, which is no file that anything could be lost in."""
    with guarded(Places(events=Path(os.devnull))):
        pass
    assert Path(os.devnull).is_char_device()


def test_two_replays_with_one_checkpoint_refuse_each_other(tmp_path: Path) -> None:
    """The second one ends with one line; after the first one is gone, even by SIGKILL, the next one runs."""
    holder = (
        "import sys, time; from pathlib import Path; from kubeclassic.simulation.replay.guard import guarded\n"
        "from kubeclassic.simulation.replay.settings import Places\n"
        "with guarded(Places(events=Path('a'), checkpoint=Path('c'))): print('held', flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT.parent), os.environ.get("PYTHONPATH", "")])}
    first = subprocess.Popen([sys.executable, "-c", holder], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    try:
        assert first.stdout.readline() == "held\n"
        status, errors = told(tmp_path, "--output", "b", "--checkpoint", "c")
        assert (status, errors) == (
            2, "kubeclassic: c: another replay uses this checkpoint: wait for its end, or name another file\n",
        )  # fmt: skip
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
        first.stdout.close()
    assert told(tmp_path, "--output", "b", "--checkpoint", "c")[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"s.yaml", "there", "b"}


def test_a_checkpoint_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, or an interrupt, leaves the old checkpoint and no other file."""
    path = tmp_path / "state"
    save(path, Header(inputs="", options={}), 1, {})
    before = path.read_bytes()

    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def full(handle: int, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises((CheckpointError, KeyboardInterrupt)):
            save(path, Header(inputs="", options={}), 2, {})
        assert [(found.name, found.read_bytes()) for found in tmp_path.iterdir()] == [("state", before)]


def test_replay_does_not_read_what_it_does_not_use(tmp_path: Path) -> None:
    """Files of a folder that are no manifests are never opened; without a checkpoint nothing is hashed."""
    (tmp_path / "cluster.yaml").write_text(NODE)
    for name in ("data.bin", "notes.txt", ".hidden.yaml"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0)
    with_hash = read_inputs([tmp_path]).digest
    (tmp_path / "more.bin").write_text("y")
    assert read_inputs([tmp_path]).digest == with_hash != ""
    assert read_inputs([tmp_path], InputOptions(digest=False)).digest == ""


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
