"""The timed loop of ``tests/bench/loop.py``: its line, its check of hosts, and the cases that it makes and reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.simulation.conform import read_items, read_lines
from tests.bench.cases import CaseSize, read_case
from tests.bench.loop import main
from tests.conftest import ROOT
from tests.support.build import obj
from tests.support.manifests import node, pod

CASES = (
    "basic-1000", "basic-5000", "basic-adaptive-5000", "basic-15000", "affinity-5000", "antiaffinity-5000", "spread-5000", "mixed-5000",
)  # fmt: skip
FIGURES = ["pods", "cpu_seconds", "loop_seconds", "calibration"]


@pytest.fixture
def case(tmp_path: Path) -> str:
    """A small case file of 1.16."""
    made: dict[str, Any] = CaseSize(nodes=3, existing=3, pods=4).case("1.16", bare=True)
    path = tmp_path / "small.jsonl"
    path.write_text(json.dumps({**made, **{key: list(made[key]) for key in ("objects", "pending")}}) + "\n")
    return str(path)


def hosts(path: Path, *names: str | None) -> str:
    """A file of *names* for the pods of the small case."""
    path.write_text(json.dumps({"pods": [f"default/p{number:05}" for number in range(len(names))], "hosts": names}))
    return str(path)


def test_the_line_of_a_case(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line of JSON with pods, seconds and the measure of the machine, where each pod got the host that the file has."""
    right = hosts(tmp_path / "right.json", "node-00000", "node-00000", "node-00000", "node-00001")
    assert main(["--repeat", "2", "--check", right, case]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == FIGURES
    assert found["pods"] == 4
    assert found["cpu_seconds"] > 0 < found["loop_seconds"]


def test_other_hosts_are_found(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod with another host than in the file, one too many and one too few: exit status 1, which pod, and no figures."""
    wrong = hosts(tmp_path / "wrong.json", "node-00000", "node-00002", "node-00000", "node-00001", "node-00001")
    assert main(["--repeat", "1", "--check", wrong, case]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "pod default/p00001: expected node-00002, got node-00000" in err
    assert "pod default/p00004: not in the case" in err
    assert main(["--repeat", "1", "--check", hosts(tmp_path / "few.json", "node-00000"), case]) == 1
    assert "expected 1, got 4 pods" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "says"), [(["absent.jsonl"], "absent.jsonl"), (["--repeat", "0", "x"], "expected 1 or more, got 0")])
def test_wrong_words(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They end with status 2 and one line that says why."""
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert says in capsys.readouterr().err


def test_manifests_of_another_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Manifests are a case, too: their pods without a node wait, and hosts may stand by release."""
    (tmp_path / "cluster.json").write_text(json.dumps({"kind": "List", "items": [node("a"), node("b"), pod("on", on="a"), pod("web")]}))
    (tmp_path / "hosts.json").write_text(json.dumps({"pods": ["web"], "hosts": {"1.27": ["b"]}}))
    words = ["--repeat", "1", "--check", str(tmp_path / "hosts.json"), str(tmp_path / "cluster.json")]
    assert main([*words, "--release", "1.27"]) == 0
    assert json.loads(capsys.readouterr().out)["pods"] == 1


def test_pods_are_as_admission_leaves_them(case: str) -> None:
    """A timed pod has a token's volume of its own, its mount, an owner and the hash of its template; with ``--bare`` what the file says."""
    first, second, bare = *read_case(Path(case))["pending"][:2], read_case(Path(case), bare=True)["pending"][0]
    volumes = [one["spec"]["volumes"][0]["name"] for one in (first, second)]
    assert volumes[0] != volumes[1]
    assert [mount["name"] for mount in first["spec"]["containers"][0]["volumeMounts"]] == volumes[:1]
    hashes = [one["metadata"]["labels"]["pod-template-hash"] for one in (first, second)]
    assert hashes[0] == hashes[1]
    assert first["metadata"]["ownerReferences"][0]["name"].endswith(hashes[0])
    assert "volumes" not in bare["spec"]


@pytest.mark.whole
def test_whole_commands_on_a_real_dump() -> None:
    """``real.py`` has a row for each command, with its ratio to ``json.load``, its memory, and the decisions that were quick."""
    words = ["--nodes", "20", "--waiting", "40"]
    found = subprocess.run([sys.executable, str(ROOT / "tests" / "bench" / "real.py"), *words], capture_output=True, text=True, check=True)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found.stdout.splitlines() if line][2:]
    assert len(rows) == 11
    assert all(float(seconds) >= 0 < int(memory) for _, seconds, _, memory, _ in rows)
    assert [quick.partition(" (")[0].partition(" of ")[2] for name, *_, quick in rows if name.startswith("simulate")] == ["40"] * 3


@pytest.mark.whole
def test_it_runs_as_a_file(case: str) -> None:
    """``python tests/bench/loop.py`` works from any folder."""
    command = [sys.executable, str(ROOT / "tests" / "bench" / "loop.py"), "--repeat", "1", case]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    assert list(json.loads(found.stdout)) == FIGURES


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "basic-1000" else pytest.mark.whole) for name in CASES])
def test_the_timed_run_has_the_originals_hosts(name: str, shared: Path) -> None:
    """The run that README quotes decides, pod by pod, what the original decided."""
    files = shared / "bench" / f"{name}.hosts.json.gz", shared / "bench" / f"{name}.jsonl.gz"
    assert main(["--repeat", "1", "--check", *map(str, files)]) == 0


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["basic", "affinity", "antiaffinity", "spread", "mixed"])
def test_made_cases_are_those_of_the_files(kind: str, shared: Path) -> None:
    """What is made is, field by field that scheduling reads, what the case files of that kind hold."""
    (given,) = read_lines(shared / "bench" / f"{kind}-5000.jsonl.gz")
    made = CaseSize(kind=kind, nodes=5000).case("1.16", bare=True)
    for ours, theirs in zip(read_items(made), read_items(given), strict=True):
        assert (ours[1].spec, ours[1].labels) == (theirs[1].spec, theirs[1].labels)  # type: ignore[attr-defined]  # they are pods
    nodes = [[obj(item) for item in one["objects"] if item["kind"] == "Node"] for one in (made, given)]
    for mine, yours in zip(*nodes, strict=True):
        assert (mine.labels, mine.spec, mine.status) == (yours.labels, yours.spec, yours.status)
    bound = [[item["spec"]["nodeName"] for item in one["objects"] if item["kind"] == "Pod"] for one in (made, given)]
    assert bound[0] == bound[1]
