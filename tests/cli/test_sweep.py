"""``kubeclassic sweep``: the table in its forms, the files, and exit statuses."""

import csv
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from kubeclassic.api.record import API_VERSION
from kubeclassic.cli import run
from kubeclassic.framework.userrules import rule_files
from tests.conftest import ROOT
from tests.support.program import ran

GRID = "grid: {release: ['1.12', '1.16'], order: shuffled, seed: [0, 2]}\n"


@pytest.fixture
def sweep(workdir):
    """The file of a sweep, in the current folder, which has the examples."""
    (workdir / "examples").symlink_to(ROOT / "examples")
    path = workdir / "sweep.yaml"
    path.write_text(f"cluster: examples/cluster\n{GRID}")
    return path


# --- Forms --------------------------------------------------------------------------------------------------


def test_a_table(sweep):
    """The table has a row a run."""
    told = ran("sweep", "sweep.yaml", "--jobs", "1")
    assert told.out.split()[:5] == ["RUN", "RELEASE", "ORDER", "SEED", "PLACED"]
    assert len(told.out.splitlines()) == 5
    assert told.err.startswith("4 runs\n")


def test_csv(sweep):
    """CSV is the table alone."""
    rows = list(csv.DictReader(io.StringIO(ran("sweep", "sweep.yaml", "-o", "csv", "-j", "1").out)))
    assert [row["release"] for row in rows] == ["1.12", "1.12", "1.16", "1.16"]
    assert {row["error"] for row in rows} == {""}


def test_json_is_as_the_schema_says(sweep):
    """The JSON is as the schema says; --output FILE takes it."""
    assert ran("sweep", "sweep.yaml", "-o", "json", "-j", "1", "--output", "runs.json").out == ""
    document = json.loads(Path("runs.json").read_text())
    assert document == ran("sweep", "sweep.yaml", "-o", "json", "-j", "1").document
    assert document["apiVersion"] == API_VERSION


@pytest.mark.whole
class TestRules:
    @pytest.mark.parametrize("is_loaded_before", [False, True])
    def test_own_rules_of_both_kinds(self, sweep, tmp_path, monkeypatch, capsys, is_loaded_before):
        """A catalogue is for releases with predicates, plugins for the others; other modules of the same
        names change nothing."""
        sweep.write_text(
            "cluster: examples/cluster\ngrid: {release: ['1.16', '1.27']}\nobjectives: [placed]\n"
        )
        rules = ["--rules", "examples/rules.py:CATALOGUE", "--rules", "examples/plugins.py:PLUGINS"]
        for name in rule_files():
            monkeypatch.delitem(sys.modules, name)
        if is_loaded_before:
            ran("simulate", "examples/cluster", "--release", "1.16", *rules[:2], status=1)
        for kind in (
            "rules",
            "plugins",
        ):  # other modules of these names come first wherever modules are looked for
            (tmp_path / "others").mkdir(exist_ok=True)
            (tmp_path / "others" / f"{kind}.py").write_text("")
        monkeypatch.syspath_prepend(str(tmp_path / "others"))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "others"), prepend=os.pathsep)
        with_rules = ran("sweep", "sweep.yaml", "-o", "csv", "-j", "2", *rules).out
        for release, place in (("1.16", rules[1]), ("1.27", rules[3])):
            run(["simulate", "examples/cluster", "--release", release, "--rules", place, "-o", "json"])
            placed = json.loads(capsys.readouterr().out)["summary"]["placed"]
            assert f",{release},{placed}," in with_rules


def test_a_weight_of_ones_own_rule(sweep):
    """The file names the rules, with its own folder's path; each weight is a row."""
    listed = json.loads(ran("sweep", "examples/sweep-rules.yaml", "-o", "json", "-j", "1").out)["runs"]
    assert [row["weights.FewerPods"] for row in listed] == [0, 1, 5]
    assert [row["error"] for row in listed] == [None] * 3
    assert listed[0]["imbalance"] > listed[2]["imbalance"]


@pytest.mark.parametrize("file", ["c.yaml", "p.json", "r.py", "q.py", "x.jsonl", "sweep.yaml"])
def test_what_its_runs_read_is_not_written_over(sweep, file):
    """The file of a sweep names what it reads."""
    shutil.copy("examples/policies/bin-packing.json", "p.json")
    Path("c.yaml").write_text("{kind: Node, metadata: {name: a}}")
    grid = "{rules: ['r.py:RULES', null], extenders: [replay x.jsonl, null]}"
    sweep.write_text(f"cluster: [c.yaml]\nruns: [{{name: a, policy: p.json}}]\ngrid: {grid}\n")
    told = ran("sweep", "sweep.yaml", "--rules", "q.py:RULES", "--output", file, status=2).err
    assert told == f"kubeclassic: --output: expected another file, got {file}, which is an input too\n"


def test_an_objective_about_what_no_node_has(sweep):
    """It has no values, which is said."""
    sweep.write_text("cluster: examples/cluster\nobjectives: [gpu used, nvidia.com/gpu used, zone skew]\n")
    assert (
        ran("sweep", "sweep.yaml", "-j", "1").err == "warning: objectives: gpu used: no node has gpu\n1 run\n"
    )


def test_failed_runs_are_status_1(sweep):
    """Runs that fail are rows with their errors, and status 1."""
    sweep.write_text("cluster: examples/cluster\nruns: [{name: a}, {name: b, provider: Nobody}]\n")
    told = ran("sweep", "sweep.yaml", status=1)
    assert 'plugin "Nobody" has not been registered' in told.out
    assert told.err.startswith("2 runs, 1 failed\n")
