"""``kubeclassic bench``: tables, other schedulers and earlier runs; no test looks at how long anything took."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from kubeclassic.cli import cli, run
from kubeclassic.simulation.bench import bench as timing
from tests.conftest import ROOT
from tests.support.schemas import faults

GENERATED = ["--kind", "basic", "--nodes", "5", "--existing", "3", "--pods", "4", "--repeat", "2"]
COMMANDS = re.findall(r"^kubeclassic .*$", (ROOT / "docs" / "speed" / "bench.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.fixture(autouse=True)
def _without_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fixed loop takes longer than most of these benches: its time is made up."""
    monkeypatch.setattr(timing, "calibration", lambda: 0.1)


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> list[dict[str, Any]]:
    """The lines that ``bench`` prints."""
    capsys.readouterr()
    assert run(["bench", *arguments]) == status
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def printing(line: str) -> str:
    """A command that prints *line*."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(f'print({line!r})')}"


def columns(table: str) -> list[str]:
    """The headers of a table."""
    return re.split(" {3,}", table.splitlines()[0])


class TestTables:
    def test_times_and_throughput(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One table has the times of decisions, the other how many there are a second, a row for each case."""
        assert run(["bench", *GENERATED, "-o", "table"]) == 0
        times, throughput = capsys.readouterr().out.split("\n\n")
        assert columns(times)[5:9] == ["PODS/S", "MEDIAN", "LOOP PODS/S", "LOOP MEDIAN"]
        assert columns(times)[9:13] == ["P50 MS", "P90 MS", "P95 MS", "P99 MS"]
        for table in (times, throughput):
            assert [row.split()[0] for row in table.splitlines()] == ["CASE", "basic-5n-3e-4p"]

    def test_ratios(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Beside another scheduler there is a third table."""
        assert run(["bench", *GENERATED, "-o", "table", "--against", printing('{"pods_per_s": 1}')]) == 0
        ratios = capsys.readouterr().out.split("\n\n")[2].splitlines()
        assert columns(ratios[0]) == ["CASE", "RUNS", "OURS, PODS/S", "THEIRS, PODS/S", "RATIO"]
        name, runs, ours, theirs, ratio = ratios[1].split()
        assert (name, runs, theirs) == ("basic-5n-3e-4p", "2", "1")
        assert float(ratio) == pytest.approx(float(ours), abs=1)


class TestAgainst:
    def test_medians(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The other scheduler is run as often as ours, and the medians are compared."""
        (found,) = lines(capsys, *GENERATED, "--against", printing('{"pods_per_s": 50.0, "scheduled": 4}'))
        assert faults("bench", found) == []
        ours, theirs = sum(found["runs"]) / 2, found["against"]
        assert (theirs["runs"], theirs["pods_per_s"], theirs["scheduled"]) == ([50.0, 50.0], 50.0, 4)
        assert theirs["ratio"] == pytest.approx(ours / 50, abs=0.01)

    def test_other_work(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Another number of placed pods is warned of."""
        assert run(["bench", *GENERATED, "--against", printing('{"pods_per_s": 50, "scheduled": 3}')]) == 0
        said = capsys.readouterr().err
        assert said == "warning: basic-5n-3e-4p: the other scheduler gave 3 pods a node, this one 4: not the same work\n"


class TestCompare:
    def test_two_files(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """What bench printed twice is compared, as a table or as JSON; releases are shown where they differ."""
        a, b = tmp_path / "a.json", tmp_path / "b.json"
        a.write_text(json.dumps(lines(capsys, *GENERATED)[0]))
        b.write_text(json.dumps(lines(capsys, *GENERATED, "--release", "1.12")[0] | {"calibration": 0.2}))
        (found,) = lines(capsys, "compare", str(a), str(b), "-o", "json")
        assert faults("bench-compare", found) == []
        (pair,) = found["cases"]
        assert pair["calibrated_ratio"] == pytest.approx(2 * pair["ratio"], abs=0.01)
        assert run(["bench", "compare", str(a), str(b)]) == 0
        told = capsys.readouterr()
        assert columns(told.out)[:3] == ["CASE", "RELEASE A", "RELEASE B"]
        assert told.err.startswith("warning: calibrations differ by more than 5% in 1 of 1 cases")

    def test_it_is_a_command_of_bench(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The help of bench names it, it has a help and usage of its own, and a case of that name can still be timed."""
        assert run(["bench", "--help"]) == 0
        assert "compare  How much faster one file" in capsys.readouterr().out
        assert run(["bench", "compare", "--help"]) == 0
        assert capsys.readouterr().out.startswith("Usage: kubeclassic bench compare [OPTIONS] A B")
        assert run(["bench", "compare", "a.json"]) == 2
        assert "Missing argument 'B'" in capsys.readouterr().err
        assert run(["bench", "./compare"]) == 2
        assert "compare: no such file or directory" in capsys.readouterr().err

    def test_it_is_completed(self) -> None:
        """A shell completes its name beside the files of cases."""
        found = ShellComplete(cli, {}, "kubeclassic", "_C").get_completions(["bench"], "com")
        assert "compare" in [item.value for item in found]
        assert isinstance(cli.commands["bench"], click.Command)


@pytest.mark.parametrize("line", [command for command in COMMANDS if "--kind" in command])
def test_the_commands_of_its_page_run(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command of docs/speed/bench.md that needs nothing but the repository runs at its root."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["kubeclassic"])
    assert run([*shlex.split(line)[1:], "--repeat", "1"]) == 0
    assert capsys.readouterr().out
