"""The scenarios of ``tests/bench/live``: those that can run against the API server of the tests do, and what
is missing is said."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.whole


def test_against_the_server_of_the_tests(tmp_path):
    """A burst and faults end with all pods bound, none twice, and no lease lost."""
    command = [
        sys.executable,
        str(ROOT / "tests" / "bench" / "live"),
        "--in-process",
        "--release",
        "1.27",
        "--pods",
        "40",
        "--nodes",
        "5",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KUBECLASSIC_")}
    found = subprocess.run(
        [*command, "--output", str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["burst", "faults: kill", "faults: term", "faults: end"], found.stderr
    assert {row[-1] for row in rows} == {"nothing"}
    assert all("bound 40" in row[4] for row in rows if row[0] in ("burst", "faults: end"))
    assert "leases lost 0" in rows[0][4]
    assert found.returncode == 0
