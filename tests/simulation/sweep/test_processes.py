"""The table is the same whatever runs it; a process that is lost loses nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kubeclassic
from kubeclassic.framework.plugin import Plugin
from kubeclassic.simulation.processes.executors import InProcesses
from kubeclassic.simulation.sweep.sweepfolder import JOURNAL
from tests.conftest import ROOT
from tests.support.program import FIND

SPEC = {
    "cluster": str(ROOT / "examples" / "cluster"), "inputs": {"day": {"trace": str(ROOT / "examples" / "day.yaml")}},
    "grid": {"release": ["1.12", "1.16", "1.27"], "tie-break": "random", "seed": [0, 1, 2, 3]},
}  # fmt: skip


@pytest.fixture(scope="module")
def local() -> kubeclassic.results.SweepResult:
    """The sweep in this process."""
    return kubeclassic.sweep(SPEC)


class TestProcesses:
    def test_the_table_is_the_same(self, local: kubeclassic.results.SweepResult) -> None:
        """Two processes come to the table of one."""
        found = kubeclassic.sweep(SPEC, jobs=2)
        assert (found.rows, found.columns, found.confidence) == (local.rows, local.columns, local.confidence)

    def test_a_lost_process_loses_nothing(self, local: kubeclassic.results.SweepResult, monkeypatch: pytest.MonkeyPatch) -> None:
        """A worker that is killed half-way is replaced, and its run begins again."""
        made = list[InProcesses]()
        entered = InProcesses.__enter__
        monkeypatch.setattr(InProcesses, "__enter__", lambda self: made.append(self) or entered(self))
        killed = []

        def kill_one(done: int, total: int) -> None:
            if done == 8 and not killed:
                killed.append(made[0]._all[0])
                killed[0].send_signal(signal.SIGKILL)

        found = kubeclassic.sweep(SPEC, jobs=2, on_progress=kill_one)
        assert len(killed) == 1
        assert found.rows == local.rows
        assert len(made[0]._all) == 3

    def test_a_run_that_always_loses_its_process_is_a_row(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """After three processes the run is given up, and says so."""
        monkeypatch.setattr("kubeclassic.simulation.processes.executors.SCRIPT", "import os; os._exit(9)")
        found = kubeclassic.sweep({**SPEC, "grid": {"seed": [0, 1]}}, jobs=2)
        assert {row["error"] for row in found.rows} == {"the process that ran it was lost 3 times, the last time with status 9"}

    def test_rules_that_cannot_be_handed_over_are_told(self) -> None:
        """A plugin that only this process has needs jobs=1."""

        class Mine(Plugin):
            name = "Mine"

        asked = {**SPEC, "grid": {"release": "1.27", "seed": [0, 1]}}
        assert kubeclassic.sweep(asked, plugins=[Mine]).failed == 0
        with pytest.raises(kubeclassic.KubeclassicError, match=r"^jobs: got 2, wanted 1: rules cannot be handed to another process"):
            kubeclassic.sweep(asked, plugins=[Mine], jobs=2)

    def test_wrong_numbers_are_told(self) -> None:
        """There is one process at least."""
        with pytest.raises(TypeError, match=r"^jobs: got 0 \(int\), wanted a whole number above 0$"):
            kubeclassic.sweep(SPEC, jobs=0)


class TestKilled:
    def test_a_killed_sweep_goes_on(self, local: kubeclassic.results.SweepResult, tmp_path: Path) -> None:
        """A sweep that is killed half-way, with all its processes at work, has its finished runs; the next one does the rest."""
        journal = tmp_path / JOURNAL
        program = FIND + f"import kubeclassic\nkubeclassic.sweep({SPEC!r}, output={str(tmp_path)!r}, jobs=2)\n"
        with subprocess.Popen([sys.executable, "-c", program]) as process:
            while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 5):
                time.sleep(0.005)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        known = journal.read_bytes().count(b"\n")
        found = kubeclassic.sweep(SPEC, output=tmp_path)
        assert 5 <= known < 24
        assert found.ran == 24 - known
        assert found.rows == local.rows
