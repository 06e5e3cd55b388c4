"""Wrong words on the command line, of all commands in one table: exit status 2, nothing printed, and a line that says what was wanted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.support.manifests import node, pod
from tests.support.program import ran

EXPLAIN = "explain examples/cluster analytics/yearly-report"
COMPARE = "compare examples/cluster --a release=1.16 --b"
DRAIN = "drain examples/drain/cluster.yaml"
NO_PATHS = "Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME"
CAPACITY = "capacity ab.yaml --pod web.yaml"
NO_TEMPLATE = "wanted a Pod, a PodTemplate or a workload"
ADD = "capacity ab.yaml --add-node like:a"
NO_COST = "wanted a number above 0"
REPLAY = "replay good.yaml"
MIGRATE = "policy migrate examples/policies/openshift-labels.json"
FILES = {
    "ab.yaml": [node("a"), node("b")], "web.yaml": [pod("web")], "other.yaml": [pod("other")], "again.yaml": [pod("web")],
    "node.yaml": [node("c")], "nodes.yaml": [node("x"), node("y")], "two.yaml": [pod("one"), pod("two")], "empty.yaml": [],
    "map.yaml": [{"kind": "ConfigMap", "metadata": {"name": "x"}}], "good.yaml": [node("a"), pod("one")],
    "bad.yaml": [[{"opcode": "createNode"}]],
    "daemons.yaml": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {"template": pod("x")}}],
    "bad.jsonl": '{"time": 1, "event": "Create", "object": {}}\n', "pods.csv": "name,cpu_milli\n", "good.csv": "a,b\n",
}  # fmt: skip
"""A file -> its manifests, or its text."""
WRONG: Mapping[str, str] = {
    "simulate": NO_PATHS,
    "simulate examples/cluster --context x": "--context: wanted --kubeconfig FILE, or the variable KUBECONFIG, too",
    f"{EXPLAIN} --release 1.28,1.29": "wanted one release; what differs between two: kubeclassic upgrade ... --from 1.28 --to 1.29 --pod",
    f"{EXPLAIN} --want gpu-b2": 'node: got "gpu-b2", wanted a node of the cluster; did you mean "gpu-b1"',
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
    f"{DRAIN} worker-1 --keep 2": "--keep needs --auto",
    f"{DRAIN} --auto --keep -2": "got -2, wanted 0 or more",
    f"{DRAIN} --auto --keep many": "got 'many', wanted a whole number",
    f"{DRAIN} --zone north-z": '--zone: got "north-z", wanted one of north-a, north-b; did you mean',
    f"{DRAIN} -l a=b": '--node-selector: got "a=b", which chooses no node',
    f"{DRAIN} -l ''": '--node-selector: got "", wanted labels such as pool=general',
    f"{DRAIN} --auto -l ===": '--node-selector: got "===", wanted KEY=VALUE',
    f"{DRAIN} worker-1 --pod-selector ===": '--pod-selector: got "===", wanted KEY=VALUE',
    f"{DRAIN} worker-1 -o xml": "'xml' is not one of",
    f"{DRAIN} worker-1 --release 1.11": '"1.11"',
    "sweep nowhere.yaml": "nowhere.yaml",
    "sweep examples/sweep.yaml --jobs 0": "--jobs",
    "sweep examples/sweep.yaml --dask nonsense://x": "dask: got nonsense://x, wanted the address of a scheduler",
    "sweep examples/sweep.yaml --rules examples/rules.py:NOTHING": "--rules",
    "sweep examples/sweep.yaml --output examples/sweep.yaml": "sweep.yaml",
    "sweep examples/day.yaml": "got 5 documents, wanted one with cluster, pods, trace",
    "lab nope --no-open": "nope",
    "lab examples/cluster --no-open --release 1.37": 'got "1.37"',
    "lab examples/cluster --no-open --release 1.20 --policy examples/policies/bin-packing.json": "release 1.20 runs a profile",
    "lab examples/cluster --no-open --set pod": "--set 'pod'",
    "lab --no-open": NO_PATHS,
    "lab examples/cluster --no-open --profile p.yaml --release 1.14": "--profile",
    "policy migrate examples/policies/openshift-3.json examples/cluster": "wanted --check before it",
    "releases 1.16 --diff 1.15 1.16": "",
    "capacity ab.yaml": "--pod: got none, wanted a file with a Pod, a PodTemplate or a workload",
    "capacity ab.yaml --pod node.yaml": f"node.yaml: got Node, {NO_TEMPLATE}",
    "capacity ab.yaml --pod map.yaml": f"got ConfigMap, {NO_TEMPLATE}",
    "capacity ab.yaml --pod two.yaml": f"got Pod one, Pod two, {NO_TEMPLATE}, one a file",
    "capacity ab.yaml --pod daemons.yaml": "got DaemonSet agent, which has one pod a node",
    **{f"{CAPACITY} --pod other.yaml --ratio {ratio}": "ratio" for ratio in ("3", "0:1", "a", "1:1:1")},
    f"{CAPACITY} --pod again.yaml": "got two of the name default/web",
    f"{CAPACITY} --exclude-nodes c": 'exclude-nodes: got "c", wanted the name of a node or a selector',
    f"{CAPACITY} --exclude-nodes a,b": "which is every node, wanted one left at least",
    f"{CAPACITY} --exclude-nodes pool=z": 'exclude-nodes: got "pool=z", which chooses no node',
    f"{CAPACITY} --exclude-nodes pool=a,b": "which chooses no node",
    f"{CAPACITY} --exclude-nodes 'pool in a'": "exclude-nodes: got",
    f"{CAPACITY} --pods 10 --max-limit 5": "max-limit: got 5, wanted as many as pods 10 at least, or none",
    f"{CAPACITY} --preemption --disable-preemption": "--preemption cannot be combined with --disable-preemption",
    f"{CAPACITY} --pods 0": "got 0, wanted 1 or more",
    f"{CAPACITY} --pods x": "got 'x', wanted a whole number",
    f"{CAPACITY} --max-limit -1": "got -1, wanted 0 or more",
    "capacity ab.yaml --add-node like:aa": 'add-node: got "like:aa", wanted the name of a node after like:; did you mean "a"?',
    "capacity ab.yaml --add-node no.yaml": 'add-node: got "no.yaml", which is no file, wanted a file with one Node, or like:NODE',
    "capacity ab.yaml --add-node web.yaml": "web.yaml: got Pod, wanted one Node",
    "capacity ab.yaml --add-node nodes.yaml": "nodes.yaml: got 2 Nodes, wanted one Node",
    "capacity ab.yaml --add-node empty.yaml": "empty.yaml: got nothing, wanted one Node",
    f"{ADD} --add-node like:a": "add-node: got two of the name a, wanted different names",
    f"{ADD} --cost c=1": 'cost: got "c", wanted the name of a node to add',
    f"{ADD} --cost 1": 'cost: got "1", wanted NAME=NUMBER',
    **{f"{ADD} --cost a={cost}": f"cost: got a={cost}, {NO_COST}" for cost in ("-1", "0", "nan", "much")},
    f"{ADD} --cost a=1,a=2": "cost: got a twice, wanted each once",
    f"{ADD} --add-node node.yaml --cost a=1": "cost: got none for c, wanted one for each node to add, or none at all",
    f"{ADD} --most-nodes -1": "got -1, wanted 1 or more",
    "capacity ab.yaml --cost a=1": "--cost needs --add-node",
    "capacity ab.yaml --most-nodes 3": "--most-nodes needs --add-node",
    f"{ADD} --pod web.yaml": "--pods: got none, wanted the number of copies that new nodes are for",
    f"{ADD} --pods 3": "--pods needs --pod: else new nodes are for the pods that wait",
    f"{ADD} --max-limit 3": "--max-limit cannot be combined with --add-node",
    "replay nothere.yaml": "kubeclassic: nothere.yaml: no such file or directory",
    "replay empty.yaml": "kubeclassic: empty.yaml: got no Node, wanted one at least",
    "replay bad.jsonl": 'bad.jsonl, document 1: event: got "Create", wanted Add, Update, Delete, Drain, Fail or Recover',
    "replay bad.yaml": 'kubeclassic: bad.yaml, document 1: opcode: got "createNode", wanted one of createNodes',
    "replay pods.csv": "kubeclassic: pods.csv: got no list of nodes beside it, wanted both CSV files of the trace",
    "replay good.csv": "good.csv, line 1: got columns a,b, wanted those of nodes (sn, ...) or of pods (name, ...)",
    f"{REPLAY} --until soon": "Invalid value for '--until': got \"soon\", wanted seconds, or a duration such as 90s, 1.5h or 2m30s",
    f"{REPLAY} --compress-time 0": "Invalid value for '--compress-time'",
    f"{REPLAY} --output nothere/e": "kubeclassic: nothere/e: cannot be written: no such file or directory",
    f"{MIGRATE} --report check.html": "--report needs --check",
    f"{MIGRATE} --report check.pdf --check examples/cluster": "wanted a name that ends in .html, .json, .txt",
    f"{MIGRATE} --check nowhere": "nowhere",
    "snapshot --redact-map x": "--redact-map: wanted --redact too",
}
"""Words -> what is said of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples and the files."""
    found = tmp_path_factory.mktemp("words")
    (found / "examples").symlink_to(ROOT / "examples")
    for name, content in FILES.items():
        (found / name).write_text(content if isinstance(content, str) else yaml.safe_dump_all(content), encoding="utf-8")
    return found


@pytest.mark.parametrize("words", WRONG, ids=lambda words: words[:60])
def test_they_are_told_in_one_line(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit status 2, nothing on standard output, no file, and a short last line that says what was wanted."""
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    out, err = ran(*shlex.split(words), status=2)
    assert out == ""
    assert WRONG[words] in err.splitlines()[-1]
    assert len(err) < 600
    assert sorted(folder.iterdir()) == before
