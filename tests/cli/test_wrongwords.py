"""Wrong words on the command line, of all commands in one table: exit status 2, nothing printed, and a line
that says what was wanted."""

import gzip
import shlex

import pytest
import yaml

from kubeclassic.questions.replay.times import DURATION
from tests.conftest import ROOT
from tests.support.manifests import manifest, node, pod
from tests.support.program import ran

EXPLAIN = "explain examples/cluster analytics/yearly-report"
COMPARE = "compare examples/cluster --a release=1.16 --b"
DRAIN = "drain examples/drain/cluster.yaml"
NO_PATHS = "Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME"
CAPACITY = "capacity ab.yaml --pod web.yaml"
NO_TEMPLATE = "expected a Pod, a PodTemplate or a workload"
ADD = "capacity ab.yaml --add-node like:a"
LABELS = "KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY"
NO_COST = "expected a number above 0"
REPLAY = "replay good.yaml"
MIGRATE = "policy migrate examples/policies/openshift-labels.json"
FILES = {
    "ab.yaml": [node("a"), node("b")],
    "web.yaml": [pod("web")],
    "other.yaml": [pod("other")],
    "again.yaml": [pod("web")],
    "node.yaml": [node("c")],
    "nodes.yaml": [node("x"), node("z")],
    "two.yaml": [pod("one"), pod("two")],
    "empty.yaml": [],
    "map.yaml": [manifest("ConfigMap", "x")],
    "good.yaml": [node("a"), pod("one")],
    "bad.yaml": [[{"opcode": "createNode"}]],
    "daemons.yaml": [manifest("DaemonSet", "agent", apiVersion="apps/v1beta1", spec={"template": pod("x")})],
    "bad.jsonl": '{"time": 1, "event": "Create", "object": {}}\n',
    "pods.csv": "name,cpu_milli\n",
    "good.csv": "a,b\n",
}
"""A file -> its manifests, or its text."""
WRONG = {
    "simulate": NO_PATHS,
    "simulate examples/cluster --context x": "--context: expected --kubeconfig FILE, or the variable KUBECONFIG, too",
    f"{EXPLAIN} --release 1.28,1.29": "got 1.28,1.29; what differs between two: kubeclassic upgrade ... --from 1.28 --to 1.29 --pod",
    f"{EXPLAIN} --want gpu-b2": 'node: expected a node of the cluster, got "gpu-b2"; did you mean "gpu-b1"',
    f"{EXPLAIN} --what-if --node gpu-b1": "--what-if cannot be combined with --node",
    f"{EXPLAIN} --all --node gpu-b1": "--all cannot be combined with --node: one node is shown in full",
    "run --kubeconfig x -o json": "-o json needs --dry-run or --explain",
    "sweep examples/sweep.yaml --jobs 2 --dask tcp://x:1": "--jobs cannot be combined with --dask",
    "explain examples/cluster shop/nobody --what-if": 'pod: expected a pod of the input, got "shop/nobody"',
    f"{COMPARE} polcy=x": 'did you mean "policy"',
    f"{COMPARE} release": "expected KEY=VALUE",
    f"{COMPARE} 'release=1.15 release=1.16'": "got release twice",
    f"{COMPARE} release=1.11": "1.11",
    f'{COMPARE} "release=\'1.15"': "no closing quotation",
    f"{COMPARE} 'release=1.16 profile=x.yaml'": "got x.yaml, which release 1.16 does not have",
    f"{COMPARE} 'release=1.27 policy=x.json'": "got x.json, which release 1.27 does not have",
    f"{COMPARE} 'release=1.27 percentage=many'": "expected a number",
    f"{COMPARE} tie-break=coin": "expected release, round-robin, first, random",
    f"{COMPARE} 'release=1.16 policy=absent.json'": "absent.json",
    f"{COMPARE} profile=absent.yaml": "absent.yaml",
    f"{COMPARE} 'release=1.27 percentage=101'": "not in valid range",
    **{
        f"{COMPARE} {key}=": f"kubeclassic: --b: expected {key}={value}, got {key} without a value"
        for key, value in {
            "release": "RELEASE",
            "policy": "FILE",
            "profile": "FILE",
            "config": "FILE",
            "feature-gates": "GATE=true",
            "tie-break": "random",
            "rules": "MODULE:NAME",
            "percentage": "100",
        }.items()
    },
    **{
        f"{COMPARE} percentage={digits}": "expected a number from 0 to 100"
        for digits in ("\u0661\u0660", "\u00b9", "1" * 5000, "1e1")
    },
    "drain": f"{NO_PATHS} (see kubeclassic drain --help)",
    "drain nowhere.yaml": "nowhere.yaml: got neither a path that is there nor, without any, a cluster with a node of that name.",
    DRAIN: "node: expected the names of nodes, --zone, --node-selector or --auto, got none",
    f"{DRAIN} worker-9": 'node: expected a node of the cluster, got "worker-9"; did you mean',
    f"{DRAIN} worker-1 --auto": "node: expected names or --auto, got both",
    f"{DRAIN} worker-1 -l a=b": "node: expected names or --zone or --node-selector, got both",
    f"{DRAIN} worker-1 --keep 2": "--keep needs --auto",
    f"{DRAIN} --auto --keep -2": "expected 0 or more, got -2",
    f"{DRAIN} --auto --keep many": "expected a whole number, got 'many'",
    f"{DRAIN} --zone north-z": '--zone: expected one of north-a, north-b, got "north-z"; did you mean',
    f"{DRAIN} -l a=b": '--node-selector: got "a=b", which chooses no node',
    f"{DRAIN} -l ''": '--node-selector: expected labels such as pool=general, got ""',
    f"{DRAIN} --auto -l ===": f'--node-selector: expected {LABELS}, got "==="',
    f"{DRAIN} worker-1 --pod-selector ===": f'--pod-selector: expected {LABELS}, got "==="',
    f"{DRAIN} worker-1 -o xml": "'xml' is not one of",
    f"{DRAIN} worker-1 --release 1.11": '"1.11"',
    "sweep nowhere.yaml": "nowhere.yaml",
    "sweep examples/sweep.yaml --jobs 0": "--jobs",
    "sweep examples/sweep.yaml --dask nonsense://x": "dask: expected the address of a scheduler, got nonsense://x",
    "sweep examples/sweep.yaml --rules examples/rules.py:NOTHING": "--rules",
    "sweep examples/sweep.yaml --output examples/sweep.yaml": "sweep.yaml",
    "sweep examples/day.yaml": "objectives, got 5 documents",
    "lab nope --no-open": "nope",
    "lab examples/cluster --no-open --release 1.37": 'got "1.37"',
    "lab examples/cluster --no-open --release 1.20 --policy examples/policies/bin-packing.json": "release 1.20 runs a profile",
    "lab examples/cluster --no-open --set pod": "--set 'pod'",
    "lab --no-open": NO_PATHS,
    "lab examples/cluster --no-open --profile p.yaml --release 1.14": "--profile",
    "policy migrate examples/policies/openshift-3.json examples/cluster": "expected --check before ",
    "releases 1.16 --diff 1.15 1.16": "",
    "capacity ab.yaml": "--pod: expected a file with a Pod, a PodTemplate or a workload, got none",
    "capacity ab.yaml --pod node.yaml": f"node.yaml: {NO_TEMPLATE}, got Node",
    "capacity ab.yaml --pod map.yaml": f"{NO_TEMPLATE}, got ConfigMap",
    "capacity ab.yaml --pod two.yaml": f"{NO_TEMPLATE}, one a file, got Pod one, Pod two",
    "capacity ab.yaml --pod daemons.yaml": "got DaemonSet agent, which has one pod a node",
    **{f"{CAPACITY} --pod other.yaml --ratio {ratio}": "ratio" for ratio in ("3", "0:1", "a", "1:1:1")},
    f"{CAPACITY} --pod again.yaml": "expected different names, got default/web twice",
    f"{CAPACITY} --exclude-nodes c": 'exclude-nodes: expected the name of a node or a selector, got "c"',
    f"{CAPACITY} --exclude-nodes a,b": "expected to keep at least one node",
    f"{CAPACITY} --exclude-nodes pool=z": 'exclude-nodes: got "pool=z", which chooses no node',
    f"{CAPACITY} --exclude-nodes pool=a,b": "which chooses no node",
    f"{CAPACITY} --exclude-nodes 'pool in a'": "exclude-nodes: expected",
    f"{CAPACITY} --pods 10 --max-limit 5": "max-limit: expected as many as pods 10 at least, or none, got 5",
    f"{CAPACITY} --preemption --disable-preemption": "--preemption cannot be combined with --disable-preemption",
    f"{CAPACITY} --pods 0": "expected 1 or more, got 0",
    f"{CAPACITY} --pods x": "expected a whole number, got 'x'",
    f"{CAPACITY} --max-limit -1": "expected 0 or more, got -1",
    "capacity ab.yaml --add-node like:aa": 'add-node: expected the name of a node after like:, got "like:aa"; did you mean "a"?',
    "capacity ab.yaml --add-node no.yaml": 'add-node: expected a file with one Node, or like:NODE, got "no.yaml", which is no file',
    "capacity ab.yaml --add-node web.yaml": "web.yaml: expected one Node, got Pod",
    "capacity ab.yaml --add-node nodes.yaml": "nodes.yaml: expected one Node, got 2 Nodes",
    "capacity ab.yaml --add-node empty.yaml": "empty.yaml: expected one Node, got nothing",
    f"{ADD} --add-node like:a": "add-node: expected different names, got a twice",
    f"{ADD} --cost c=1": 'cost: expected the name of a node to add, got "c"',
    f"{ADD} --cost 1": 'cost: expected NAME=NUMBER, got "1"',
    **{f"{ADD} --cost a={cost}": f"cost: {NO_COST}, got a={cost}" for cost in ("-1", "0", "nan", "much")},
    f"{ADD} --cost a=1,a=2": "cost: expected each once, got a twice",
    f"{ADD} --add-node node.yaml --cost a=1": "cost: expected one for each node to add, or none at all, got none for c",
    f"{ADD} --most-nodes -1": "expected 1 or more, got -1",
    "capacity ab.yaml --cost a=1": "--cost needs --add-node",
    "capacity ab.yaml --most-nodes 3": "--most-nodes needs --add-node",
    f"{ADD} --pod web.yaml": "--pods: expected the number of copies that new nodes are for, got none",
    f"{ADD} --pods 3": "--pods needs --pod: without it, new nodes are for pending pods",
    f"{ADD} --max-limit 3": "--max-limit cannot be combined with --add-node",
    "replay nothere.yaml": "kubeclassic: nothere.yaml: no such file or directory",
    "replay empty.yaml": "kubeclassic: empty.yaml: expected at least one Node, got none",
    "replay bad.jsonl": 'bad.jsonl, document 1: event: expected Add, Update, Delete, Drain, Fail or Recover, got "Create"',
    "replay bad.yaml": 'deleteNodes, got "createNode"; did you mean',
    "replay pods.csv": "kubeclassic: pods.csv: expected both CSV files of the trace, got none with nodes",
    "replay good.csv": "good.csv, line 1: expected the columns of nodes (sn, ...) or of pods (name, ...), got a,b",
    f"{REPLAY} --until soon": "Invalid value for '--until': expected seconds, or a duration such as 90s, 1.5h or 2m30s, got \"soon\"",
    f"{REPLAY} --output nothere/e": "kubeclassic: nothere/e: cannot be written: no such file or directory",
    f"{MIGRATE} --report check.html": "--report needs --check",
    f"{MIGRATE} --check nowhere": "nowhere",
    "snapshot --redact-map x": "--redact-map: expected --redact too",
    **{
        f"shadow --for {time}": f'expected {DURATION}, got "{time}"'
        for time in ("nan", "inf", "-1", "1_0", "\u0665")
    },
}
"""Words -> what is said of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the examples and the files."""
    found = tmp_path_factory.mktemp("words")
    (found / "examples").symlink_to(ROOT / "examples")
    for name, content in FILES.items():
        (found / name).write_text(content if isinstance(content, str) else yaml.safe_dump_all(content))
    return found


@pytest.mark.parametrize("words", WRONG, ids=lambda words: words[:60])
def test_they_are_told_in_one_line(words, folder, monkeypatch):
    """Exit status 2, nothing on standard output, no file, and a short last line that says what was wanted."""
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    out, err = ran(*shlex.split(words), status=2)
    assert out == ""
    assert WRONG[words] in err.splitlines()[-1]
    assert len(err) < 600
    assert sorted(folder.iterdir()) == before


NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {pods: 9}}\n"
POD = "kind: Pod\nmetadata: {name: web}\n"
PROFILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
TAINTED = "kind: Node\nmetadata: {name: worker-7}\nspec: {taints: [{key: a, effect: NoSched}]}\n"

BAD_FILES = {
    "good.yaml": f"{NODE}---\n{POD}",
    "broken.yaml": "kind: Node\nmetadata:\n  name: [a\n",
    "broken.json": '{"kind": "Node",\n "metadata": }',
    "taint.yaml": f"{NODE}---\n{POD}---\n{TAINTED}",
    "quantity.yaml": "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 1x}}\n",
    "number.yaml": "kind: Pod\nmetadata: {name: web}\nspec: {priority: high}\n",
    "list.yaml": "- 1\n- 2\n",
    "kindless.yaml": "metadata: {name: a}\n",
    "nameless.yaml": "kind: Node\nmetadata: {}\n",
    "twice.yaml": f"{NODE}---\n{NODE}",
    "template.yaml": f"{NODE}---\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{replicas: 2}}\n",
    "nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\na,1000,4096,0,\nb,1k,4096,0,\n",
    "few.csv": "sn,cpu_milli\na,1000\n",
    "pods.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\np,1,1,0,0\n",
    "wide.csv": "sn,cpu_milli,memory_mib,gpu,model\na,1,1,0,,,x\n",
    "ok.csv": "sn,cpu_milli,memory_mib\na,1000,4096\n",
    "policy.json": '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsNothing"}]}',
    "profile.yaml": PROFILE,
    "older.yaml": PROFILE.replace("/v1", "/v1alpha1"),
    "field.yaml": f"{PROFILE}profils: []\n",
    "plugin.yaml": f"{PROFILE}profiles: [{{plugins: {{filter: {{enabled: [{{name: Nope}}]}}}}}}]\n",
    "names.yaml": f"{PROFILE}profiles: [{{schedulerName: a}}, {{schedulerName: a}}]\n",
    "two.yaml": f"{PROFILE}---\n{PROFILE}",
}

SIMULATE = [
    ("nothere.yaml", "nothere.yaml: no such file or directory"),
    (
        "empty",
        "empty: expected *.yaml, *.yml, *.json, *.jsonl or these with .gz, got a directory without manifests",
    ),
    ("broken.yaml", "broken.yaml, line 4, column 1: broken YAML: did not find expected ',' or ']'"),
    ("broken.json", "broken.json, line 2, column 14: broken JSON: expecting value"),
    ("broken.gz", "broken.gz: broken gzip data"),
    (
        "taint.yaml",
        'taint.yaml, document 3 (Node worker-7): spec.taints[0].effect: expected NoSchedule, PreferNoSchedule or NoExecute, got "NoSched"',
    ),
    (
        "quantity.yaml",
        'quantity.yaml, document 1 (Node a): status.allocatable.cpu: expected a quantity such as 500m, 2 or 1.5Gi, got "1x"',
    ),
    ("number.yaml", 'number.yaml, document 1 (Pod web): spec.priority: expected a whole number, got "high"'),
    ("list.yaml", "list.yaml, document 1: expected a Kubernetes object, got 1"),
    (
        "kindless.yaml",
        "kindless.yaml, document 1: kind: expected the kind of a Kubernetes object, got nothing",
    ),
    ("nameless.yaml", "nameless.yaml, document 1 (Node): metadata.name: expected a name, got nothing"),
    ("twice.yaml", "twice.yaml, document 2 (Node a): metadata.name: expected each node once, got a again"),
    ("template.yaml", "Deployment web: spec.template: expected a pod template, got nothing"),
    ("number-free.yaml", "number-free.yaml: expected at least one Node, got none"),
    ("good.yaml --release 1.11", 'release: expected 1.12 to 1.36 or auto, got "1.11"'),
    (
        "good.yaml --provider DefaultProvidor",
        '--provider: plugin "DefaultProvidor" has not been registered, expected DefaultProvider or ClusterAutoscalerProvider',
    ),
    (
        "good.yaml --release 1.16 --feature-gates EvenPodSpread=true",
        '--feature-gates: unrecognized feature gate: EvenPodSpread; did you mean "EvenPodsSpread"?',
    ),
    ("good.yaml --feature-gates EvenPodsSpread", "missing bool value for EvenPodsSpread"),
    (
        "good.yaml --feature-gates EvenPodsSpread=yes",
        'invalid value of EvenPodsSpread=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
    ),
    ("good.yaml --policy nothere.json", "missing policy config file nothere.json"),
    (
        "good.yaml --policy policy.json",
        "policy.json: Invalid configuration: Predicate type not found for PodFitsNothing\n"
        "no release has PodFitsNothing; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it; "
        'did you mean "PodFitsPorts" or "PodFitsHostPorts"?',
    ),
    (
        "good.yaml --policy-configmap p",
        """couldn't get policy config map kube-system/p: configmaps "p" not found""",
    ),
    ("good.yaml --config nothere.yaml", "nothere.yaml: no such file or directory"),
    (
        "good.yaml --percentage-of-nodes-to-score 101",
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    ),
    (
        "good.yaml --hard-pod-affinity-symmetric-weight -1",
        "hardPodAffinitySymmetricWeight: Invalid value: -1: not in valid range 0-100",
    ),
    ("good.yaml --equivalence-cache", "--equivalence-cache: 1.16 has none"),
    (
        "good.yaml --release 1.16 --rules mine",
        '--rules: expected FILE.py:CATALOGUE or MODULE:CATALOGUE, got "mine"',
    ),
    (
        "good.yaml --rules nowhere:MINE",
        """--rules: got "nowhere:MINE": ModuleNotFoundError: No module named 'nowhere'""",
    ),
    ("good.yaml --release 1.16 --rules json:decoder", '--rules: got "json:decoder", which is no Catalogue'),
    ("good.yaml --pods nothere.yaml", "nothere.yaml: no such file or directory"),
    ("good.yaml --output nothere/out.json", "nothere/out.json: cannot be written: no such file or directory"),
]

LISTED = "`kubeclassic releases 1.27` lists those of 1.27"
NOT_OLDER = "expected release 1.36, got profile.yaml, which release 1.16 does not have"
NOT_NEWER = "which release 1.27 does not have"
MIGRATED = "a profile, which `kubeclassic policy migrate` makes of a Policy"
PROFILES = [
    ("--profile profile.yaml --release 1.16", f"--profile: {NOT_OLDER}"),
    ("--profile profile.yaml --release v1.16.3", f"--profile: {NOT_OLDER}"),
    ("--release 1.27 --policy policy.json", f"--policy: expected {MIGRATED}, got policy.json, {NOT_NEWER}"),
    (
        "--release 1.27 --profile profile.yaml --policy policy.json",
        f"--policy: expected {MIGRATED}, got policy.json, {NOT_NEWER}",
    ),
    ("--release 1.27 --policy-configmap p", f"--policy-configmap: expected {MIGRATED}, got p, {NOT_NEWER}"),
    (
        "--release 1.27 --provider DefaultProvider",
        f"--provider: expected a profile, got DefaultProvider, {NOT_NEWER}",
    ),
    (
        "--release 1.27 --hard-pod-affinity-symmetric-weight 5",
        f"--hard-pod-affinity-symmetric-weight: expected hardPodAffinityWeight of InterPodAffinity in a profile, got 5, {NOT_NEWER}",
    ),
    (
        "--release 1.27 --scheduler-name mine",
        f"--scheduler-name: expected schedulerName of a profile, got mine, {NOT_NEWER}",
    ),
    ("--release 1.27 --equivalence-cache", f"--equivalence-cache: expected none, got one, {NOT_NEWER}"),
    (
        "--profile profile.yaml --config older.yaml",
        "--profile cannot be combined with --config: from 1.17 on they are the same",
    ),
    (
        "--release 1.27 --feature-gates EvenPodsSpread=true",
        f"--feature-gates: unrecognized feature gate: EvenPodsSpread; {LISTED}",
    ),
    (
        "--release 1.27 --profile profile.yaml --feature-gates EvenPodsSpread=true",
        f"--feature-gates: unrecognized feature gate: EvenPodsSpread; {LISTED}",
    ),
    (
        "--release 1.27 --percentage-of-nodes-to-score 101",
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    ),
    ("--profile nothere.yaml", "nothere.yaml: no such file or directory"),
    ("--profile two.yaml", "two.yaml: expected one KubeSchedulerConfiguration, got 2 documents"),
    ("--profile field.yaml", 'field.yaml: strict decoding error: unknown field "profils"'),
    (
        "--release 1.27 --profile names.yaml",
        "names.yaml: profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName",
    ),
    (
        "--profile plugin.yaml",
        "plugin.yaml: initializing profiles: creating profile for scheduler name default-scheduler: "
        'FilterPlugin "Nope" does not exist\n'
        "no plugin Nope is known; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it, and --plugins leave-out goes "
        "without",
    ),
    (
        "--release 1.27 --config older.yaml",
        'older.yaml: no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1alpha1" in scheme '
        '"k8s.io/kubernetes/pkg/scheduler"',
    ),
    ("--release 1.27 --rules mine", '--rules: expected FILE.py:PLUGIN or MODULE:PLUGIN, got "mine"'),
    ("--release 1.27 --rules json:nothing", '--rules: got "json:nothing", but json has no nothing'),
    (
        "--release 1.27 --rules json:decoder",
        '--rules: expected the class of a plugin, or a list of such, got "json:decoder"',
    ),
    (
        "--release 1.27 --rules kubeclassic.framework.plugins.nodename:NodeName",
        "a plugin named NodeName already exists",
    ),
]
"""Options of one kind of release that the other does not have, and profiles that are refused."""

OTHERS = [
    ("explain good.yaml db", 'pod: expected a pod of the input, got "db"'),
    ("explain good.yaml wep", 'pod: expected a pod of the input, got "wep"; did you mean "web"?'),
    ("explain good.yaml web --node b1", 'node: expected a node of the cluster, got "b1"'),
    ("explain good.yaml web -n shop", 'pod: expected a pod of the input in namespace shop, got "web"'),
    (
        "explain good.yaml deploy/web",
        'Deployment: expected a Deployment that has one, got "deploy/web", which has no pod in the input',
    ),
    ("import openb nothere.csv pods.csv", "nothere.csv: no such file or directory"),
    (
        "import openb few.csv pods.csv",
        "few.csv, line 1: expected the columns memory_mib too, got sn,cpu_milli",
    ),
    ("import openb nodes.csv pods.csv", 'nodes.csv, line 3: cpu_milli: expected a whole number, got "1k"'),
    ("import openb wide.csv pods.csv", "wide.csv, line 2: expected at most 5 values, got 7"),
    ("import openb ok.csv pods.csv", 'pods.csv, line 3: name: expected each name once, got "p" again'),
]


@pytest.fixture
def bad_folder(workdir):
    """A working folder with the files above."""
    for name, text in BAD_FILES.items():
        (workdir / name).write_text(text)
    (workdir / "empty").mkdir()
    (workdir / "broken.gz").write_bytes(gzip.compress(b"kind: Node")[:-4])
    (workdir / "number-free.yaml").write_text(POD)
    return workdir


def refusal(arguments):
    """The error for *arguments*, which must be refused with exit status 2 and nothing on standard output.

    If a fault shows only after the cluster is read, the line about the default release comes first.
    """
    told = ran(*arguments.split(), status=2)
    assert told.out == ""
    return told.err.removeprefix(
        "release 1.36 by default: no node says a release in status.nodeInfo.kubeletVersion\n"
    )


@pytest.mark.parametrize(
    "arguments, wanted", [*((f"simulate {given}", wanted) for given, wanted in SIMULATE), *OTHERS]
)
def test_bad_input_is_refused(bad_folder, arguments, wanted):
    """Each bad input gives exactly its one line and exit status 2."""
    assert refusal(arguments) == f"kubeclassic: {wanted}\n"


@pytest.mark.parametrize("arguments, wanted", PROFILES)
@pytest.mark.parametrize("command", ["simulate good.yaml", "explain good.yaml web", "replay good.yaml"])
def test_what_the_other_releases_have_is_refused(bad_folder, command, arguments, wanted):
    """Each command that schedules refuses profiles for older releases, older options for profiles, and bad
    profiles, in the same line."""
    assert refusal(f"{command} {arguments}") == f"kubeclassic: {wanted}\n"


@pytest.mark.parametrize(
    "arguments, about, hint",
    [
        ("simulate good.yaml --seed x", "'x'", "kubeclassic simulate"),
        ("simulate good.yaml --tie-break coin", "'round-robin'", "kubeclassic simulate"),
        ("simulate good.yaml --frob", "--frob", "kubeclassic simulate"),
        ("simulate", "PATHS", "kubeclassic simulate"),
        ("simulat good.yaml", "simulat", "kubeclassic"),
    ],
)
def test_a_wrong_call_is_refused(bad_folder, arguments, about, hint):
    """An option or command that does not exist, or a value that it cannot have, gives one line that leads to
    the help."""
    told = refusal(arguments)
    assert about in told
    assert told.startswith("kubeclassic: ")
    assert told.endswith(f" (see {hint} --help)\n")
    assert told.count("\n") == 1


def test_a_pod_on_an_unknown_node_is_a_warning(bad_folder):
    """A pod bound to a node that was not given is warned of and tolerated, as upstream does."""
    (bad_folder / "orphan.yaml").write_text(f"{NODE}---\n{POD}spec: {{nodeName: gone}}\n")
    assert (
        "warning: Pod default/web on gone: its node is not in the input\n"
        in ran("simulate", "orphan.yaml").err
    )


def test_an_ambiguous_pod_is_named(bad_folder):
    """A name that two namespaces have is refused with both."""
    (bad_folder / "two.yaml").write_text(
        f"{NODE}---\n{POD}---\nkind: Pod\nmetadata: {{name: web, namespace: shop}}\n"
    )
    assert (
        refusal("explain two.yaml web")
        == 'kubeclassic: pod: expected one of default/web, shop/web, got "web"\n'
    )
