"""Each configuration that a release refuses is refused by the command line, in the release's own words and
with the place."""

import json
from pathlib import Path

import attrs
import pytest
import yaml

from kubeclassic.algorithmprovider import CATALOGUE
from kubeclassic.framework import schedulerspec
from tests.support.manifests import policy_of
from tests.support.program import ran

HEAVY = 922337203685477580
FIVE = ("1.12", "1.13", "1.14", "1.15", "1.16")
OLD = FIVE[:2]
NEW = FIVE[2:]
CLUSTER = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {pods: 9}}\n---\nkind: Pod\nmetadata: {name: web}\n"
NO_CONDITION_TAINTS = "TaintNodesByCondition=false"

WEIGHT = "Priority {} should have a positive weight applied to it or it has overflown"
HINTS = ("--rules FILE.py:NAME can supply it", "is not registered while gate")
NO_PREDICATE = "Invalid configuration: Predicate type not found for {}"
NO_PRIORITY = "Invalid configuration: Priority type not found for {}"
BAD_NAME = (
    'Algorithm name {} does not match the name validation regexp "^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$".'
)
BAD_RANGE = "invalid hardPodAffinitySymmetricWeight: {}, must be in the range 1-100"
QUALIFIED = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
SUBDOMAIN = (
    "prefix part a DNS-1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
AFFINITY = {"serviceAffinity": {"labels": ["region"]}}
PRESENCE = yaml.safe_load("{labelsPresence: {labels: [rack], presence: true}}")
SPREAD = {"serviceAntiAffinity": {"label": "zone"}}
TASTE = {"labelPreference": {"label": "ssd", "presence": True}}


@attrs.frozen
class Refusal:
    """A Policy in its JSON form, and what the releases say that refuse it."""

    policy: dict
    says: str
    releases: tuple = FIVE
    gates: str = ""


# --- Policies -----------------------------------------------------------------------------------------------


def weight(number, argument=None, name="EqualPriority"):
    """One priority with this weight."""
    return {
        "priorities": [
            {"name": name, "weight": number} | ({"argument": argument} if argument is not None else {})
        ]
    }


def predicate(name, argument=None):
    """One predicate."""
    return {"predicates": [{"name": name} | ({"argument": argument} if argument is not None else {})]}


def managed(*extenders):
    """Extenders that look after resources of these names."""
    return {
        "extenders": [
            {"urlPrefix": "http://x", "managedResources": [{"name": name} for name in names]}
            for names in extenders
        ]
    }


def shape(*points):
    """One priority with this shape."""
    written = [{"utilization": utilization, "score": score} for utilization, score in points]
    return weight(1, {"requestedToCapacityRatioArguments": {"shape": written}}, "Ratio")


def shape_says(fault):
    """The text about a shape."""
    return f"invalid RequestedToCapacityRatioPriority arguments: {fault}"


TWO_HEAVY = {
    "priorities": [{"name": name, "weight": HEAVY - 1} for name in ("EqualPriority", "ImageLocalityPriority")]
}
TWICE = yaml.safe_load("{priorities: [{name: EqualPriority}, {name: EqualPriority}, {name: Other}]}")
BINDERS = {"extenders": [{"urlPrefix": f"http://{name}", "bindVerb": "bind"} for name in "abc"]}
PLAIN_SCORER = yaml.safe_load("{extenders: [{urlPrefix: 'http://x', prioritizeVerb: prioritize}]}")
NEGATIVE_SCORER = yaml.safe_load(
    "{extenders: [{urlPrefix: 'http://x', prioritizeVerb: prioritize, weight: -1}]}"
)
MANAGERS = managed(("a.b/c", "a.b/c", "cpu"))
EVERYTHING = {
    **weight(0),
    "extenders": [one for policy in (NEGATIVE_SCORER, MANAGERS, BINDERS) for one in policy["extenders"]],
}
EVERYTHING_SAYS = (
    f"[{WEIGHT.format('EqualPriority')}, Priority for extender http://x should have a positive weight applied to it, "
    "Duplicate extender managed resource name a.b/c, cpu is an invalid extended resource name, "
    "Only one extender can implement bind, found 3]"
)

VALIDATION = {
    "weight-zero": Refusal(weight(0), WEIGHT.format("EqualPriority")),
    "weight-negative": Refusal(weight(-5), WEIGHT.format("EqualPriority")),
    "weight-null": Refusal(weight(None), WEIGHT.format("EqualPriority")),
    "weight-overflown": Refusal(weight(HEAVY), WEIGHT.format("EqualPriority")),
    "weight-with-argument": Refusal(weight(0, SPREAD, "Zone"), WEIGHT.format("Zone")),
    "weight-of-null-entry": Refusal({"priorities": [None]}, WEIGHT.format("")),
    "extender-weight-absent": Refusal(
        PLAIN_SCORER, "Priority for extender http://x should have a positive weight applied to it"
    ),
    "extender-weight-negative": Refusal(
        NEGATIVE_SCORER, "Priority for extender http://x should have a positive weight applied to it"
    ),
    "binders": Refusal(BINDERS, "Only one extender can implement bind, found 3"),
    "resource-empty": Refusal(managed(("",)), f"[name part must be non-empty, name part {QUALIFIED}]"),
    "resource-part-name": Refusal(managed(("example.com/-x",)), f"name part {QUALIFIED}"),
    "resource-part-prefix": Refusal(managed(("Example.com/x",)), SUBDOMAIN),
    "resource-no-prefix": Refusal(managed(("/x",)), "prefix part must be non-empty"),
    "resource-parts": Refusal(
        managed(("a/b/c",)),
        f"a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ),
    "resource-long": Refusal(
        managed(("example.com/" + "x" * 64,)), "name part must be no more than 63 characters"
    ),
    "resource-native": Refusal(managed(("cpu",)), "cpu is an invalid extended resource name"),
    "resource-kubernetes": Refusal(
        managed(("kubernetes.io/x",)), "kubernetes.io/x is an invalid extended resource name"
    ),
    "resource-requests": Refusal(
        managed(("requests.a.b/x",)), "requests.a.b/x is an invalid extended resource name"
    ),
    "resource-duplicate": Refusal(
        managed(("a.b/c", "a.b/c")), "Duplicate extender managed resource name a.b/c"
    ),
    "resource-duplicate-across": Refusal(
        managed(("a.b/c",), ("d.e/f", "a.b/c")), "Duplicate extender managed resource name a.b/c"
    ),
    "several": Refusal(EVERYTHING, EVERYTHING_SAYS),
    "same-text-each-time": Refusal(
        TWICE, f"[{', '.join(map(WEIGHT.format, ('EqualPriority', 'EqualPriority', 'Other')))}]", OLD
    ),
    "same-text-once": Refusal(TWICE, f"[{', '.join(map(WEIGHT.format, ('EqualPriority', 'Other')))}]", NEW),
}

FATAL = {
    "predicate-unknown": Refusal(predicate("PodFitsNothing"), NO_PREDICATE.format("PodFitsNothing")),
    **{
        f"predicate-taken-away-{name}": Refusal(predicate(name), NO_PREDICATE.format(name))
        for name in (
            "CheckNodeCondition",
            "CheckNodeMemoryPressure",
            "CheckNodeDiskPressure",
            "CheckNodePIDPressure",
        )
    },
    "predicate-of-a-gate": Refusal(
        predicate("CheckNodeUnschedulable"),
        NO_PREDICATE.format("CheckNodeUnschedulable"),
        gates=NO_CONDITION_TAINTS,
    ),
    "affinity-without-argument": Refusal(
        predicate("CheckServiceAffinity"), NO_PREDICATE.format("CheckServiceAffinity")
    ),
    "presence-without-argument": Refusal(
        predicate("CheckNodeLabelPresence"), NO_PREDICATE.format("CheckNodeLabelPresence")
    ),
    "predicate-not-yet-cinder": Refusal(
        predicate("MaxCinderVolumeCount"), NO_PREDICATE.format("MaxCinderVolumeCount"), OLD
    ),
    "predicate-spread": Refusal(predicate("EvenPodsSpread"), NO_PREDICATE.format("EvenPodsSpread")),
    "priority-unknown": Refusal(weight(1, name="Nope"), NO_PRIORITY.format("Nope")),
    "priority-of-a-gate": Refusal(
        weight(1, name="ResourceLimitsPriority"), NO_PRIORITY.format("ResourceLimitsPriority")
    ),
    "predicate-no-argument": Refusal(
        predicate("Mine", {}), "Exactly 1 predicate argument is required, numArgs: 0, Predicate: Mine"
    ),
    "predicate-two-arguments": Refusal(
        predicate("Mine", {**AFFINITY, **PRESENCE}),
        "Exactly 1 predicate argument is required, numArgs: 2, Predicate: Mine",
    ),
    "priority-no-argument": Refusal(
        weight(1, {}, "Mine"), "Exactly 1 priority argument is required, numArgs: 0, Priority: Mine"
    ),
    "priority-two-arguments": Refusal(
        weight(1, {**SPREAD, **TASTE}, "Mine"),
        "Exactly 1 priority argument is required, numArgs: 2, Priority: Mine",
    ),
    "shape-empty": Refusal(shape(), shape_says("at least one point must be specified")),
    "shape-unsorted": Refusal(
        shape((0, 0), (50, 5), (50, 6)),
        shape_says("utilization values must be sorted. Utilization[1]==50 >= Utilization[2]==50"),
    ),
    "shape-unsorted-comes-first": Refusal(
        shape((-1, 11), (-2, 0)),
        shape_says("utilization values must be sorted. Utilization[0]==-1 >= Utilization[1]==-2"),
    ),
    "shape-negative": Refusal(
        shape((-1, 0), (9, 1)), shape_says("utilization values must not be less than 0. Utilization[0]==-1")
    ),
    "shape-beyond-full": Refusal(
        shape((0, 0), (101, 1)),
        shape_says("utilization values must not be greater than 100. Utilization[1]==101"),
    ),
    "shape-score-negative": Refusal(
        shape((0, -1)), shape_says("score values must not be less than 0. Score[0]==-1")
    ),
    "shape-score-beyond-ten": Refusal(
        shape((0, 0), (100, 11)), shape_says("score valuses not be greater than 10. Score[1]==11")
    ),
    **{
        f"predicate-name-{name}": Refusal(predicate(name, AFFINITY), BAD_NAME.format(name))
        for name in ("x", "my_rule", "my.rule", "my/rule", "-my")
    },
    "priority-name": Refusal(weight(1, TASTE, "my_taste"), BAD_NAME.format("my_taste")),
}

RETURNED = {
    "affinity-weight-negative": Refusal({"hardPodAffinitySymmetricWeight": -1}, BAD_RANGE.format(-1)),
    "affinity-weight-beyond": Refusal({"hardPodAffinitySymmetricWeight": 101}, BAD_RANGE.format(101)),
    "total-old": Refusal(TWO_HEAVY, "Total priority of priority functions has overflown", OLD),
    "total-new": Refusal(TWO_HEAVY, "total priority of priority functions has overflown", NEW),
    "undecodable-version": Refusal(
        {"apiVersion": "v2"}, 'invalid policy: no kind "Policy" is registered for version "v2"'
    ),
    "undecodable-list": Refusal({"predicates": 3}, "invalid policy: predicates: expected a list, got 3"),
    "undecodable-weight": Refusal(
        {"priorities": [{"weight": "1"}]},
        'invalid policy: priorities[0].weight: expected a whole number, got "1"',
    ),
}
REFUSALS = VALIDATION | FATAL | RETURNED


CASES = [
    pytest.param(release, refusal, id=f"{release}-{name}")
    for name, refusal in REFUSALS.items()
    for release in refusal.releases
]
each_case = pytest.mark.parametrize("release, refusal", CASES)
each_release = pytest.mark.parametrize("release", FIVE)


# --- the command line ---------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def folder(workdir):
    """A working folder with a small cluster."""
    (workdir / "cluster.yaml").write_text(CLUSTER)
    return workdir


@pytest.fixture
def told():
    """Runs the command line, which must refuse with this exit status; the lines of standard error."""

    def run_it(*arguments, status=2):
        written = ran(*arguments, status=status)
        assert written.out == ""
        assert "Traceback" not in written.err
        lines = written.err.splitlines()
        if status == 1 or "type not found for" not in lines[0]:
            return lines
        return [line for line in lines if not any(hint in line for hint in HINTS)]

    return run_it


def write(file, policy):
    """Write a Policy into the working folder."""
    Path(file).write_text(json.dumps(policy_of(**policy)))


def config(source):
    """Write a component configuration with this algorithmSource into the working folder."""
    Path("config.yaml").write_text(f"kind: KubeSchedulerConfiguration\nalgorithmSource: {source}\n")


@each_case
def test_simulate(told, release, refusal):
    """A refused Policy gives exit status 2 and one line: the file, then exactly the release's text."""
    write("policy.json", refusal.policy)
    place = "policy.json, document 1" if refusal.says.startswith("invalid policy") else "policy.json"
    lines = told(
        "simulate",
        "cluster.yaml",
        "--policy",
        "policy.json",
        "--release",
        release,
        "--feature-gates",
        refusal.gates,
    )
    assert lines == [f"kubeclassic: {place}: {refusal.says}"]


@each_case
def test_check(told, release, refusal):
    """``policy check`` answers 1 for a refused Policy and says the same text; only hints follow."""
    write("policy.json", refusal.policy)
    first, *hints = told(
        "policy", "check", "policy.json", "--release", release, "--feature-gates", refusal.gates, status=1
    )
    assert first == f"refused by {release}: policy.json: {refusal.says}"
    assert all(hint.startswith(("warning: ", "  ")) for hint in hints)


@each_release
@pytest.mark.parametrize(
    "text, says",
    [
        (
            '{"kind": "Policy",\n "predicates": [}',
            "policy.json, line 2, column 17: broken JSON: expecting value",
        ),
        (
            '{"kind": "Policies"}',
            "policy.json: expected one Policy or one ConfigMap, got 0 documents that may be a Policy",
        ),
        ("", "policy.json: expected one Policy or one ConfigMap, got 0 documents that may be a Policy"),
        (
            '{"kind": "Policy"} {"kind": "Policy"}',
            "policy.json: expected one Policy or one ConfigMap, got 2 documents that may be a Policy",
        ),
    ],
)
def test_undecodable(told, release, text, says):
    """A file that holds no Policy is refused with its place, by ``policy check`` as well."""
    Path("policy.json").write_text(text)
    expected = [f"kubeclassic: invalid policy: {says}"]
    assert told("simulate", "cluster.yaml", "--policy", "policy.json", "--release", release) == expected
    assert told("policy", "check", "policy.json", "--release", release) == expected


@each_release
@pytest.mark.parametrize(
    "kind, missing, text",
    [
        (
            "predicates",
            "NoDiskConflict",
            'nvalid predicate name "NoDiskConflict" specified - no corresponding function found',
        ),
        (
            "priorities",
            "EqualPriority",
            "nvalid priority name EqualPriority specified - no corresponding function found",
        ),
    ],
)
def test_no_function(told, monkeypatch, release, kind, missing, text):
    """A registered name without a function, which no Policy can bring about, is refused, from 1.14 on
    with a small first letter."""
    rules = {kind: {name: rule for name, rule in getattr(CATALOGUE, kind).items() if name != missing}}
    monkeypatch.setattr(schedulerspec, "CATALOGUE", attrs.evolve(CATALOGUE, **rules))
    write("policy.json", {})
    first = "I" if release in OLD else "i"
    lines = told("simulate", "cluster.yaml", "--policy", "policy.json", "--release", release)
    assert lines == [f"kubeclassic: policy.json: {first}{text}"]


# --- Places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["a", "Policy", "not in valid range.json"])
def test_any_name_of_a_file(told, file):
    """The file is named even where its name is a part of the text."""
    write(file, predicate("Policy"))
    assert told("simulate", "cluster.yaml", "--policy", file) == [
        f"kubeclassic: {file}: {NO_PREDICATE.format('Policy')}"
    ]


def test_policy_of_a_configuration(told):
    """A Policy file that ``--config`` points to is named."""
    write("policy.json", predicate("Nope"))
    config("{policy: {file: {path: policy.json}}}")
    lines = told("simulate", "cluster.yaml", "--config", "config.yaml")
    assert lines == [f"kubeclassic: policy.json: {NO_PREDICATE.format('Nope')}"]


def test_policy_of_a_config_map(told, folder):
    """A ConfigMap with a refused Policy is named."""
    policy = json.dumps(policy_of(hardPodAffinitySymmetricWeight=101))
    manifest = {
        "kind": "ConfigMap",
        "metadata": {"name": "ours", "namespace": "kube-system"},
        "data": {"policy.cfg": policy},
    }
    (folder / "cluster.yaml").write_text(f"{CLUSTER}---\n{json.dumps(manifest)}\n")
    lines = told("simulate", "cluster.yaml", "--policy-configmap", "ours")
    assert lines == [f"kubeclassic: ConfigMap kube-system/ours: {BAD_RANGE.format(101)}"]


def test_a_gate_is_not_the_policys_fault(told):
    """A gate that is locked is refused without the Policy's name."""
    write("policy.json", {})
    lines = told(
        "simulate", "cluster.yaml", "--policy", "policy.json", "--feature-gates", "PodPriority=false"
    )
    assert lines == ["kubeclassic: cannot set feature gate PodPriority to false, feature is locked to true"]


def test_a_name_of_two_lines(told):
    """A line break in a name does not make two lines of a message."""
    write("policy.json", predicate("No\npe"))
    assert told("simulate", "cluster.yaml", "--policy", "policy.json") == [
        f"kubeclassic: policy.json: {NO_PREDICATE.format('No pe')}"
    ]
    refused, hint = told("policy", "check", "policy.json", status=1)
    assert (refused, "no release has No pe; " in hint) == (
        f"refused by 1.16: policy.json: {NO_PREDICATE.format('No pe')}",
        True,
    )
