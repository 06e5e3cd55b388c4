"""NodeAffinity: the pod's own, the profile's, and what both would like."""

import pytest
import yaml

from kubeclassic.api.objects import LabelSelector, Requirement
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.cycle import PriorityError
from kubeclassic.core.release import FrameworkCells
from kubeclassic.framework.config.args import read_args
from kubeclassic.framework.config.fielderrors import label_selector_fault, node_selector_faults
from kubeclassic.framework.plugin import SKIP, error, unresolvable
from kubeclassic.framework.plugins.nodeaffinity import NodeAffinityPlugin
from tests.support.asking import cycle_of, found_by, handle, refusals
from tests.support.build import node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
OWN = "node(s) didn't match Pod's node affinity/selector"
ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
NODES = (node("a", labels={"disk": "ssd", "odd": "x"}), node("b", labels={"disk": "hdd"}))


def plugin(**added):
    """The plugin; *added*: the profile's affinity, ``required`` terms and ``preferred`` ones."""
    affinity = affinity_of(**added)
    return NodeAffinityPlugin(
        read_args("NodeAffinity", {"addedAffinity": affinity} if added else {}), handle()
    )


def affinity_of(required=None, preferred=None):
    found = {} if required is None else {REQUIRED: {"nodeSelectorTerms": required}}
    return found if preferred is None else found | {PREFERRED: preferred}


def faults(selector, cells=None):
    """The faults of a pod's required terms with one expression."""
    made = pod(
        "p", affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [selector]}]}}}
    )
    assert made.spec.affinity.node_affinity.required is not None
    return node_selector_faults(made.spec.affinity.node_affinity.required, cells or FrameworkCells())


def labelled(*values, operator="In"):
    return {"matchExpressions": [{"key": "disk", "operator": operator, "values": list(values)}]}


def named(*names):
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(names)}]}


def wanting(*required):
    return pod("new", affinity={"nodeAffinity": affinity_of(list(required))})


def liking(*preferred):
    return pod("new", affinity={"nodeAffinity": affinity_of(preferred=list(preferred))})


def before(new):
    cycle = cycle_of(new, *NODES)
    return plugin().pre_filter(cycle.template, cycle)


def test_names_that_exclude_each_other_end_the_cycle():
    """If no term can match any name the pod is turned down as a whole."""
    term = {"matchFields": named("a")["matchFields"] + named("b")["matchFields"]}
    assert before(wanting(term)) == unresolvable("pod affinity terms conflict")


def test_a_term_that_names_nobody_before_them():
    """1.24 to 1.26 turn the pod down for one such term, unless an earlier term is open to every node."""
    conflict = {"matchFields": named("a")["matchFields"] + named("b")["matchFields"]}
    for first, is_refused in ((named("a"), True), (labelled("ssd"), False)):
        cycle = cycle_of(wanting(first, conflict), *NODES, release="1.25")
        found = NodeAffinityPlugin(None, handle("1.25")).pre_filter(cycle.template, cycle)
        assert found == (unresolvable("pod affinity terms conflict") if is_refused else None)


def test_it_does_without_pre_filter():
    """A disabled PreFilter changes nothing for the filter."""
    cycle = cycle_of(wanting(named("a")), *NODES)
    assert found_by(plugin(), cycle, Batch(cycle.table)) == {"a": None, "b": OWN}


def test_the_profiles_own_affinity_comes_first():
    """A node that the added affinity does not match says so, whatever the pod asks for."""
    enforced = plugin(required=[labelled("hdd")])
    assert refusals(enforced, pod("new", nodeSelector={"disk": "nvme"}), *NODES) == {"a": ENFORCED, "b": OWN}


def test_an_invalid_term_ends_the_cycle():
    """An expression that cannot be read is an error before scoring, and in it where PreScore is disabled."""
    cycle = cycle_of(liking({"weight": 1, "preference": labelled("ssd", operator="Foo")}), *NODES)
    text = '[0].matchExpressions[0].operator: Unsupported value: "Foo"'
    assert plugin().pre_score(cycle.template, Batch(cycle.table), cycle) == error(text)
    with pytest.raises(PriorityError, match="Unsupported value"):
        plugin().score(cycle.template, Batch(cycle.table), cycle)


@pytest.mark.parametrize("release", ["1.27", "1.30"])
def test_an_empty_list_is_scored(release):
    """A list of preferences that is there is asked about, even if it is empty; without one the plugin
    skips from 1.30 on."""
    cycle = cycle_of(pod("new", affinity={"nodeAffinity": {PREFERRED: []}}), *NODES)
    judge = NodeAffinityPlugin(None, handle(release))
    assert judge.pre_score(cycle.template, Batch(cycle.table), cycle) is None
    bare = cycle_of(pod("new"), *NODES)
    assert judge.pre_score(bare.template, Batch(bare.table), bare) == (SKIP if release == "1.30" else None)


def test_an_empty_list_is_not_an_absent_one():
    """The original prints the Go value: an empty list of the manifest is not nil, but its copy in a label
    selector is."""
    asked = {"key": "a", "operator": "In"}
    text = "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: {}: for 'in', 'notin' operators, values set can't be empty"
    assert faults({**asked, "values": []}) == [text.format("[]string{}")]
    assert faults({**asked, "values": None}) == faults(asked) == [text.format("[]string(nil)")]
    expressions = (Requirement(key="a", operator="In", given_values=()),)
    assert "[]string(nil)" in label_selector_fault(LabelSelector(match_expressions=expressions))


def test_lists_as_json():
    """Since 1.34 the original prints lists as JSON, with the characters of HTML escaped."""
    cells = FrameworkCells(faults_as_json=True)
    shown = "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: {}: "
    assert faults(yaml.safe_load("{key: a, operator: In, values: []}"), cells)[0].startswith(
        shown.format("[]")
    )
    assert faults({"key": "a", "operator": "In"}, cells)[0].startswith(shown.format("null"))
    assert faults(yaml.safe_load("{key: a, operator: Gt, values: ['1', <2]}"), cells)[0].startswith(
        shown.format('["1","\\u003c2"]')
    )


def test_an_unknown_operator():
    """The fault of an unknown operator lists the known ones since 1.28."""
    (older,) = faults({"key": "a", "operator": "Is"})
    (newer,) = faults({"key": "a", "operator": "Is"}, FrameworkCells(faults_list_operators=True))
    assert newer == f'{older}: supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
