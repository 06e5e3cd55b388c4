"""The search for many nodes: what it may choose, how many have to stay, and that what it finds can go."""

from contextlib import suppress
from itertools import permutations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic import Cluster, drain
from kubeclassic.exceptions import KubeclassicError, UnknownNameError
from kubeclassic.questions.drain.plan import DrainMove, verify
from kubeclassic.questions.drain.trial import NotDrainable, settle
from kubeclassic.simulation.evictions import DrainFlags
from kubeclassic.simulation.input import scenario_of, spec_of
from tests.support.build import node
from tests.support.drainbuild import FLAGS, RELEASES, asked, cluster_of, owned, settled
from tests.support.examples import examples
from tests.support.keywords import keywords_of
from tests.support.refusals import refusal_text

ALL = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True, force=True)


def searched(*objects, **options):
    """The record that --auto finds."""
    return drain(Cluster(objects, defaults=False), **keywords_of({**FLAGS, **options}), auto=True)


def three(*more, cpu="4"):
    """Three equal nodes, and other things."""
    return (*(node(name, cpu=cpu, labels={"zone": name}) for name in "abc"), *more)


LABELS = "KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY"


def test_the_least_used_go_first():
    """Pods of the emptiest nodes move to the fullest, none of them twice."""
    found = searched(
        *three(owned("p", on="a", cpu="2"), owned("q", on="b", cpu="1"), owned("r", on="c", cpu="500m"))
    )
    assert found.can == ["c", "b"]
    assert sorted((move.pod, move.to) for move in found.moves) == [("default/q", "a"), ("default/r", "a")]


def test_the_control_plane_stays():
    """Nodes with the role's label, old or new, or with its taint alone, as some installers set it, are no
    candidates."""
    roles = [f"node-role.kubernetes.io/{role}" for role in ("master", "control-plane")]
    taint = {"key": roles[1], "effect": "NoSchedule"}
    found = searched(
        node("a"), *(node(role[-5:], labels={role: ""}) for role in roles), node("t", taints=[taint])
    )
    assert (found.can, found.cannot) == (["a"], {})


def test_what_kubectl_refuses_stays():
    """A node with a bare pod stays without --force."""
    found = searched(*three(owned("p", "bare", on="a")), force=False)
    assert set(found.can) == {"b", "c"}
    assert found.cannot == {
        "a": "cannot delete Pods that declare no controller (use --force to override): default/p"
    }


def test_bare_pods_can_be_made_again():
    """With recreate_bare a trace's bare pods move, under their own names."""
    found = searched(
        *three(owned("p", "bare", on="a", cpu="2"), owned("q", "bare", on="b", cpu="1")),
        force=False,
        recreate_bare=True,
    )
    assert set(found.can) == {"b", "c"}
    assert found.moves == (DrainMove("default/q", "b", "a"),)


def test_keep():
    """At least so many stay, and the reason says so; to keep more nodes than there are is to keep all."""
    found = searched(*three(), keep=2)
    assert (len(found.can), set(found.cannot.values())) == (1, {"stays, as --keep wants"})
    found = searched(*three(), keep=7)
    assert (found.can, found.ok) == ([], False)


def test_labels():
    """Only nodes with the labels go; the others are not spoken of."""
    found = searched(*three(), node_selector="zone in (a,b)")
    assert (found.can, found.cannot) == (["a", "b"], {})


@examples(0.15)
@example(seed=275, release="1.16")  # n0 can go after n2, not before it
@given(seed=st.integers(0, 1 << 30), release=st.sampled_from(RELEASES))
def test_it_is_one_of_them(seed, release):
    """The nodes found are one of the sets of nodes that can be drained together, in any order."""
    objects = settled(cluster_of(seed, nodes=4), release, preemption=False)
    record = asked(objects, [], release, auto=True, **FLAGS)
    names = [f"n{number}" for number in range(4)]
    sets = [chosen for size in range(1, 5) for chosen in permutations(names, size)]
    able = [set(chosen) for chosen in sets if not asked(objects, list(chosen), release, **FLAGS)["cannot"]]
    assert not record["can"] or set(record["can"]) in able


def test_a_policy_without_resources_has_none():
    """Where no rule counts resources nothing has to stay."""
    policy = yaml.safe_load("""
        kind: Policy
        apiVersion: v1
        predicates:
        - {name: PodToleratesNodeTaints}
        priorities: []
        """)
    found = searched(
        *three(owned("p", on="a", cpu="3"), owned("q", on="b", cpu="3")), release="1.12", policy=policy
    )
    assert len(found.can) == 2


@examples(0.4)
@given(seed=st.integers(0, 1 << 30), release=st.sampled_from(RELEASES), number=st.integers(0, 4))
def test_a_trial_that_is_undone_leaves_no_trace(seed, release, number):
    """After a trial, whatever became of it, the way back leads to the same pods on the same nodes,
    budgets and decisions."""
    ours = settled_of(settled(cluster_of(seed), release, preemption=False), release)
    trial = ours.trial()
    other = ours.trial()
    before = state_of(trial)
    trial.cordon(f"n{number}")
    with suppress(NotDrainable), trial.run.savepoint():
        trial.empty(f"n{number}", ALL.sort(trial.pods_on(f"n{number}")).leaving, asks_budgets=True)
    trial.uncordon(f"n{number}")
    assert state_of(trial) == before
    probe = owned("probe", cpu="1")
    assert trial.run.ask(probe).record() == other.run.ask(probe).record()


def settled_of(objects, release):
    """The cluster before a drain."""
    spec = spec_of(release)
    scenario = scenario_of(Cluster(objects, defaults=False), scheduler_names=spec.scheduler_names)
    return settle(scenario, lambda: spec.engine(scenario.config_maps), spec.scheduler_names)


def state_of(trial):
    """The state that a trial could change."""
    engine = trial.engine
    engine.snapshot.refresh()
    pods = {name: sorted(entry.pod.key for entry in info.pods) for name, info in engine.cache.infos.items()}
    requested = {name: engine.table.requested[:, row].tolist() for name, row in engine.table.row_of.items()}
    nodes = {name: info.node for name, info in engine.cache.infos.items()}
    left = {
        name: [allowance.remaining for _, allowance in found]
        for name, found in trial.budgets._by_namespace.items()
    }
    nominated = {name: [pod.key for pod in engine.nominations.on(name)] for name in engine.nominations}
    place = (
        engine.flow.order.position,
        engine.ties.last_node_index,
        set(trial.replacements.keys_in_use),
        trial.rounds,
    )
    return (
        pods,
        requested,
        nodes,
        left,
        nominated,
        place,
        trial.evictions,
        set(trial.run._pods),
        set(trial.cordoned),
    )


def test_it_ends_with_a_pass_without_failures():
    """Nodes that cannot go together are tried without the one that failed, which stays in service."""
    objects = list(three(owned("p", on="a", cpu="3"), owned("q", on="b", cpu="3"), cpu="4"))
    found = verify(settled_of(objects, "1.16"), ["a", "b"], ALL)
    assert found.can == ("a",)
    assert found.cannot["b"].startswith(
        "default/web-1, made in place of default/q, finds no other node: 0/3 nodes are available: "
    )


def test_the_trial_is_of_the_whole_set():
    """At its end the nodes that can go are cordoned, and the others are not."""
    found = verify(settled_of(list(three()), "1.16"), ["a", "b"], ALL)
    assert list(found.trial.cordoned) == ["a", "b"]


@pytest.mark.parametrize(
    "options, wanted",
    [
        ("{}", "node: expected the names of nodes, zone, node_selector or auto, got none"),
        ("nodes: x", 'node: expected a node of the cluster, got "x"'),
        ("{nodes: a, auto: true}", "node: expected names or auto, got both"),
        ("{nodes: [a], zone: z}", "node: expected names or zone or node_selector, got both"),
        ("{nodes: a, keep: 1}", "keep needs auto"),
        ("{auto: true, keep: -1}", "keep: expected 0 or more, got -1"),
        (
            "{auto: true, zone: zone1}",
            'zone: expected one of zone-1, zone-2, got "zone1"; did you mean "zone-1" or "zone-2"?',
        ),
        ("node_selector: no=where", 'node_selector: got "no=where", which chooses no node'),
        ("{auto: true, node_selector: ==}", f'node_selector: expected {LABELS}, got "=="'),
        ("{nodes: a, pod_selector: ==}", f'pod_selector: expected {LABELS}, got "=="'),
        ("{nodes: a, order: size}", 'order: expected input, priority, queue, got "size"'),
    ],
)
def test_wrong_ones_are_refused(options, wanted):
    """Options that exclude each other, or names that do not exist, are refused in one line."""
    nodes = [
        node(name, labels={"topology.kubernetes.io/zone": zone})
        for name, zone in (("a", "zone-1"), ("b", "zone-2"))
    ]
    assert refusal_text(
        KubeclassicError, drain, Cluster(nodes), **keywords_of(yaml.safe_load(options))
    ).startswith(wanted)


def test_a_zone_without_zones():
    """A cluster whose nodes say no zone has none to empty."""
    with pytest.raises(UnknownNameError, match="expected nodes with a zone, of which there are none"):
        drain(Cluster([node("a")]), zone="z")
