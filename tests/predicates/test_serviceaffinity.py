"""CheckServiceAffinity: pods of a service keep to equal node labels, by example and against a plain loop."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.overlay import Overlay
from kubeclassic.core.cycle import Cycle
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.pods.template import Entry
from kubeclassic.predicates.serviceaffinity import service_affinity
from tests.reference.owners import Peers
from tests.support.build import answers, ask, engine, node, obj, overlay, pod
from tests.support.examples import examples

MISFIT = ["node(s) didn't match service affinity"]
RULE = service_affinity("CheckServiceAffinity", ["region"])
SERVICE: Any = obj({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}})
A, B, C = (node(name, labels={"region": region}) for name, region in (("a", "east"), ("b", "west"), ("c", "east")))


def newcomer(**more: Any) -> Pod:
    """The pod that is to be scheduled, one of ``app: a``."""
    return pod("new", labels={"app": "a"}, **more)


def peer(name: str, on: str = "", **more: Any) -> Pod:
    """A pod of ``app: a``."""
    return pod(name, on=on, **{"labels": {"app": "a"}, **more})


class TestLabels:
    def test_a_peer_has_all_labels_of_the_pod(self) -> None:
        """Only pods of the namespace that have all of the pod's labels are peers, whatever the service selects."""
        new = pod("new", labels={"app": "a", "tier": "t"})
        both = peer("2", "b", labels={"app": "a", "tier": "t"})
        objects = [A, B, C, SERVICE, peer("1", "a"), both, peer("3", "a", namespace="far")]
        assert ask(RULE, new, *objects) == {"a": MISFIT, "b": [], "c": MISFIT}

    def test_an_invalid_value_asks_for_nothing(self) -> None:
        """A value that is no valid label makes every node fit."""
        assert ask(RULE, newcomer(nodeSelector={"region": "no good"}), A, B) == {"a": [], "b": []}

    def test_a_missing_node_is_an_error(self) -> None:
        """Where the first peer's node is not known the predicate cannot answer."""
        for release in ("1.12", "1.16"):
            found = ask(RULE, newcomer(), B, SERVICE, peer("1", "a"), release=release)
            assert found == {"b": 'node "a" not found'}

    def test_a_deleted_peer_on_a_deleted_node_is_forgotten(self) -> None:
        """The list of peers is the cache's: a pod that was deleted after its node is not in it, though the snapshot still has it."""
        gone, stays = peer("1", "a"), pod("other", on="a")
        made = engine(A, B, SERVICE, gone, stays)
        made.begin(newcomer())
        feed = EventFeed(made)
        feed.delete(A)
        cycle = made.begin(newcomer())
        assert answers(RULE, cycle, Batch(cycle.table))["b"] == 'node "a" not found'
        feed.delete(gone)
        cycle = made.begin(newcomer())
        assert answers(RULE, cycle, Batch(cycle.table))["b"] == []


class TestWhatIf:
    def test_a_peer_put_back_stands_at_the_end(self) -> None:
        """A peer that is put back comes behind those of other nodes; without metadata it has its old place."""
        cycle = engine(A, B, SERVICE, peer("1", "a"), peer("2", "b")).begin(newcomer())
        trial = overlay(cycle, "a")
        entry = trial.pods(0)[0]
        trial.remove(entry, 0)
        trial.add(entry, 0)
        assert answers(RULE, cycle, trial) == {"a": MISFIT}
        cycle.has_metadata = False
        assert answers(RULE, cycle, trial) == {"a": []}

    def test_a_nominated_peer_that_names_a_node_leads_there(self) -> None:
        """Upstream looks up the node in the spec of the first peer, whatever node it is nominated to."""
        cycle = engine(A, B, SERVICE).begin(newcomer())
        trial = overlay(cycle, "a", "b")
        trial.add(cycle.nominated_entry(peer("1", "b")), 0)
        assert answers(RULE, cycle, trial) == {"a": MISFIT, "b": []}


# --- against a plain loop -------------------------------------------------------------------------------------------

LABELS = st.fixed_dictionaries({}, optional={"region": st.sampled_from(["e", "w"]), "rack": st.sampled_from("12")})
PLACES = st.lists(LABELS, min_size=1, max_size=4)
PODS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=6)
EDITS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["put back", "nominate", "remove"]), st.sampled_from("ab")), max_size=8)


@given(PLACES, PODS, EDITS, st.sampled_from([None, {"rack": "1"}]), st.booleans())
@examples(1.5)
def test_as_a_plain_loop_has_it(places: Any, pods: Any, edits: Any, selector: Any, has_service: bool) -> None:
    """Whatever is put on and taken off a node, the answer is that of upstream's list of peers followed step by step."""
    nodes = {f"n{i}": node(f"n{i}", labels=found) for i, found in enumerate(places)}
    bound = [pod(f"p{i}", on=f"n{at % len(nodes)}", labels={"app": app}) for i, (at, app) in enumerate(pods)]
    new = newcomer(nodeSelector=selector)
    cycle = engine(*nodes.values(), *bound, *([SERVICE] if has_service else [])).begin(new)
    placed = [(n, [p for p in bound if p.spec.node_name == n.name]) for n in nodes.values()]
    lists = {name: Peers(new, placed) for name in nodes}
    rule = service_affinity("CheckServiceAffinity", ["region", "rack"])
    trial = overlay(cycle)
    taken: dict[int, list[Entry]] = {}

    def expected() -> dict[str, Any]:
        fits = {name: lists[name].fits(n, ["region", "rack"], has_service) for name, n in nodes.items()}
        return {name: said if isinstance(said, str) else [] if said else MISFIT for name, said in fits.items()}

    assert answers(rule, cycle, Batch(cycle.table)) == expected()
    for number, (place, what, app) in enumerate(edits):
        at = place % trial.n
        entry, sign = _edit(cycle, trial, at, what, pod(f"e{number}", labels={"app": app}), taken.setdefault(at, []))
        if entry is not None:
            lists[trial.name(at)].change(entry.pod, sign)
        assert answers(rule, cycle, trial) == expected()


def _edit(cycle: Cycle, trial: Overlay, at: int, what: str, extra: Pod, taken: list[Entry]) -> tuple[Entry | None, int]:
    """Do *what* on node *at*, where that is possible: answers the pod, and whether it came (1) or went (-1)."""
    if what == "remove" and trial.pods(at):
        entry = trial.pods(at)[0]
        trial.remove(entry, at)
        if not entry.nominated:
            taken.append(entry)
        return entry, -1
    if what == "nominate" or (what == "put back" and taken):
        entry = cycle.nominated_entry(extra) if what == "nominate" else taken.pop()
        trial.add(entry, at)
        return entry, 1
    return None, 0
