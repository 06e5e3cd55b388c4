"""Component configurations and the Policies that they point to."""

import io
import json

import pytest
import yaml

from kubeclassic.algorithmprovider import RELEASES
from kubeclassic.algorithmprovider.config import (
    load_configuration,
    load_policy,
    policy_document,
    read_configuration,
)
from kubeclassic.exceptions import PolicyError
from tests.support.manifests import manifest
from tests.support.refusals import refusal_text

LAST = RELEASES["1.16"]
FIRST = RELEASES["1.12"]
POLICY = yaml.safe_load("{kind: Policy, apiVersion: v1, predicates: [{name: GeneralPredicates}]}")
YAML = "apiVersion: v1\nkind: Policy\npredicates:\n- name: GeneralPredicates\n"


def config_map(text):
    """A ConfigMap that holds a Policy's text."""
    return manifest("ConfigMap", "p", namespace="kube-system", data={"policy.cfg": text})


# --- Defaults -----------------------------------------------------------------------------------------------


def test_empty():
    """An empty configuration is the DefaultProvider with the release's defaults."""
    found = read_configuration({}).with_defaults(LAST)
    assert (found.source.provider, found.scheduler_name, found.hard_pod_affinity_weight) == (
        "DefaultProvider",
        "default-scheduler",
        1,
    )


def test_percentage():
    """A percentage of 0 is 50 in 1.12 and 1.13, and left alone later."""
    assert [read_configuration({}).resolve(release).percentage for release in RELEASES.values()] == [
        50,
        50,
        0,
        0,
        0,
    ]


def test_hard_weight_of_zero():
    """hardPodAffinitySymmetricWeight 0 is 1."""
    assert (
        read_configuration({"hardPodAffinitySymmetricWeight": 0}).resolve(LAST).hard_pod_affinity_weight == 1
    )


def test_provider_wins_over_policy():
    """Where both are given the provider counts, and the Policy is not even looked for."""
    source = {"provider": "ClusterAutoscalerProvider", "policy": {"file": {"path": "/nowhere"}}}
    names = [
        rule.name for rule, _ in read_configuration({"algorithmSource": source}).resolve(LAST).priorities
    ]
    assert "MostRequestedPriority" in names


def test_everything_else():
    """Gates, preemption and weight reach the algorithm."""
    numbers = {"hardPodAffinitySymmetricWeight": 9, "percentageOfNodesToScore": 30}
    algorithm = read_configuration(
        {"featureGates": {"PodOverhead": True}, "disablePreemption": True, **numbers}
    ).resolve(LAST)
    assert algorithm.enabled("PodOverhead")
    assert (algorithm.preemption, algorithm.hard_pod_affinity_weight, algorithm.percentage) == (False, 9, 30)


def test_numbers_out_of_range():
    """Both numbers must be 0 to 100, and one error names both."""
    written = read_configuration({"hardPodAffinitySymmetricWeight": 101, "percentageOfNodesToScore": -1})
    assert refusal_text(PolicyError, written.resolve, LAST) == (
        "[hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range 0-100, "
        "percentageOfNodesToScore: Invalid value: -1: not in valid range 0-100]"
    )


@pytest.mark.parametrize(
    "document, message",
    [
        ({"kind": "Policy"}, 'conf: kind: expected KubeSchedulerConfiguration, got "Policy"'),
        (
            {"apiVersion": "v1"},
            'conf: apiVersion: expected kubescheduler.config.k8s.io/v1alpha1 or componentconfig/v1alpha1, got "v1"',
        ),
        ({"algorithmSource": {"provider": 1}}, "conf: algorithmSource.provider: expected a string, got 1"),
        ({"featureGates": {"A": "on"}}, 'conf: featureGates: expected true or false, got "on"'),
    ],
)
def test_unreadable(document, message):
    """A field of the wrong form is refused with its path."""
    assert refusal_text(PolicyError, read_configuration, document, "conf") == message


# --- Policy files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [json.dumps(POLICY), json.dumps(POLICY, indent="\t"), YAML])
def test_json_and_yaml(tmp_path, text):
    """A Policy is JSON or YAML."""
    (tmp_path / "policy").write_text(text)
    assert load_policy(tmp_path / "policy").predicates[0].name == "GeneralPredicates"


def _type_in(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_in_a_config_map(monkeypatch):
    """A ConfigMap holds it under policy.cfg."""
    _type_in(monkeypatch, json.dumps(config_map(json.dumps(POLICY))))
    assert policy_document("-").data == POLICY


def test_config_map_without_the_key(monkeypatch):
    """A ConfigMap without policy.cfg is refused in upstream's words."""
    _type_in(monkeypatch, '{"kind": "ConfigMap", "data": {}}')
    with pytest.raises(PolicyError, match=r'missing policy config map value at key "policy\.cfg"'):
        policy_document("-")


def test_broken_text_in_a_config_map(monkeypatch):
    """Broken text inside a ConfigMap is an error with its place there."""
    _type_in(monkeypatch, json.dumps(config_map('{"kind": "Policy",\n "predicates": [}')))
    place = r"standard input, document 1, data\[policy.cfg\], line 2, column 17"
    with pytest.raises(PolicyError, match=f"invalid policy: {place}: broken JSON"):
        policy_document("-")


def test_another_config_map_that_looks_like_one(monkeypatch):
    """Beside the ConfigMap of a Policy the template of a chart counts for nothing; alone it is refused."""
    chart = manifest("ConfigMap", "chart", data={"t.yaml": "{{ if x }}\nkind: Policy\n{{ end }}\n"})
    items = [chart, config_map(json.dumps(POLICY))]
    _type_in(monkeypatch, json.dumps({"kind": "List", "items": items}))
    assert policy_document("-").data == POLICY
    _type_in(monkeypatch, json.dumps(chart))
    with pytest.raises(PolicyError, match=r"data\[t.yaml\]"):
        policy_document("-")


def test_error_names_the_file(tmp_path):
    """The error for an unreadable file names file and path."""
    file = tmp_path / "policy.json"
    file.write_text('{"apiVersion": "v1", "predicates": 3}')
    with pytest.raises(
        PolicyError, match=r"policy.json, document 1: invalid policy: predicates: expected a list, got 3"
    ):
        load_policy(file)


def test_relative_path(tmp_path):
    """A Policy file's path starts from the configuration's folder."""
    (tmp_path / "p.json").write_text(json.dumps(POLICY))
    (tmp_path / "c.yaml").write_text(
        "kind: KubeSchedulerConfiguration\nalgorithmSource: {policy: {file: {path: p.json}}}\n"
    )
    names = [rule.name for rule in load_configuration(tmp_path / "c.yaml").resolve(LAST).predicates]
    assert names == ["CheckNodeUnschedulable", "GeneralPredicates", "PodToleratesNodeTaints"]


def test_missing_file():
    """A Policy file that is not there is refused in upstream's words."""
    with pytest.raises(PolicyError, match=r"^missing policy config file nowhere\.json$"):
        read_configuration({"algorithmSource": {"policy": {"file": {"path": "nowhere.json"}}}}).resolve(LAST)


def test_config_map_source():
    """A ConfigMap is found by namespace, kube-system unless told otherwise, and name."""
    written = read_configuration(yaml.safe_load("{algorithmSource: {policy: {configMap: {name: p}}}}"))
    maps = {("kube-system", "p"): config_map(json.dumps(POLICY))}
    assert len(written.resolve(LAST, config_maps=maps).predicates) == 3
    with pytest.raises(
        PolicyError, match=r"couldn't get policy config map kube-system/p: configmaps \"p\" not found"
    ):
        written.resolve(FIRST)
