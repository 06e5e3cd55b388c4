"""A sweep on a real scheduler of Dask with two workers comes to the same table as in this process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kubeclassic
from tests.conftest import ROOT
from tests.simulation.sweep.test_journal import contents
from tests.support.daskcluster import dask_cluster

SPEC: dict[str, Any] = {
    "cluster": str(ROOT / "examples" / "cluster"), "inputs": {"day": {"trace": str(ROOT / "examples" / "day.yaml")}},
    "runs": [{"name": "right"}, {"name": "wrong", "provider": "Nobody"}],
    "grid": {"release": ["1.12", "1.16"], "order": "input", "seed": [0, 1, 2]},
}  # fmt: skip


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler's address, and its two workers."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as found:
        yield found


def test_the_table_is_the_same(dask: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path) -> None:
    """Dask's table is the local one, file by file, errors included; a worker that is killed half-way loses nothing."""
    address, workers = dask
    kubeclassic.sweep(SPEC, output=tmp_path / "local")
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if done == 4 and not killed:
            workers[0].send_signal(signal.SIGKILL)
            killed.append(done)

    found = kubeclassic.sweep(SPEC, output=tmp_path / "dask", dask=address, on_progress=kill_one)
    assert killed
    assert found.ran == 12
    assert contents(tmp_path / "dask") == contents(tmp_path / "local")


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nobody answers is one line."""
    monkeypatch.setattr("kubeclassic.simulation.processes.ondask.SECONDS", 0.5)
    with pytest.raises(kubeclassic.KubeclassicError, match=r"^dask: got tcp://127\.0\.0\.1:9, wanted the address of a s") as refused:
        kubeclassic.sweep(SPEC, dask="tcp://127.0.0.1:9")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("address", ["nonsense://there", "127.0.0.1:port"])
def test_what_is_no_address_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no address at all is one line, too."""
    monkeypatch.setattr("kubeclassic.simulation.processes.ondask.SECONDS", 0.5)
    with pytest.raises(kubeclassic.KubeclassicError, match=r"^dask: got .*, wanted the address of a scheduler: "):
        kubeclassic.sweep(SPEC, dask=address)


def test_a_scheduler_without_workers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that has no workers in time is one line."""
    monkeypatch.setattr("kubeclassic.simulation.processes.ondask.SECONDS", 4)
    with dask_cluster(tmp_path, workers=0) as (address, _), pytest.raises(kubeclassic.KubeclassicError, match=r"which has no workers"):
        kubeclassic.sweep(SPEC, dask=address)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the error says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(kubeclassic.KubeclassicError, match=r"^dask: distributed is not installed: pip install 'kubeclassic\[sweep\]'$"):
        kubeclassic.sweep(SPEC, dask="tcp://127.0.0.1:9")
