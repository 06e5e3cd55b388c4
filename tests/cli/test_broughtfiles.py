"""Policies and component configurations as people have them: what each release says of them, and where they
are found."""

import json
from pathlib import Path

import pytest

from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.manifests import dumped
from tests.support.program import ran

RELEASES = [name for name, release in ALL_RELEASES.items() if release.predicates or release.policies]
HEAD = '"kind": "Policy", "apiVersion": "v1"'
PREDICATES = '"predicates": [{"name": "PodFitsResources"}]'
PRIORITY = '{"name": "MostRequestedPriority", "weight": 1}'
PACKING = f'{{{HEAD}, "priorities": [{PRIORITY}]}}'
ALPHA = "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
STABLE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def config_map(name, **data):
    """A ConfigMap, whose keys have a dot for the first underscore."""
    metadata = {"name": name, "namespace": "kube-system"}
    data = {key.replace("_", ".", 1): text for key, text in data.items()}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


YAML_POLICY = f"kind: Policy\napiVersion: v1\npriorities: [{PRIORITY}]\n"
POINTING = f"{ALPHA}algorithmSource: {{policy: {{configMap: {{name: policy}}}}}}\n"
TWO_MAPS = "\n---\n".join(
    [config_map("scheduler", config_yaml=POINTING), config_map("policy", policy_cfg=PACKING)]
)
REFUSED_YAML = (1, "json parse error: expected JSON, got YAML")
EMPTY = (0, "has no apiVersion, so that 1.1")
STRICT = (1, "strict decoder error: predicates: found unknown field: predicates")
FILES = {
    "unknown-key.json": (
        f'{{{HEAD}, {PREDICATES}, "priorities": [{{"name": "EqualPriority", "weight": 1, "order": 2}}]}}',
        {
            "1.12": (0, "priorities[0].order of the Policy does not count"),
            "1.17": (1, "priorities[0].order: found unknown field: order"),
        },
    ),
    "given-twice.json": (
        f'{{{HEAD}, {PREDICATES}, "predicates": [{{"name": "HostName"}}]}}',
        {
            "1.12": (0, "predicates of the Policy is given twice: the last"),
            "1.17": (1, 'key "predicates" already set in map'),
        },
    ),
    "no-kind.json": (f"{{{PREDICATES}}}", {"1.12": EMPTY, "1.17": STRICT}),
    "kind-alone.json": (f'{{"kind": "Policy", {PREDICATES}}}', {"1.12": EMPTY, "1.17": STRICT}),
    "version-alone.json": (f'{{"apiVersion": "v1", {PREDICATES}}}', {"1.12": (0, "")}),
    "extender-typos.json": (
        f'{{{HEAD}, "extenders": [{{"URLPrefix": "http://a", "httpTimout": 1, "tlsConfig": {{"insecureTLS": true}}}}]}}',
        {"1.12": (0, "extenders[0].tlsConfig.insecureTLS of the Policy does not count")},
    ),
    "twice-in-extender.yaml": (
        "kind: Policy\napiVersion: v1\nextenders:\n- urlPrefix: http://a\n  urlPrefix: http://b\n",
        {
            "1.12": REFUSED_YAML,
            "1.15": (0, "extenders[0].urlPrefix of the Policy is given twice"),
            "1.17": (1, 'key "urlPrefix"'),
        },
    ),
    "policy.yaml": (YAML_POLICY, {"1.12": REFUSED_YAML, "1.15": (0, "")}),
    "yaml-called.json": (YAML_POLICY, {"1.12": REFUSED_YAML, "1.15": (0, "")}),
    "after-a-comment.json": (f"# packing\n{PACKING}", {"1.12": REFUSED_YAML, "1.15": (0, "")}),
    "map-with-yaml.json": (config_map("p", policy_cfg=YAML_POLICY), {"1.12": REFUSED_YAML, "1.15": (0, "")}),
    "two-maps.yaml": (TWO_MAPS, {"1.12": (0, "")}),
    "other-policy.yaml": (
        f"apiVersion: kyverno.io/v1\nkind: Policy\n---\n{PACKING}",
        {"1.12": REFUSED_YAML, "1.15": (0, "")},
    ),
    "plugins.yaml": (
        f"{ALPHA}plugins: {{reserve: {{enabled: [{{name: Mine}}]}}}}\n",
        {
            "1.12": (0, "plugins of the configuration does not count: 1.1"),
            "1.15": (1, "framework: reserve plugin Mine does not exist"),
            "1.16": (1, 'framework: reserve plugin "Mine" does not exist'),
            "1.17": (1, 'ReservePlugin "Mine" does not exist'),
            "1.19": (1, "apiVersion: not read by this release"),
        },
    ),
    "ratio.yaml": (
        f"{ALPHA}plugins: {{score: {{enabled: [{{name: RequestedToCapacityRatio}}]}}}}\npluginConfig:\n- name: RequestedToCapacityRatio\n"
        "  args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 100}]}\n",
        {
            "1.12": (0, "plugins of the configuration does not count: 1.1"),
            "1.15": (0, "plugins.score of the configuration does not c"),
            "1.16": (1, 'score plugin "RequestedToCapacityRatio" does not exist'),
            "1.17": (0, "args.shape: unknown field, ignored"),
            "1.18": (1, "score values not be greater than 100. Score[1]==1000"),
            "1.19": (1, "apiVersion: not read by this release"),
        },
    ),
    "typo.yaml": (
        f"{ALPHA}hardPodAffinitySymmetricWieght: 50\nfailureDomains: zone\n",
        {
            "1.12": (0, "hardPodAffinitySymmetricWieght of the configuration does not count"),
            "1.15": (0, "failureDomains of the conf"),
            "1.17": (0, "failureDomains: unknown field, ignored"),
            "1.19": (1, "apiVersion: not read by this release"),
        },
    ),
    "provider.yaml": (
        f"{ALPHA}algorithmSource: {{provider: DefaultProvider}}\n",
        {"1.12": (0, ""), "1.19": (1, "not read by this")},
    ),
    "conditions.json": (
        f'{{{HEAD}, "predicates": [{{"name": "CheckNodeCondition"}}]}}',
        {
            "1.12": (1, "--feature-gates TaintNodesByCondition=false registers it"),
            "1.17": (1, "CheckNodeCondition"),
        },
    ),
    "no-name.json": (
        f'{{{HEAD}, "predicates": [{{"nam": "a"}}]}}',
        {"1.12": (1, "an entry of the Policy has no name"), "1.17": (1, "")},
    ),
}
"""File -> its text, and what the releases from each of these on say of it, with the exit status."""
CLUSTER = """
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: there}, spec: {nodeName: b, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
"""


@pytest.fixture
def folder(workdir):
    """The working folder, with a cluster in which packing takes node b, and all else a."""
    Path("cluster.yaml").write_text(CLUSTER)
    return workdir


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", FILES)
def test_what_each_release_says(name, release, folder):
    """A file is taken or refused as the release does it, and what does not count of it is said."""
    text, says = FILES[name]
    Path(name).write_text(text)
    since = max(
        (first for first in says if RELEASES.index(first) <= RELEASES.index(release)), key=RELEASES.index
    )
    status, words = says[since]
    told = ran("policy", "check", name, "--release", release, status=status)
    assert words in told.err


def host(*options):
    """Where the pod web goes."""
    written = ran("simulate", "cluster.yaml", *options, "-o", "name").out
    return dict(line.split() for line in written.splitlines())["default/web"]


# --- What runs ----------------------------------------------------------------------------------------------


PACKED = (
    f"{STABLE}profiles: [{{pluginConfig: [{{name: NodeResourcesFit, args: {{scoringStrategy: {{type: MostAllocated, "
    "resources: [{name: cpu, weight: 9}]}}}]}]\n"
)


def test_a_policy_without_apiversion_is_empty(folder):
    """The default provider's rules run in its place, with --strict nothing does."""
    Path("p.json").write_text(f'{{"kind": "Policy", "priorities": [{PRIORITY}]}}')
    assert host("--policy", "p.json", "--release", "1.16") == "a"
    assert (
        "reads an empty one"
        in ran(
            "simulate", "cluster.yaml", "--policy", "p.json", "--release", "1.16", "--strict", status=2
        ).err
    )


@pytest.mark.parametrize(
    "text",
    [
        config_map("scheduler", other="x", config_yaml=PACKED),
        dumped([json.loads(config_map("scheduler", a_yaml=PACKED))]),
        f"apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n---\n{PACKED}",
    ],
)
def test_a_configuration_is_found(text, folder):
    """A profile may be in a ConfigMap, in a List, or beside other objects, for each command that takes
    one."""
    Path("f.yaml").write_text(text)
    assert host("--profile", "f.yaml") == host("--config", "f.yaml", "--release", "1.28") == "b"
    ran("policy", "check", "f.yaml")
    ran("policy", "migrate", "f.yaml", "--to", "1.34")
    ran("upgrade", "cluster.yaml", "--profile", "f.yaml", "--from", "1.27", "--to", "1.28")


def test_a_policy_is_found_beside_the_configuration(folder):
    """Of two ConfigMaps --policy reads the one with a Policy, and --config follows the configuration to
    it."""
    Path("f.yaml").write_text(TWO_MAPS)
    assert (
        host("--policy", "f.yaml", "--release", "1.16")
        == host("--config", "f.yaml", "--release", "1.16")
        == "b"
    )
    assert "MostRequestedPriority" in ran("policy", "check", "f.yaml").out
    told = ran("policy", "check", "g.yaml", status=2)
    assert "no such file" in told.err


@pytest.mark.parametrize(
    "plugins",
    [
        "{multiPoint: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}}",
        "{queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}, score: {enabled: [{name: Trimaran, weight: 9}]}}",
        "{bind: {enabled: [{name: Mine}], disabled: [{name: '*'}]}}",
    ],
)
def test_plugins_of_others_can_be_left_out(plugins, folder):
    """Plugins that no release has are refused, or left out, which the answer says; the default ones sort
    and bind in their place."""
    Path("f.yaml").write_text(f"{STABLE}profiles:\n- plugins: {plugins}\n")
    assert (
        "--plugins leave-out goes without"
        in ran("simulate", "cluster.yaml", "--profile", "f.yaml", status=2).err
    )
    assert host("--profile", "f.yaml", "--plugins", "leave-out") == "a"
    answer = json.loads(
        ran("simulate", "cluster.yaml", "--profile", "f.yaml", "--plugins", "leave-out", "-o", "json").out
    )
    assert any("left out, so what" in warning["text"] for warning in answer["warnings"])
    assert "left out, so what" in ran("policy", "check", "f.yaml", "--plugins", "leave-out").err


def test_what_is_left_out_of_a_profile(folder):
    """Migrating says which fields of a configuration do not count, and which plugins nobody but the user
    has."""
    Path("f.yaml").write_text(f"{ALPHA}profiles: {{plugins: []}}\n")
    assert (
        "profiles of the configuration does not count"
        in ran("policy", "migrate", "f.yaml", "--to", "1.34").err
    )
    Path("f.yaml").write_text(f"{STABLE}profiles: [{{plugins: {{permit: {{enabled: [{{name: Mine}}]}}}}}}]\n")
    assert "Mine: kept, but 1.34 has no such plugin" in ran("policy", "migrate", "f.yaml", "--to", "1.34").err


def test_nothing_waits(folder):
    """Where no pod waits for the scheduler, no answer says that all is the same."""
    Path("p.json").write_text(PACKING)
    Path("full.yaml").write_text(CLUSTER.rpartition("---")[0])
    ways = (
        "compare full.yaml --a 1.16 --b 1.34",
        "upgrade full.yaml --from 1.33 --to 1.34",
        "policy migrate p.json --check full.yaml",
    )
    for asked in ways:
        told = ran(*asked.split())
        assert "No pod is pending, so nothing was tried" in told.out + told.err


def test_migrating_what_the_release_refuses(folder):
    """The release that runs the Policy refuses it whatever it becomes, and the error says which gate is
    behind it."""
    Path("p.json").write_text(f'{{{HEAD}, "predicates": [{{"name": "EvenPodsSpread"}}]}}')
    for target in ("1.19", "1.23"):
        told = ran("policy", "migrate", "p.json", "--release", "1.16", "--to", target, status=2)
        assert "--feature-gates EvenPodsSpread=true registers it" in told.err
    assert (
        "it is release 1.16 that refuses it"
        in ran("upgrade", "cluster.yaml", "--policy", "p.json", "--from", "1.16", status=2).err
    )


@pytest.mark.parametrize(
    "text, says",
    [
        (
            "kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n",
            "f.yaml, line 3, column 10: broken YAML: expected a string for a key, got an object;"
            " if it is a template ({{ ... }}), render it first, as `helm template` does",
        ),
        (
            "{{- if .Values.on }}\nkind: Pod\n{{- end }}\n",
            "; if it is a template ({{ ... }}), render it first, as `helm template` does",
        ),
        ("{% if on %}\nkind: Pod\n{% endif %}\n", "; if it is a template ({% ... %}), render it first"),
        ("replicas: 3\n", "f.yaml, document 1: kind: expected the kind of a Kubernetes object, got nothing"),
    ],
)
def test_what_is_no_manifest(text, says, folder):
    """A text like a template's is named beside the fault, and a file without a kind has nothing there."""
    Path("f.yaml").write_text(text)
    assert says in ran("simulate", "cluster.yaml", "f.yaml", status=2).err


def test_what_kubectl_says_before_the_objects(folder):
    """Warnings of kubectl before a dump are passed over."""
    Path("f.json").write_text(
        'Warning: v1 ComponentStatus is deprecated\nW0101 00:00:00.0 1 x.go:1] slow\n{"kind": "List", "items": []}\n'
    )
    assert host("f.json") == "a"
