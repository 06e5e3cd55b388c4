"""The table of a sweep is the same whatever runs it, and what an executor cannot do is told in a line."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest
import yaml

import kubeclassic
from kubeclassic.framework.plugin import Plugin
from kubeclassic.simulation import executors
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
    """An executor's own error is one line with its name."""
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(kubeclassic.KubeclassicError, match=r"^ThreadPoolExecutor: RuntimeError: one$"),
    ):
        list(run_on(executor, Twice().run, [3, 1]))


@pytest.mark.parametrize("address", ["nonsense://there", "127.0.0.1:port", "tcp://127.0.0.1:9"])
def test_what_is_no_scheduler_is_told(address, monkeypatch):
    """A text that is no address, and an address where nobody answers, are refused in one line."""
    monkeypatch.setattr(executors, "SECONDS", 0.5)
    wanted = r"^dask: expected the address of a scheduler, got .*: .*$"
    with pytest.raises(kubeclassic.KubeclassicError, match=wanted), executor_of(1, address):
        pass


def test_what_ends_a_connection_is_told(monkeypatch):
    """Only a scheduler that waited for workers in vain has none."""

    class Client:
        def __init__(self, *address, **options):
            """Connect."""

        def wait_for_workers(self, number, timeout):
            raise OSError("in <TCP>: Stream is closed")

        def close(self):
            """Disconnect."""

    monkeypatch.setattr("distributed.Client", Client)
    wanted = r"^dask: expected the address of a scheduler, got tcp://127.0.0.1:9: in <TCP>: Stream is closed$"
    with pytest.raises(kubeclassic.KubeclassicError, match=wanted), executor_of(1, "tcp://127.0.0.1:9"):
        pass


def test_dask_is_an_extra(monkeypatch):
    """Without it, the error says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    wanted = r"^dask: distributed is not installed: pip install 'kubeclassic\[sweep\]'$"
    with pytest.raises(kubeclassic.KubeclassicError, match=wanted), executor_of(1, "tcp://127.0.0.1:9"):
        pass


@pytest.mark.whole
class TestProcesses:
    """Processes and a real cluster of Dask; the command prints the same bytes by each."""

    COMMAND = ("sweep", str(ROOT / "examples" / "sweep.yaml"), "-o", "json")

    def test_two_processes(self):
        """Two processes print what one prints."""
        assert inside(*self.COMMAND, "--jobs", "2").stdout == inside(*self.COMMAND, "--jobs", "1").stdout

    def test_two_workers_of_dask(self):
        """Two workers of Dask print what one process prints, and come to the same errors."""
        with dask_cluster() as address:
            assert (
                inside(*self.COMMAND, "--dask", address).stdout == inside(*self.COMMAND, "--jobs", "1").stdout
            )
            with executor_of(1, address) as executor:
                assert kubeclassic.sweep(SPEC, executor=executor).rows == kubeclassic.sweep(SPEC).rows

    def test_a_scheduler_without_workers_is_told(self, monkeypatch):
        """A scheduler that has no workers in time is one line."""
        monkeypatch.setattr(executors, "SECONDS", 1)
        with (
            dask_cluster(0) as address,
            pytest.raises(kubeclassic.KubeclassicError, match="at least one worker"),
            executor_of(1, address),
        ):
            pass

    def test_a_lost_process_is_told(self, monkeypatch):
        """A process that ends before its answer ends the sweep with one line."""
        monkeypatch.syspath_prepend(str(ROOT))
        wanted = r"^jobs: a process ended before its answer"
        with executor_of(2, None) as executor, pytest.raises(kubeclassic.KubeclassicError, match=wanted):
            list(run_on(executor, Twice().run, [0]))
