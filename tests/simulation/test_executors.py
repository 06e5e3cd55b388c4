"""The table of a sweep is the same whatever runs it, and what an executor cannot do is told in a line."""

import os
from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest
import yaml

import kubeclassic
from kubeclassic.framework.plugin import Plugin
from kubeclassic.simulation.executors import executor_of, run_on
from tests.conftest import ROOT
from tests.support.daskcluster import dask_cluster
from tests.support.program import inside

SPEC = {
    "cluster": str(ROOT / "examples" / "cluster"),
    "runs": yaml.safe_load("[{name: right}, {name: wrong, provider: Nobody}]"),
    "grid": {"release": ["1.12", "1.16"], "seed": [0, 1]},
}


@attrs.frozen
class Twice:
    """A runner that doubles numbers, ends its process at 0 and fails at 1."""

    def run(self, task):
        if task == 0:
            os._exit(1)
        if task == 1:
            raise RuntimeError("one")
        return 2 * task


def test_any_executor_will_do():
    """An executor comes to the table of this process, errors included, and tells how far it is."""
    told = []
    with ThreadPoolExecutor(1) as executor:
        found = kubeclassic.sweep(
            SPEC, executor=executor, on_progress=lambda done, total: told.append((done, total))
        )
    assert found.rows == kubeclassic.sweep(SPEC).rows
    assert found.failed == 4
    assert told == [(done, 8) for done in range(5, 9)]


def test_rules_that_cannot_be_handed_over_are_told():
    """A plugin that only this process has needs no executor."""

    class Mine(Plugin):
        name = "Mine"

    asked = {**SPEC, "runs": [], "grid": {"release": "1.27"}}
    assert kubeclassic.sweep(asked, plugins=[Mine]).failed == 0
    wanted = r"^rules cannot be handed to another process"
    with ThreadPoolExecutor(1) as executor, pytest.raises(kubeclassic.KubeclassicError, match=wanted):
        kubeclassic.sweep(asked, plugins=[Mine], executor=executor)


def test_an_executor_that_fails_is_told():
    """What an executor raises by itself is one line with its name."""
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(kubeclassic.KubeclassicError, match=r"^ThreadPoolExecutor: RuntimeError: one$"),
    ):
        list(run_on(executor, Twice().run, [3, 1]))


@pytest.mark.whole
class TestProcesses:
    """Processes and a real cluster of Dask; the command prints the same bytes by each."""

    COMMAND = ("sweep", str(ROOT / "examples" / "sweep.yaml"), "-o", "json")

    def test_two_processes(self):
        """Two processes print what one prints."""
        assert inside(*self.COMMAND, "--jobs", "2").stdout == inside(*self.COMMAND, "--jobs", "1").stdout

    def test_two_workers_of_dask(self):
        """Two workers of Dask come to the rows of one process, and to the same errors."""
        import distributed

        with dask_cluster() as address, distributed.Client(address, set_as_default=False) as client:
            found = kubeclassic.sweep(SPEC, executor=client.get_executor(pure=False))
        assert found.rows == kubeclassic.sweep(SPEC).rows

    def test_a_lost_process_is_told(self, monkeypatch):
        """A process that ends before its answer ends the sweep with one line."""
        monkeypatch.syspath_prepend(str(ROOT))
        wanted = r"^jobs: a process ended before its answer"
        with executor_of(2) as executor, pytest.raises(kubeclassic.KubeclassicError, match=wanted):
            list(run_on(executor, Twice().run, [0]))
