"""The text of a FitError, the nodes with a status, and the start of the next search, release by release."""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.framework.plugin import Plugin, PreFilterResult, unresolvable, unschedulable
from tests.support.build import node, pod
from tests.support.frameworkbuild import disabled, enabled, scheduler

RELEASES = ("1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33", "1.34")
NO_CLAIMS = yaml.safe_load("{postFilter: {disabled: [{name: '*'}]}}")
"""Without PostFilter messages are those of filters alone."""


def named(*names):
    """A pod whose node affinity names nodes."""
    terms = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in names
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return pod("p", affinity={"nodeAffinity": required})


def three(release):
    """Three nodes, the first of which has a taint."""
    tainted = node("a", taints=[{"key": "k", "effect": "NoSchedule"}])
    return scheduler(tainted, node("b"), node("c"), release=release, profile={"plugins": NO_CLAIMS})


# --- Outside ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "releases, text, failed",
    [
        (("1.27",), ", 2 node is filtered out by the prefilter result", ["a", "b", "c"]),
        (("1.28", "1.29", "1.30", "1.31"), "", ["a"]),
        (("1.32", "1.33", "1.34"), ", 2 node(s) didn't satisfy plugin(s) [NodeAffinity]", ["a", "b", "c"]),
    ],
)
def test_nodes_that_the_pod_does_not_name(releases, text, failed):
    """Nodes outside a PreFilter result have a status of their own, none, or one that they share."""
    for release in releases:
        decision = three(release).schedule(named("a"))
        assert decision.error == f"0/3 nodes are available: 1 node(s) had untolerated taint {{k: }}{text}.", (
            release
        )
        assert sorted(decision.details.failed) == failed


@pytest.mark.parametrize("release", RELEASES[1:])
def test_unknown_names_alone(release):
    """A pod that names no node of the cluster fails without a division by zero."""
    decision = three(release).schedule(named("nowhere"))
    shared = " 3 node(s) didn't satisfy plugin(s) [NodeAffinity]." if release >= "1.32" else ""
    assert (decision.error or "") == f"0/3 nodes are available:{shared}"


@pytest.mark.parametrize("release, start", [("1.27", 1), ("1.28", 2), ("1.31", 2), ("1.34", 2)])
def test_where_the_next_search_starts(release, start):
    """From 1.28 on the start moves among all nodes, by those that were looked at."""
    made = three(release)
    made.schedule(named("b", "c"))
    assert made.flow.order.start == start


@pytest.mark.parametrize("release", ["1.27", "1.36"])
@pytest.mark.parametrize("nominated, start", [(None, 0), ("b", 1)])
def test_where_the_next_search_starts_after_an_error(release, nominated, start):
    """The nominated node was looked at, although the search ended before it came to it again."""
    profile = {"plugins": {"preFilter": disabled("NodeResourcesFit")}}
    nodes = [node("a"), node("b", unschedulable=True), node("c")]
    made = scheduler(*nodes, profile=profile, release=release)
    assert "not found" in (made.schedule(pod("p", nominated=nominated)).error or "")
    assert made.flow.order.start == start


@pytest.mark.parametrize(
    "release, text",
    [("1.32", "[NodeAffinity NodeResourcesFit]"), ("1.34", "[NodeAffinity NodeResourcesFit]")],
)
def test_the_plugin_that_rejects_the_nominated_node_is_named(release, text):
    """That plugin joins the set of plugins that leave out nodes, before the reason of those nodes is made
    from the set."""
    asks = named("b")
    spec = replace(asks.spec, containers=pod("p", cpu="9").spec.containers)
    asks = replace(asks, spec=spec, status=replace(asks.status, nominated_node_name="b"))
    decision = three(release).schedule(asks)
    assert (
        decision.error
        == f"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) {text}."
    )


@pytest.mark.parametrize("release", RELEASES)
def test_after_the_message_of_post_filter(release):
    """Up to 1.28 a full stop is added to the message of preemption, which has one."""
    decision = scheduler(node("a", cpu="1"), release=release).schedule(pod("p", cpu="2"))
    assert decision.error.endswith("..") == (release in ("1.27", "1.28"))


class Named(Plugin):
    """A PreFilter plugin that says what it is told to."""

    answer = None

    def pre_filter(self, pod, cycle):
        return type(self).answer


def plugins(**answers):
    """Plugins by name, each with its answer."""
    return tuple(type(name, (Named,), {"name": name, "answer": answer}) for name, answer in answers.items())


def decided(release, **answers):
    """The decision on a pod for which PreFilter plugins of a user give *answers*, in this order."""
    profile = {"plugins": {"preFilter": enabled(*answers), **NO_CLAIMS}}
    return scheduler(
        node("a"), node("b"), profile=profile, plugins=plugins(**answers), release=release
    ).schedule(pod("p"))


# --- Pre filter ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release, said", [("1.29", "one"), ("1.30", "two"), ("1.34", "two")])
def test_the_last_rejection_counts(release, said):
    """From 1.30 on PreFilter goes on after a rejection that removing pods may resolve."""
    decision = decided(release, First=unschedulable("one"), Second=unschedulable("two"))
    assert decision.error == f"0/2 nodes are available: {said}."


@pytest.mark.parametrize("release", RELEASES)
def test_an_unresolvable_one_ends_it(release):
    """Where removing pods cannot help, PreFilter ends at once in every release."""
    decision = decided(release, First=unresolvable("one"), Second=unschedulable("two"))
    assert decision.error == "0/2 nodes are available: one."


@pytest.mark.parametrize(
    "release, names, code",
    [
        ("1.29", "[Z A]", "Unschedulable"),
        ("1.30", "[Z A]", "UnschedulableAndUnresolvable"),
        ("1.31", "[A Z]", "UnschedulableAndUnresolvable"),
    ],
)
def test_no_node_is_left(release, names, code):
    """Plugins that together leave no node are named, from 1.31 on in ascending order; from 1.30 on
    nothing helps."""
    decision = decided(release, Z=PreFilterResult(frozenset("a")), A=PreFilterResult(frozenset("b")))
    assert (
        decision.error == f"0/2 nodes are available: node(s) didn't satisfy plugin(s) {names} simultaneously."
    )
    assert {refusal.code for refusal in decision.details.refusals().values()} == {code}


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("release, hosts", [("1.29", ["a", "a"]), ("1.30", ["a", "b"]), ("1.34", ["a", "b"])])
def test_without_scores_the_first_node_is_taken(release, hosts, details):
    """From 1.30 on a search that nothing scores ends at its first node, and the next one starts behind
    it."""
    made = scheduler(
        node("a"), node("b"), node("c"), profile={"plugins": {"score": disabled("*")}}, release=release
    )
    assert [made.schedule(pod(name), details=details).host for name in ("p", "q")] == hosts
