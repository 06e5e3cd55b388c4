"""Clusters, schedulers, decisions and results can be copied and pickled, and a copied scheduler decides on as
the original."""

import copy
import pickle
import subprocess
import sys

import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import Cluster, KubeclassicError, Scheduler
from kubeclassic.framework.options import Classic, Framework, options_of
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.framework.schedulerspec import build_engine
from kubeclassic.plugins import Plugin
from tests.support.build import node, pod
from tests.support.examplerules import example_modules
from tests.support.examples import ENDS, examples
from tests.support.program import FIND
from tests.support.worldforms import OWNER_KINDS, VOLUME_KINDS, node_form, other_form, pod_form

WAYS = {
    "pickle": lambda item: pickle.loads(pickle.dumps(item)),
    "cloudpickle": lambda item: pickle.loads(cloudpickle.dumps(item)),
    "deepcopy": copy.deepcopy,
}
each_way = pytest.mark.parametrize("way", WAYS)
IN_RELEASES = [
    *((release, "pickle") for release in ENDS),
    *((release, way) for release in ("1.13", "1.27") for way in WAYS),
]
in_releases = pytest.mark.parametrize("release, way", dict.fromkeys(IN_RELEASES))
"""Every release can be pickled; the other ways are tried in one of each kind."""
SUBJECTS = ("any", "resources", "affinity", "spread", "ports", "owned", "claims")
VERBS = (
    "schedule",
    "schedule",
    "schedule",
    "schedule",
    "run",
    "node",
    "drop node",
    "other",
    "bound",
    "drop pod",
    "ask",
)
STEPS = st.lists(
    st.tuples(st.sampled_from(VERBS), st.integers(0, 7), st.integers(0, 63)), min_size=4, max_size=14
)


def cpu(name, amount, priority=0, on=""):
    """A pod that asks for so many cpus."""
    return pod(name, cpu=amount, on=on, priority=priority)


def act(scheduler, verb, number, variant, subject):
    """Let something happen, and say what the scheduler decided, or why it could not."""
    cluster = scheduler.cluster
    known = {(item.kind, item.key) for item in cluster.objects}
    try:
        if verb in ("schedule", "ask"):
            wanted = pod_form(subject, variant, f"p{number}")
            return (scheduler.schedule if verb == "schedule" else scheduler.explain)(wanted).record(
                details=True
            )
        if verb == "run":
            return [decision.record() for decision in scheduler.run(details=False)]
        if verb.startswith("drop"):
            cluster.delete(f"node/node-{number}" if verb == "drop node" else f"pod/default/b{number}")
            return None
        kind = (*OWNER_KINDS, *VOLUME_KINDS)[variant % len((*OWNER_KINDS, *VOLUME_KINDS))]
        made = {"node": node_form, "other": lambda n, v: other_form(kind, n, v)}.get(
            verb, lambda n, v: bound(cluster, n, v, subject)
        )
        item = made(number, variant)
        (cluster.update if (item.kind, item.key) in known else cluster.add)(item)
    except KubeclassicError as error:
        return str(error)
    return None


def bound(cluster, number, variant, subject):
    """A pod on one of the nodes."""
    nodes = cluster.nodes
    return pod_form(subject, variant, f"b{number}", on=nodes[variant % len(nodes)].name if nodes else "")


# --- Ascheduler decides on ----------------------------------------------------------------------------------


@examples(2)
@given(
    release=st.sampled_from(sorted(ALL_RELEASES)),
    subject=st.sampled_from(SUBJECTS),
    before=STEPS,
    after=STEPS,
    tie_break=st.sampled_from(("release", "random")),
    cached=st.booleans(),
    way=st.sampled_from(sorted(WAYS)),
    memory=st.booleans(),
)
def test_as_the_original(release, subject, before, after, tie_break, cached, way, memory):
    """Whatever happened before a copy was made, and whatever happens after, both decide the same, with
    every detail."""
    options = {"equivalence_cache": True} if cached and release in ("1.12", "1.13") else {}
    cluster = Cluster([node_form(number, 3 * number) for number in range(4)], defaults=False)
    ours = Scheduler(
        cluster,
        options_of(
            {
                "release": release,
                "tie_break": tie_break,
                "seed": 7,
                "memory_bytes": (1 << 30) * memory,
                **options,
            }
        ),
    )
    for step in before:
        act(ours, *step, subject)
    theirs = WAYS[way](ours)
    assert [act(ours, *step, subject) for step in after] == [act(theirs, *step, subject) for step in after]


@in_releases
def test_between_a_preemption_and_its_retry(release, way):
    """A pod that made room for itself still waits for its node in the copy, and others keep off."""
    ours = Scheduler(
        Cluster([node("a", cpu="2"), cpu("old", 2, on="a"), cpu("new", 2, 10), cpu("other", 2, 5)]), release
    )
    assert ours.schedule("new").victims == [ours.cluster.find("pod", "old")]
    theirs = WAYS[way](ours)
    for one in (ours, theirs):
        assert one.schedule("other").host is None
        assert one.schedule("new").host == "a"


@each_way
def test_with_rules_and_plugins_of_the_user(way, root, monkeypatch):
    """Rules and plugins that stand in a module go with the scheduler."""
    rules, plugins = example_modules(root, monkeypatch)
    several = [{"catalogue": rules.CATALOGUE}, {"release": "1.27", "plugins": plugins.PLUGINS}]
    for options in several:
        ours = Scheduler(Cluster.load(root / "examples" / "cluster"), options_of(options))
        theirs = WAYS[way](ours)
        left, right = ([decision.record(details=True) for decision in one.run()] for one in (ours, theirs))
        assert left == right
        assert "ZoneAtWork" in str(theirs.algorithm.predicates)


# --- Nothing is shared --------------------------------------------------------------------------------------


@each_way
def test_what_one_decides_the_other_does_not_know(way):
    """A pod that the copy placed takes no room in the original, and the clusters change apart."""
    ours = Scheduler(Cluster([node("a", cpu="2"), cpu("p", 2), cpu("q", 2)]), Classic(tie_break="random"))
    theirs = WAYS[way](ours)
    assert theirs.cluster is not ours.cluster
    assert theirs.schedule("p").host == "a"
    assert ours.schedule("q").host == "a"
    theirs.cluster.add(node("b", cpu="2"))
    assert (theirs.schedule("q").host, ours.schedule("p").host) == ("b", None)
    assert len(ours.cluster.nodes) == 1


def test_a_shallow_copy_follows_the_same_cluster():
    """``copy.copy`` gives another scheduler with the same past; both hear of what happens to the cluster."""
    ours = Scheduler(Cluster([node("a", cpu="2"), cpu("p", 2), cpu("q", 2)]))
    theirs = copy.copy(ours)
    assert theirs.cluster is ours.cluster
    assert (theirs.schedule("p").host, ours.schedule("q").host) == ("a", "a")
    ours.cluster.add(node("b", cpu="2"))
    assert (theirs.schedule("q").host, ours.schedule("p").host) == ("b", "b")


def test_state_of_a_users_own_plugin(root):
    """Each copy has its own state of a user's plugin."""
    ours = Scheduler(Cluster([node("a")]), Framework(release="1.27", plugins=[Counting]))
    ours.schedule(cpu("p", 1))
    theirs = copy.deepcopy(ours)
    for number in range(3):
        theirs.schedule(cpu(f"q{number}", 1))
    mine, copied = (one.profiles["default-scheduler"].plugins()["Counting"] for one in (ours, theirs))
    assert (vars(mine)["seen"], vars(copied)["seen"]) == (1, 4)


# --- What else ----------------------------------------------------------------------------------------------


@in_releases
def test_decisions(release, way, root):
    """A copied decision reads as the original, and holds nothing of the scheduler."""
    ours = Scheduler(Cluster.load(root / "examples" / "cluster"), release)
    decisions = ours.run()
    for mine, theirs in zip(decisions, WAYS[way](decisions), strict=True):
        assert theirs.record(details=True) == mine.record(details=True)
        assert (repr(theirs), theirs.details.visited) == (repr(mine), mine.details.visited)
        rows = range(len(mine.details.names))
        assert [theirs.details.refusal(row) for row in rows] == [mine.details.refusal(row) for row in rows]
        assert pickle.loads(pickle.dumps(theirs)).record(details=True) == mine.record(details=True)
    assert len(pickle.dumps(decisions[-1])) < 20_000


@each_way
def test_clusters(way, root):
    """A copied cluster has equal objects, which change apart."""
    mine = Cluster.load(root / "examples" / "cluster")
    theirs = WAYS[way](mine)
    assert theirs.objects == mine.objects
    theirs.delete("node/gpu-b1")
    assert (len(mine.nodes), len(theirs.nodes)) == (11, 10)


def test_rules_of_a_program_itself(root, tmp_path):
    """Rules that stand in a script or a notebook go with cloudpickle, which joblib and Dask use, to a
    process without the script."""
    hosts = [
        subprocess.run(
            [sys.executable, "-c", FIND + text.format(root=root, file=tmp_path / "pickled")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for text in (SCRIPT, READER)
    ]
    assert hosts[0] == hosts[1]
    assert "'database-b1': ['node(s) were in a zone that is worked on']" in hosts[0]


def test_what_cannot_be_copied_says_so():
    """A scheduler of an engine that somebody built himself cannot be made again elsewhere."""
    engine = build_engine(Scheduler(Cluster()).algorithm)
    with pytest.raises(KubeclassicError, match=r"^a scheduler that was made of an engine cannot be copied"):
        copy.copy(Scheduler.of(Cluster(), engine))


def test_a_subclass_keeps_its_attributes():
    """Further attributes of a user's own class of scheduler are copied with it."""
    ours = Named(Cluster([node("a")]))
    ours.names.append("x")
    theirs = copy.deepcopy(ours)
    theirs.names.append("y")
    assert (type(theirs), ours.names, theirs.names) == (Named, ["x"], ["x", "y"])


class Named(Scheduler):
    """A scheduler with something of its own."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self.names = []


class Counting(Plugin):
    """Counts the pods that it has seen."""

    name = "Counting"

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.seen = 0

    def pre_filter(self, pod, cycle):
        """One more pod."""
        self.seen += 1


SCRIPT = """
import cloudpickle
from kubeclassic import Classic, Cluster, Scheduler
from kubeclassic.rules import CATALOGUE, Failures, Reads, Reason, predicate

AT_WORK = Reason("node(s) were in a zone that is worked on", resolvable=False)

@predicate("ZoneAtWork", reads=Reads.NODE, key=lambda pod: None)
def zone_at_work(pod, nodes, cycle):
    zones = nodes.label("failure-domain.beta.kubernetes.io/zone")
    return Failures.where(AT_WORK, zones.where(lambda zone: zone == "north-1b"))

scheduler = Scheduler(Cluster.load("{root}/examples/cluster"), Classic(catalogue=CATALOGUE.with_(zone_at_work)))
with open("{file}", "wb") as stream:
    cloudpickle.dump(scheduler, stream)
print(scheduler.schedule("shop/orders-1").failed)
"""
READER = """
import pickle
with open("{file}", "rb") as stream:
    print(pickle.load(stream).schedule("shop/orders-1").failed)
"""
