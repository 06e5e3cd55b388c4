"""Random sequences of events against a naive cache."""

from functools import cache

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.exceptions import CacheError
from tests.reference.cache import NaiveCache, Refused
from tests.support.build import engine, node, pod
from tests.support.examples import examples

SETTINGS = examples(0.8, stateful_step_count=40, suppress_health_check=list(HealthCheck))
NUMBERS = st.integers(0, 5)
NODES = st.sampled_from(("n1", "n2", "n3"))
LABELS = st.sampled_from(("a", "b"))


@cache
def made(number, on, label):
    """Pod *number* on a node; its requests, as in a real cluster, never change."""
    return pod(f"p{number}", on=on, app=label, cpu=f"{number + 1}00m", uid=f"u{number}")


@cache
def made_node(name, label):
    """A node whose zone is its label."""
    return node(name, labels={"failure-domain.beta.kubernetes.io/zone": label})


def refusal(step):
    """The error text of *step*; empty if it succeeds."""
    try:
        step()
    except (CacheError, Refused) as error:
        return str(error)
    return ""


class CacheMachine(RuleBasedStateMachine):
    """A cache and a naive one that get the same events."""

    release = "1.16"

    @initialize()
    def begin(self):
        self.engine = engine(release=self.release)
        self.real = self.engine.cache
        self.now = 0.0
        self.naive = NaiveCache(RELEASES[self.release].snapshot_keeps_nodeless)

    @rule(
        number=NUMBERS,
        on=NODES,
        label=LABELS,
        verb=st.sampled_from(("assume", "forget", "add", "add", "update", "remove")),
    )
    def change_a_pod(self, number, on, label, verb):
        told = made(number, on, label)
        assert refusal(lambda: getattr(self.real, verb)(told)) == refusal(
            lambda: getattr(self.naive, verb)(told)
        )

    @rule(number=NUMBERS, label=LABELS, verb=st.sampled_from(("forget", "add", "update", "remove")))
    def change_a_pod_where_it_is(self, number, label, verb):
        if f"u{number}" in self.naive.told:
            self.change_a_pod(number, self.naive.told[f"u{number}"].spec.node_name, label, verb)

    @rule(number=NUMBERS, on=NODES)
    def finish_binding(self, number, on):
        self.real.finish_binding(made(number, on, "a"), self.now)
        self.naive.finish(made(number, on, "a"), self.now)

    @rule(pause=st.sampled_from((0.0, 0.25, 15.0, 30.0)))
    def sweep(self, pause):
        self.now += pause
        assert {expired.uid for expired in self.real.expire(self.now)} == self.naive.expire(self.now)

    @rule(name=NODES, label=LABELS)
    def put_node(self, name, label):
        old = self.real.node(name)
        new = made_node(name, label)
        if old is None:
            self.real.add_node(new)
        else:
            self.real.update_node(old, new)
        self.naive.put_node(new)

    @rule(name=NODES)
    def remove_node(self, name):
        gone = self.real.node(name)
        if gone is not None or name not in self.naive.nodes:
            step = made_node(name, "a") if gone is None else gone
            assert refusal(lambda: self.real.remove_node(step)) == refusal(
                lambda: self.naive.remove_node(name)
            )

    @rule()
    def snapshot(self):
        """The table has the nodes, pods and requests of a copy of the cache, and what a release keeps of
        deleted nodes."""
        self.engine.snapshot.refresh()
        self.naive.refresh()
        table = self.engine.table
        assert table.row_of.keys() == self.naive.snapshot.keys()
        for name, (held, pods) in self.naive.snapshot.items():
            row = table.row_of[name]
            assert table.nodes[row] is held
            assert [entry.pod for entry in table.pods[row]] == pods
            assert table.requested[0, row] == sum(100 * (int(item.name[1:]) + 1) for item in pods)

    @invariant()
    def agree(self):
        if not hasattr(self, "real"):
            return
        assert {
            name: (info.node, [entry.pod for entry in info.pods]) for name, info in self.real.infos.items()
        } == {name: (node, self.naive.pods.get(name, [])) for name, node in self.naive.nodes.items()}
        assert self.real.node_count == sum(node is not None for node in self.naive.nodes.values())
        for number in range(6):
            state = self.real.state(made(number, "", "a"))
            uid = f"u{number}"
            assert (None if state is None else state.pod) is self.naive.told.get(uid)
            assert self.real.is_assumed(made(number, "", "a")) == (self.naive.state.get(uid) == "assumed")


@pytest.mark.parametrize("release", RELEASES)
def test_cache(release):
    """After any sequence of events the cache of a release and its snapshots equal the naive ones."""
    run_state_machine_as_test(type("Machine", (CacheMachine,), {"release": release}), settings=SETTINGS)
