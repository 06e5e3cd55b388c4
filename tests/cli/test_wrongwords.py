"""Wrong words on the command line, of all commands in one table: exit status 2, nothing printed, and a line that says what was wanted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubeclassic.cli import run
from tests.conftest import ROOT

EXPLAIN = "explain examples/cluster analytics/yearly-report"
COMPARE = "compare examples/cluster --a release=1.16 --b"
DRAIN = "drain examples/drain/cluster.yaml"
CURVE = "capacity examples/cluster --curve"
PLOT = "replay examples/day.yaml --plot"
NO_PATHS = "Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME"
NOWHERE = "/nowhere/x.svg cannot be written: no such file or directory"
NO_PICTURE = "--plot: got x.gif, wanted a name that ends in .svg, .png, .pdf"
WRONG: Mapping[str, str] = {
    "simulate": NO_PATHS,
    "simulate examples/cluster --context x": "--context: wanted --kubeconfig FILE, or the variable KUBECONFIG, too",
    f"{EXPLAIN} --want gpu-b2": 'node: got "gpu-b2", wanted a node of the cluster; did you mean "gpu-b1"',
    f"{EXPLAIN} --release 1.28,1.29 --node gpu-b1": "--release A,B cannot be combined with --node: it shows what differs between the two",
    f"{EXPLAIN} --release 1.28,1.29 --what-if": "--release A,B cannot be combined with --what-if",
    f"{EXPLAIN} --release 1.28,1.29 --seed 3": "--release A,B cannot be combined with --seed",
    f"{EXPLAIN} --release 1.29,1.28": "to: got 1.28, wanted a release after 1.29",
    f"{EXPLAIN} --release 1.27,1.28,1.29": "release: got 1.27,1.28,1.29, wanted one release, or two with a comma between",
    f"{EXPLAIN} --release 1.28,9.9": 'release: got "9.9"',
    f"{EXPLAIN} --what-if --node gpu-b1": "--what-if cannot be combined with --node",
    "explain examples/cluster shop/nobody --what-if": 'pod: got "shop/nobody"',
    f"{COMPARE} polcy=x": 'did you mean "policy"',
    f"{COMPARE} release": "wanted KEY=VALUE",
    f"{COMPARE} 'release=1.15 release=1.16'": "got release twice",
    f"{COMPARE} release=1.11": "1.11",
    f'{COMPARE} "release=\'1.15"': "no closing quotation",
    f"{COMPARE} 'release=1.16 profile=x.yaml'": "profile: got x.yaml, which release 1.16 does not have",
    f"{COMPARE} 'release=1.27 policy=x.json'": "policy: got x.json, which release 1.27 does not have",
    f"{COMPARE} 'release=1.27 percentage=many'": "wanted a number",
    f"{COMPARE} tie-break=coin": "wanted release, round-robin, first, random",
    f"{COMPARE} 'release=1.16 policy=absent.json'": "absent.json",
    f"{COMPARE} profile=absent.yaml": "absent.yaml",
    f"{COMPARE} 'release=1.27 percentage=101'": "not in valid range",
    **{
        f"{COMPARE} {key}=": f"kubeclassic: --b: got {key} without a value, wanted {key}="
        for key in ("release", "policy", "profile", "config", "feature-gates", "tie-break", "rules", "percentage")
    },
    **{f"{COMPARE} percentage={digits}": "wanted a number from 0 to 100" for digits in ("\u0661\u0660", "\u00b9", "1" * 5000, "1e1")},
    "drain": f"{NO_PATHS} (see kubeclassic drain --help)",
    "drain nowhere.yaml": "nowhere.yaml: got neither a path that is there nor, without any, a cluster with a node of that name.",
    DRAIN: "node: got none, wanted the names of nodes, --zone, --node-selector or --auto",
    f"{DRAIN} worker-9": 'node: got "worker-9", wanted a node of the cluster; did you mean',
    f"{DRAIN} worker-1 --auto": 'node: got "worker-1" beside --auto, wanted one of them',
    f"{DRAIN} worker-1 -l a=b": 'node: got "worker-1" beside --zone or --node-selector, wanted one of them',
    f"{DRAIN} worker-1 --keep 2": "--keep: got 2, wanted --auto too",
    f"{DRAIN} --auto --keep -2": "got -2, wanted 0 or more",
    f"{DRAIN} --auto --keep many": "got 'many', wanted a whole number",
    f"{DRAIN} --zone north-z": '--zone: got "north-z", wanted one of north-a, north-b; did you mean',
    f"{DRAIN} -l a=b": '--node-selector: got "a=b", which chooses no node',
    f"{DRAIN} -l ''": '--node-selector: got "", wanted labels such as pool=general',
    f"{DRAIN} --auto -l ===": '--node-selector: got "===", wanted KEY=VALUE',
    f"{DRAIN} worker-1 --pod-selector ===": '--pod-selector: got "===", wanted KEY=VALUE',
    f"{DRAIN} worker-1 -o xml": "'xml' is not one of",
    f"{DRAIN} worker-1 --release 1.11": '"1.11"',
    f"{CURVE} cpu=1..2 --plot x.gif": NO_PICTURE,
    f"{CURVE} cpu=1..2,memory=1..2,a/b=1..2 --plot x.svg": "--plot: got sizes of 3 resources, wanted one or two",
    "capacity examples/cluster --plot x.svg --pod p.yaml": "--plot needs --curve",
    f"{CURVE} cpu=1..2 --pods 3": "--curve cannot be combined with --pods: it counts as many of each size as fit",
    f"{CURVE} cpu=1..2:2 --plot /nowhere/x.svg": f"--plot: {NOWHERE}",
    f"{CURVE} cpu=1..2:2 --plot x.svg --output x.svg": "which is the file of --plot too",
    f"{PLOT} x.gif": NO_PICTURE,
    f"{PLOT} /nowhere/x.svg": f"--plot: {NOWHERE}",
    f"{PLOT} x.svg --series x.parquet": "--plot cannot be combined with --series FILE.parquet: it reads CSV",
    f"{PLOT} x.svg --output e.jsonl --checkpoint state": "--plot with --checkpoint needs --series",
    f"{PLOT} x.svg --series x.svg": "which is the file of --series too",
    "sweep nowhere.yaml": "nowhere.yaml",
    "sweep examples/sweep.yaml --jobs 0": "--jobs",
    "sweep examples/sweep.yaml --dask nonsense://x": "dask: got nonsense://x, wanted the address of a scheduler",
    "sweep examples/sweep.yaml --rules examples/rules.py:NOTHING": "--rules",
    "sweep examples/sweep.yaml --output examples/sweep.yaml": "sweep.yaml",
    "sweep examples/day.yaml": "got 6 documents, wanted one with cluster, pods, trace",
    "lab nope --no-open": "nope",
    "lab examples/cluster --no-open --release 1.35": 'got "1.35"',
    "lab examples/cluster --no-open --release 1.20 --policy examples/policies/bin-packing.yaml": "release 1.20 runs a profile",
    "lab examples/cluster --no-open --set pod": "--set 'pod'",
    "lab --no-open": NO_PATHS,
    "lab examples/cluster --no-open --profile p.yaml --release 1.14": "--profile",
    "policy migrate examples/policies/openshift-3.json examples/cluster": "wanted --check before it",
    "releases 1.16 --diff 1.15 1.16": "",
}
"""Words -> what is said of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples."""
    found = tmp_path_factory.mktemp("words")
    (found / "examples").symlink_to(ROOT / "examples")
    return found


@pytest.mark.parametrize("words", WRONG, ids=lambda words: words[:60])
def test_they_are_told_in_one_line(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 2, nothing on standard output, no file, and a short last line that says what was wanted."""
    monkeypatch.chdir(folder)
    assert run(shlex.split(words)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert WRONG[words] in told.err.splitlines()[-1]
    assert len(told.err) < 600
    assert [path.name for path in folder.iterdir()] == ["examples"]
