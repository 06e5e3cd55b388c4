"""The timed loop of ``tests/bench/loop.py``: its line, its check of hosts, and the cases that it makes and
reads."""

import json
import subprocess
import sys

import pytest

from tests.bench.cases import CaseSize
from tests.bench.loop import main
from tests.conftest import ROOT

CASES = (
    "basic-1000",
    "basic-5000",
    "basic-adaptive-5000",
    "basic-15000",
    "affinity-5000",
    "antiaffinity-5000",
    "spread-5000",
    "mixed-5000",
)
FIGURES = ["pods", "cpu_seconds", "loop_seconds", "calibration"]


@pytest.fixture
def case(tmp_path):
    """A small case file of 1.16."""
    made = CaseSize(nodes=3, existing=3, pods=4).case("1.16", bare=True)
    path = tmp_path / "small.jsonl"
    path.write_text(json.dumps({**made, **{key: list(made[key]) for key in ("objects", "pending")}}) + "\n")
    return str(path)


def hosts(path, *names):
    """A file of *names* for the pods of the small case."""
    path.write_text(
        json.dumps({"pods": [f"default/p{number:05}" for number in range(len(names))], "hosts": names})
    )
    return str(path)


def test_the_line_of_a_case(case, tmp_path, capsys):
    """One line of JSON with pods, seconds and the measure of the machine, where each pod got the host that
    the file has."""
    right = hosts(tmp_path / "right.json", "node-00000", "node-00000", "node-00000", "node-00001")
    assert main(["--repeat", "2", "--check", right, case]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == FIGURES
    assert found["pods"] == 4
    assert found["cpu_seconds"] > 0 < found["loop_seconds"]


def test_other_hosts_are_found(case, tmp_path, capsys):
    """A pod with another host than in the file, one too many and one too few: exit status 1, which pod, and
    no figures."""
    wrong = hosts(
        tmp_path / "wrong.json", "node-00000", "node-00002", "node-00000", "node-00001", "node-00001"
    )
    assert main(["--repeat", "1", "--check", wrong, case]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "pod default/p00001: expected node-00002, got node-00000" in err
    assert "pod default/p00004: not in the case" in err
    assert main(["--repeat", "1", "--check", hosts(tmp_path / "few.json", "node-00000"), case]) == 1
    assert "expected 1, got 4 pods" in capsys.readouterr().err


@pytest.mark.whole
def test_whole_commands_on_a_real_dump():
    """``real.py`` has a row for each command, with its ratio to ``json.load``, its memory, and the decisions
    that were quick."""
    words = ["--nodes", "20", "--waiting", "40"]
    found = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "bench" / "real.py"), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in found.stdout.splitlines() if line
    ][2:]
    assert len(rows) == 11
    assert all(float(seconds) >= 0 < int(memory) for _, seconds, _, memory, _ in rows)
    assert [
        quick.partition(" (")[0].partition(" of ")[2]
        for name, *_, quick in rows
        if name.startswith("simulate")
    ] == ["40"] * 3


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "basic-1000" else pytest.mark.whole) for name in CASES]
)
def test_the_timed_run_has_the_originals_hosts(name, shared):
    """The run that README quotes decides, pod by pod, what the original decided."""
    files = shared / "bench" / f"{name}.hosts.json.gz", shared / "bench" / f"{name}.jsonl.gz"
    assert main(["--repeat", "1", "--check", *map(str, files)]) == 0
