"""The scenarios of ``tests/bench/live``: those that can run against the API server of the tests do, and what is missing is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.live.programs import SKIPPED
from tests.conftest import ROOT


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    """A run of the command."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KUBECLASSIC_")}
    command = [sys.executable, str(ROOT / "tests" / "bench" / "live"), *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_no_folder() -> None:
    """Without a folder of programs one sentence says so, with a status of its own."""
    found = bench("burst")
    assert (found.returncode, found.stdout) == (SKIPPED, "")
    assert found.stderr == "no folder has kube-apiserver and kube-scheduler: wanted --kube FOLDER or KUBECLASSIC_KUBE\n"


def test_missing_programs(tmp_path: Path) -> None:
    """A folder that lacks a program, and a machine without etcd, are told."""
    found = bench("--kube", str(tmp_path))
    assert (found.returncode, found.stderr) == (SKIPPED, f"{tmp_path} has no kube-apiserver and no kube-scheduler\n")
    for name in ("kube-apiserver", "kube-scheduler"):
        (tmp_path / name).touch(0o755)
    found = bench("--kube", str(tmp_path), "--etcd", str(tmp_path))
    assert found.returncode == SKIPPED
    assert found.stderr.startswith(f"there is no etcd in {tmp_path}: wanted one there")


def test_lockstep_needs_the_original() -> None:
    """A scenario beside kube-scheduler is not run without it."""
    found = bench("lockstep", "--in-process")
    assert found.returncode == SKIPPED
    assert found.stderr.startswith("this scenario runs kube-apiserver and kube-scheduler")


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_against_the_server_of_the_tests(release: str, tmp_path: Path) -> None:
    """A burst, faults and throughput end with all pods bound, none twice, and no lease lost."""
    found = bench("--in-process", "--release", release, "--pods", "40", "--nodes", "5", "--output", str(tmp_path))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["burst", "faults: kill", "faults: term", "faults: end", "throughput"], found.stderr
    assert {row[-1] for row in rows} == {"nothing"}
    assert all("bound 40" in row[4] for row in rows if row[0] in ("burst", "faults: end", "throughput"))
    assert "leases lost 0" in rows[0][4]
    assert found.returncode == 0
