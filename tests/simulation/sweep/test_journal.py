"""The journal of a sweep: what was finished is known, whatever ended the sweep."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import kubeclassic
from kubeclassic.simulation.sweep.sweepfolder import JOURNAL, SweepOutputError
from kubeclassic.simulation.sweep.tasks import Shared, Task
from tests.conftest import ROOT

GRID = {"release": ["1.12", "1.16", "1.27"], "percentage": [0, 50]}


def spec(**sections: Any) -> dict[str, Any]:
    """A sweep of the example's cluster."""
    return {"cluster": str(ROOT / "examples" / "cluster"), "grid": GRID, **sections}


def contents(folder: Path) -> dict[str, bytes]:
    """The files of the table."""
    return {name: (folder / name).read_bytes() for name in ("results.csv", "results.parquet", "sweep.json")}


class TestResuming:
    def test_what_is_there_is_not_run_again(self, tmp_path: Path) -> None:
        """A second time nothing runs, and the files are the same, byte by byte; with more in the grid only that runs."""
        assert kubeclassic.sweep(spec(), output=tmp_path).ran == 6
        before = contents(tmp_path)
        assert kubeclassic.sweep(spec(), output=tmp_path).ran == 0
        assert contents(tmp_path) == before
        assert kubeclassic.sweep(spec(grid={**GRID, "percentage": [0, 50, 100]}), output=tmp_path).ran == 3

    @pytest.mark.parametrize("cut", [1, 10, 100, 1000])
    def test_a_line_that_was_cut_off_runs_again(self, cut: int, tmp_path: Path) -> None:
        """The journal may end anywhere: whole lines count, the rest runs again, and the table is the same."""
        kubeclassic.sweep(spec(), output=tmp_path)
        before, journal = contents(tmp_path), (tmp_path / JOURNAL).read_bytes()
        (tmp_path / JOURNAL).write_bytes(journal[:-cut])
        assert kubeclassic.sweep(spec(), output=tmp_path).ran == 6 - journal[:-cut].count(b"\n")
        assert contents(tmp_path) == before
        assert len((tmp_path / JOURNAL).read_bytes().splitlines()) == 6

    def test_another_input_runs_again(self, tmp_path: Path) -> None:
        """A run is known by the content of its files, not by their names."""
        cluster = tmp_path / "cluster.yaml"
        node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "1", "pods": "9"}}}
        asked = {"cluster": str(cluster), "grid": {"seed": [0, 1]}}
        cluster.write_text(json.dumps(node))
        assert kubeclassic.sweep(asked, output=tmp_path / "out").ran == 2
        assert kubeclassic.sweep(asked, output=tmp_path / "out").ran == 0
        cluster.write_text(json.dumps({**node, "metadata": {"name": "b"}}))
        assert kubeclassic.sweep(asked, output=tmp_path / "out").ran == 2

    def test_other_rules_run_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A run with rules of one's own is known by the content of their file."""
        monkeypatch.syspath_prepend(str(tmp_path))
        rule = tmp_path / "sweeprules.py"
        for number, wanted in enumerate((1, 0, 1)):
            text = "from kubeclassic.rules import Reads, priority\nimport numpy as np\n@priority('Mine', reads=Reads.NODE)\n"
            rule.write_text(f"{text}def mine(pod, nodes, cycle):\n    return np.zeros(len(nodes), np.int64)\n# {number // 2}\n")
            monkeypatch.delitem(sys.modules, "sweeprules", raising=False)
            rules = kubeclassic.rules.CATALOGUE.with_(importlib.import_module("sweeprules").mine)
            assert kubeclassic.sweep(spec(grid={"seed": 0}), output=tmp_path / "out", catalogue=rules).ran == wanted

    def test_a_run_that_failed_by_itself_is_known(self, tmp_path: Path) -> None:
        """What a release refuses would be refused again, so it is kept like any other result."""
        asked = spec(grid={"release": "1.27"}, runs=[{"name": "a"}, {"name": "b", "weights.Nobody": 1}])
        first = kubeclassic.sweep(asked, output=tmp_path)
        again = kubeclassic.sweep(asked, output=tmp_path)
        assert (first.failed, again.failed, again.ran) == (1, 1, 0)

    def test_a_defect_is_tried_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A run that ends with an unexpected error is a row, the others go on, and the next time it runs again."""
        engine = Task.engine

        def failing(task: Task, config_maps: Any) -> Any:
            if task.scheduler_spec.config.percentage:
                raise ZeroDivisionError("by chance")
            return engine(task, config_maps)

        with monkeypatch.context() as patched:
            patched.setattr(Task, "engine", failing)
            found = kubeclassic.sweep(spec(grid={"percentage": [0, 50]}), output=tmp_path)
        assert [row["error"] for row in found.rows] == [None, "ZeroDivisionError: by chance"]
        again = kubeclassic.sweep(spec(grid={"percentage": [0, 50]}), output=tmp_path)
        assert (again.ran, again.failed) == (1, 0)

    def test_an_interrupt_loses_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What was finished before an interrupt is on disk."""
        run, ran = Shared.run, list[Task]()

        def interrupted(shared: Shared, task: Task) -> Any:
            ran.append(task)
            if len(ran) > 4:
                raise KeyboardInterrupt
            return run(shared, task)

        with monkeypatch.context() as patched:
            patched.setattr(Shared, "run", interrupted)
            with pytest.raises(KeyboardInterrupt):
                kubeclassic.sweep(spec(), output=tmp_path)
        assert kubeclassic.sweep(spec(), output=tmp_path).ran == 2


class TestFolders:
    def test_another_file_is_left_alone(self, tmp_path: Path) -> None:
        """A file by the journal's name that is none of a sweep is refused, and stays."""
        (tmp_path / JOURNAL).write_text("a diary\n")
        with pytest.raises(SweepOutputError, match=r"runs\.jsonl, line 1: got no run of a sweep, wanted a folder of a sweep"):
            kubeclassic.sweep(spec(), output=tmp_path)
        assert (tmp_path / JOURNAL).read_text() == "a diary\n"

    def test_a_file_is_no_folder(self, tmp_path: Path) -> None:
        """A folder that cannot be made is told before anything runs."""
        (tmp_path / "out").write_text("")
        with pytest.raises(SweepOutputError, match=r"out/runs\.jsonl: cannot be written: file exists$"):
            kubeclassic.sweep(spec(), output=tmp_path / "out")

    def test_parquet_has_the_same_rows(self, tmp_path: Path) -> None:
        """The Parquet file has the table's columns and values."""
        import pandas as pd

        found = kubeclassic.sweep(spec(), output=tmp_path)
        frame = pd.read_parquet(tmp_path / "results.parquet")
        assert list(frame.columns) == list(found.columns)
        assert list(frame["imbalance"]) == [row["imbalance"] for row in found.rows]
        assert found.notes == ()

    def test_without_pyarrow_there_is_a_note(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without pyarrow there are the other files, and a note."""
        monkeypatch.setattr("kubeclassic.simulation.sweep.sweepfolder.find_spec", lambda name: None)
        found = kubeclassic.sweep(spec(), output=tmp_path)
        assert found.notes == ("no results.parquet: pyarrow is not installed (pip install 'kubeclassic[sweep]')",)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["results.csv", JOURNAL, "sweep.json"]
