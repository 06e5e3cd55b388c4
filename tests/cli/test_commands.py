"""The commands' answers: exit statuses, aliases of kube-scheduler's flags, help, completion, user-defined
rules."""

import json
import sys

import pytest
import yaml

from kubeclassic.cli import run
from tests.support.manifests import manifest
from tests.support.program import program, ran

NODE = "kind: Node\nmetadata: {name: %s, labels: {zone: %s}}\nstatus: {allocatable: {cpu: %s, memory: %sGi, pods: 9}}\n---\n"
POD = "kind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c, resources: {requests: {cpu: %s, memory: 1Gi}}}]}\n---\n"

RULES = """
from kubeclassic.algorithmprovider import CATALOGUE as UPSTREAM
from kubeclassic.core.arrays.failures import Failures, Reason
from kubeclassic.core.cycle import Reads
from kubeclassic.predicates.rule import predicate

NOT_THERE = Reason("node(s) were in zone east")

@predicate("NotInTheEast", reads=Reads.NODE, key=lambda pod: None)
def not_in_the_east(pod, nodes, cycle):
    return Failures.where(NOT_THERE, nodes.label("zone").where(lambda zone: zone == "east"))

MINE = UPSTREAM.with_(not_in_the_east)
"""


@pytest.fixture
def folder(workdir, monkeypatch):
    """A working folder with a cluster of two nodes and a pod; the roomier node is in the east."""
    (workdir / "cluster.yaml").write_text(
        NODE % ("a", "east", 8, 8) + NODE % ("b", "west", 4, 4) + POD % ("web", 1)
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    return workdir


def hosts(*arguments):
    """Pod -> host, as ``simulate -o jsonl`` with *arguments* says."""
    said = ran("simulate", *arguments, "-o", "jsonl", status=(0, 1)).out
    return {cycle["pod"]: cycle["host"] for cycle in map(json.loads, said.splitlines())}


@pytest.mark.parametrize(
    "words, status",
    [
        ("simulate cluster.yaml", 0),
        ("simulate more.yaml", 1),
        ("simulate nothere.yaml", 2),
        ("explain more.yaml web", 0),
        ("explain more.yaml huge", 1),
    ],
)
def test_of_a_command(folder, words, status):
    """0 says that every pod, or the one that is explained, has a node, 1 that one has none, and 2 that
    the input was bad."""
    (folder / "more.yaml").write_text((folder / "cluster.yaml").read_text() + POD % ("huge", 64))
    assert run(words.split()) == status


def test_as_a_program(folder):
    """The process leaves with these statuses too, and reads standard input for -."""
    given = (folder / "cluster.yaml").read_text()
    words = ("simulate", "-", "-o", "name")
    found = program(*words, input=given)
    assert (found.returncode, found.stdout) == (0, "default/web a\n"), found.stderr
    found = program(*words, "--release", "1.11", input=given)
    assert (found.returncode, found.stdout) == (2, "")


@pytest.mark.parametrize("words", ["simulate - -", "capacity - --pod -"])
def test_standard_input_is_read_once(words):
    """The second time it would be empty."""
    told = ran(*words.split(), status=2).err
    assert "expected - (standard input) once, as it is read once, got it twice" in told


@pytest.mark.parametrize("release", ["1.16", "1.17", "1.18", "1.19", "1.20", "1.21", "1.22"])
def test_policy_in_a_config_map(folder, release):
    """The Policy may be in a ConfigMap among the manifests, for every release with Policies."""
    policy = json.dumps(
        yaml.safe_load("""
            kind: Policy
            apiVersion: v1
            priorities:
            - {name: MostRequestedPriority, weight: 1}
            """)
    )
    config_map = manifest("ConfigMap", "p", namespace="kube-system", data={"policy.cfg": policy})
    (folder / "map.json").write_text(json.dumps(config_map))
    assert hosts("cluster.yaml", "map.json", "--policy-configmap", "p", "--release", release) == {
        "default/web": "b"
    }
    assert hosts("cluster.yaml", "map.json", "--release", release) == {"default/web": "a"}


def test_rules(folder):
    """A user's predicate changes the host."""
    (folder / "my_rules_of_the_east.py").write_text(RULES)
    assert hosts("cluster.yaml", "--rules", "my_rules_of_the_east:MINE") == {"default/web": "b"}


def test_no_defaults(folder):
    """--no-defaults takes limits for limits: they do not become requests."""
    limited = (
        "kind: Pod\nmetadata: {name: big}\nspec: {containers: [{name: c, resources: {limits: {cpu: 64}}}]}\n"
    )
    (folder / "limited.yaml").write_text(limited)
    assert hosts("cluster.yaml", "--pods", "limited.yaml")["default/big"] is None
    assert hosts("cluster.yaml", "--pods", "limited.yaml", "--no-defaults")["default/big"] is not None


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    """Each shell gets a script that asks the program."""
    assert "_KUBECLASSIC_COMPLETE" in ran("completion", shell).out


def test_completion_completes(monkeypatch, capsys):
    """The program completes a command's beginning when a shell asks it."""
    for name, value in {
        "_KUBECLASSIC_COMPLETE": "bash_complete",
        "COMP_WORDS": "kubeclassic simu",
        "COMP_CWORD": "1",
    }.items():
        monkeypatch.setenv(name, value)
    run([])
    assert capsys.readouterr().out.strip() == "plain,simulate"
