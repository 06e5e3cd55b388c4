"""Bad input gives one line that says where, what, got and wanted; never a traceback."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.support.program import ran

NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {pods: 9}}\n"
POD = "kind: Pod\nmetadata: {name: web}\n"
PROFILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
TAINTED = "kind: Node\nmetadata: {name: worker-7}\nspec: {taints: [{key: a, effect: NoSched}]}\n"

FILES = {
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
    ("empty", "empty: got a directory without manifests, wanted *.yaml, *.yml, *.json, *.jsonl or these with .gz"),
    ("broken.yaml", "broken.yaml, line 4, column 1: broken YAML: did not find expected ',' or ']'"),
    ("broken.json", "broken.json, line 2, column 14: broken JSON: expecting value"),
    ("broken.gz", "broken.gz: broken gzip data"),
    (
        "taint.yaml",
        'taint.yaml, document 3 (Node worker-7): spec.taints[0].effect: got "NoSched", wanted NoSchedule, PreferNoSchedule or NoExecute',
    ),
    ("quantity.yaml", 'quantity.yaml, document 1 (Node a): status.allocatable.cpu: got "1x", wanted a quantity such as 500m, 2 or 1.5Gi'),
    ("number.yaml", 'number.yaml, document 1 (Pod web): spec.priority: got "high", wanted a whole number'),
    ("list.yaml", "list.yaml, document 1: got 1, wanted a Kubernetes object"),
    ("kindless.yaml", "kindless.yaml, document 1: kind: got nothing, wanted the kind of a Kubernetes object"),
    ("nameless.yaml", "nameless.yaml, document 1 (Node): metadata.name: got nothing, wanted a name"),
    ("twice.yaml", "twice.yaml, document 2 (Node a): metadata.name: got a again, wanted each node once"),
    ("template.yaml", "Deployment web: spec.template: got nothing, wanted a pod template"),
    ("number-free.yaml", "number-free.yaml: got no Node, wanted one at least"),
    ("good.yaml --release 1.11", 'release: got "1.11", wanted 1.12 to 1.36 or auto'),
    (
        "good.yaml --provider DefaultProvidor",
        '--provider: plugin "DefaultProvidor" has not been registered, wanted DefaultProvider or ClusterAutoscalerProvider',
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
    ("good.yaml --policy-configmap p", """couldn't get policy config map kube-system/p: configmaps "p" not found"""),
    ("good.yaml --config nothere.yaml", "nothere.yaml: no such file or directory"),
    ("good.yaml --percentage-of-nodes-to-score 101", "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
    (
        "good.yaml --hard-pod-affinity-symmetric-weight -1",
        "hardPodAffinitySymmetricWeight: Invalid value: -1: not in valid range 0-100",
    ),
    ("good.yaml --equivalence-cache", "--equivalence-cache: 1.16 has none"),
    ("good.yaml --release 1.16 --rules mine", '--rules: got "mine", wanted FILE.py:CATALOGUE or MODULE:CATALOGUE'),
    ("good.yaml --rules nowhere:MINE", """--rules: got "nowhere:MINE": ModuleNotFoundError: No module named 'nowhere'"""),
    ("good.yaml --release 1.16 --rules json:decoder", '--rules: got "json:decoder", which is no Catalogue'),
    ("good.yaml --pods nothere.yaml", "nothere.yaml: no such file or directory"),
    ("good.yaml --output nothere/out.json", "nothere/out.json: cannot be written: no such file or directory"),
]

LISTED = "`kubeclassic releases 1.27` lists those of 1.27"
NOT_OLDER = "profile.yaml, which release 1.16 does not have, wanted release 1.36"
NOT_NEWER = "which release 1.27 does not have, wanted"
MIGRATED = "a profile, which `kubeclassic policy migrate` makes of a Policy"
PROFILES = [
    ("--profile profile.yaml --release 1.16", f"--profile: got {NOT_OLDER}"),
    ("--profile profile.yaml --release v1.16.3", f"--profile: got {NOT_OLDER}"),
    ("--release 1.27 --policy policy.json", f"--policy: got policy.json, {NOT_NEWER} {MIGRATED}"),
    ("--release 1.27 --profile profile.yaml --policy policy.json", f"--policy: got policy.json, {NOT_NEWER} {MIGRATED}"),
    ("--release 1.27 --policy-configmap p", f"--policy-configmap: got p, {NOT_NEWER} {MIGRATED}"),
    ("--release 1.27 --provider DefaultProvider", f"--provider: got DefaultProvider, {NOT_NEWER} a profile"),
    (
        "--release 1.27 --hard-pod-affinity-symmetric-weight 5",
        f"--hard-pod-affinity-symmetric-weight: got 5, {NOT_NEWER} hardPodAffinityWeight of InterPodAffinity in a profile",
    ),
    ("--release 1.27 --scheduler-name mine", f"--scheduler-name: got mine, {NOT_NEWER} schedulerName of a profile"),
    ("--release 1.27 --equivalence-cache", f"--equivalence-cache: got one, {NOT_NEWER} none"),
    ("--profile profile.yaml --config older.yaml", "--profile cannot be combined with --config: from 1.17 on they are the same"),
    ("--release 1.27 --feature-gates EvenPodsSpread=true", f"--feature-gates: unrecognized feature gate: EvenPodsSpread; {LISTED}"),
    (
        "--release 1.27 --profile profile.yaml --feature-gates EvenPodsSpread=true",
        f"--feature-gates: unrecognized feature gate: EvenPodsSpread; {LISTED}",
    ),
    ("--release 1.27 --percentage-of-nodes-to-score 101", "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
    ("--profile nothere.yaml", "nothere.yaml: no such file or directory"),
    ("--profile two.yaml", "two.yaml: got 2 documents, wanted one KubeSchedulerConfiguration"),
    ("--profile field.yaml", 'field.yaml: strict decoding error: unknown field "profils"'),
    ("--release 1.27 --profile names.yaml", "names.yaml: profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName"),
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
    ("--release 1.27 --rules mine", '--rules: got "mine", wanted FILE.py:PLUGIN or MODULE:PLUGIN'),
    ("--release 1.27 --rules json:nothing", '--rules: got "json:nothing", which is no plugin'),
    ("--release 1.27 --rules json:decoder", '--rules: got "json:decoder", wanted the class of a plugin, or a list of such'),
    (
        "--release 1.27 --rules kubeclassic.framework.plugins.nodename:NodeName",
        "a plugin named NodeName already exists",
    ),
]
"""Options of one kind of release that the other does not have, and profiles that are refused."""

OTHERS = [
    ("explain good.yaml db", 'pod: got "db", wanted a pod of the input'),
    ("explain good.yaml wep", 'pod: got "wep", wanted a pod of the input; did you mean "web"?'),
    ("explain good.yaml web --node b1", 'node: got "b1", wanted a node of the cluster'),
    ("explain good.yaml web -n shop", 'pod: got "web", wanted a pod of the input in namespace shop'),
    ("explain good.yaml deploy/web", 'Deployment: got "deploy/web", which has no pod in the input, wanted a Deployment that has one'),
    ("import openb nothere.csv pods.csv", "nothere.csv: no such file or directory"),
    ("import openb few.csv pods.csv", "few.csv, line 1: got columns sn,cpu_milli, wanted memory_mib too"),
    ("import openb nodes.csv pods.csv", 'nodes.csv, line 3: cpu_milli: got "1k", wanted a whole number'),
    ("import openb wide.csv pods.csv", "wide.csv, line 2: got 7 values, wanted 5 at most"),
    ("import openb ok.csv pods.csv", 'pods.csv, line 3: name: got "p" again, wanted each name once'),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files above."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"kind: Node")[:-4])
    (tmp_path / "number-free.yaml").write_text(POD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(arguments: str) -> str:
    """What the command line says against *arguments*, which it must refuse with exit status 2 and nothing on standard output.

    Where a fault shows only once the cluster was read, the line about the release by default comes first.
    """
    told = ran(*arguments.split(), status=2)
    assert told.out == ""
    return told.err.removeprefix("release 1.36, the default: no node says status.nodeInfo.kubeletVersion\n")


@pytest.mark.parametrize(("arguments", "wanted"), [*((f"simulate {given}", wanted) for given, wanted in SIMULATE), *OTHERS])
def test_bad_input_is_refused(folder: Path, arguments: str, wanted: str) -> None:
    """Each bad input gives exactly its one line and exit status 2."""
    assert refusal(arguments) == f"kubeclassic: {wanted}\n"


@pytest.mark.parametrize(("arguments", "wanted"), PROFILES)
@pytest.mark.parametrize("command", ["simulate good.yaml", "explain good.yaml web", "replay good.yaml"])
def test_what_the_other_releases_have_is_refused(folder: Path, command: str, arguments: str, wanted: str) -> None:
    """Each command that schedules refuses profiles for older releases, older options for profiles, and bad profiles, in the same line."""
    assert refusal(f"{command} {arguments}") == f"kubeclassic: {wanted}\n"


@pytest.mark.parametrize(
    ("arguments", "about", "hint"),
    [
        ("simulate good.yaml --seed x", "'x'", "kubeclassic simulate"),
        ("simulate good.yaml --tie-break coin", "'round-robin'", "kubeclassic simulate"),
        ("simulate good.yaml --frob", "--frob", "kubeclassic simulate"),
        ("simulate", "PATHS", "kubeclassic simulate"),
        ("simulat good.yaml", "simulat", "kubeclassic"),
    ],
)
def test_a_wrong_call_is_refused(folder: Path, arguments: str, about: str, hint: str) -> None:
    """An option or command that does not exist, or a value that it cannot have, gives one line that leads to the help."""
    told = refusal(arguments)
    assert about in told
    assert told.startswith("kubeclassic: ")
    assert told.endswith(f" (see {hint} --help)\n")
    assert told.count("\n") == 1


def test_a_pod_on_an_unknown_node_is_a_warning(folder: Path) -> None:
    """A pod bound to a node that was not given is warned of and tolerated, as upstream does."""
    (folder / "orphan.yaml").write_text(f"{NODE}---\n{POD}spec: {{nodeName: gone}}\n", encoding="utf-8")
    assert "warning: Pod default/web on gone: its node is not in the input\n" in ran("simulate", "orphan.yaml").err


def test_an_ambiguous_pod_is_named(folder: Path) -> None:
    """A name that two namespaces have is refused with both."""
    (folder / "two.yaml").write_text(f"{NODE}---\n{POD}---\nkind: Pod\nmetadata: {{name: web, namespace: shop}}\n", encoding="utf-8")
    assert refusal("explain two.yaml web") == 'kubeclassic: pod: got "web", wanted one of default/web, shop/web\n'
