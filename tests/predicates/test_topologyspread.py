"""EvenPodsSpread: hard spread constraints, by example and against a plain loop."""

from __future__ import annotations

from typing import Any

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.matching.spread import metadata_fails
from kubeclassic.predicates.topologyspread import even_pods_spread
from tests.support.build import answers, ask, engine, node, overlay, pod
from tests.support.spreadbuild import NEAR, A, B, constraint, incoming, peer

MISFIT = ["node(s) didn't match pod topology spread constraints"]
GATES = {"EvenPodsSpread": True}


def spread(new: Pod, *objects: Any) -> set[str]:
    """The nodes on which the rule lets *new*."""
    found = ask(even_pods_spread, new, *objects, gates=GATES)
    assert all(reasons in ([], MISFIT) for reasons in found.values())
    return {name for name, reasons in found.items() if not reasons}


class TestSkew:
    def test_a_pod_that_does_not_match_itself_adds_nothing(self) -> None:
        """A pod whose own labels the selector does not match counts 0 where it goes."""
        new = pod("new", labels={"app": "other"}, topologySpreadConstraints=[constraint()])
        assert spread(new, A, B, peer("f", "a")) == {"a", "b"}

    def test_terminating_pods_count(self) -> None:
        """Pods that are being deleted count."""
        leaving = peer("f", "a", metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
        assert spread(incoming(constraint()), A, B, leaving) == {"b"}

    def test_soft_constraints_turn_nothing_down(self) -> None:
        """A constraint with ScheduleAnyway is the priority's business."""
        assert spread(incoming(constraint(when="ScheduleAnyway")), A, B, peer("f", "a")) == {"a", "b"}

    def test_an_absent_selector_counts_nothing(self) -> None:
        """Without labelSelector no pod counts, not even the new one."""
        bare = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        assert spread(incoming(bare), A, B, peer("f", "a"), peer("g", "a")) == {"a", "b"}


class TestDomains:
    def test_a_deleted_node_whose_pods_remain_still_makes_a_domain(self) -> None:
        """A node that is gone keeps its domain as long as its pods remain, empty ones included."""
        made = engine(A, B, peer("f", "a"), pod("other", on="b"), gates=GATES)
        made.begin(incoming(constraint()))
        EventFeed(made).delete(B)
        cycle = made.begin(incoming(constraint()))
        assert answers(even_pods_spread, cycle, Batch(cycle.table))["a"] == MISFIT


class TestMetadata:
    def test_without_metadata_it_is_an_error(self) -> None:
        """Without predicate metadata a pod with hard constraints is an error on every node."""
        cycle = engine(A, B, gates=GATES).begin(incoming(constraint()))
        cycle.has_metadata = False
        text = "metadata not pre-computed for EvenPodsSpreadPredicate"
        assert answers(even_pods_spread, cycle, Batch(cycle.table)) == {"a": text, "b": text}

    def test_an_invalid_selector_fails_the_metadata_where_it_meets_a_pod(self) -> None:
        """An invalid selector fails the metadata as soon as a node that makes a domain has a pod of the namespace."""
        new = incoming(constraint(selector=NEAR))
        for existing, fails in ((pod("p", on="a"), True), (pod("p", on="a", namespace="far"), False)):
            cycle = engine(A, existing, gates=GATES).begin(new)
            assert metadata_fails(cycle.template, cycle.table) is fails

    def test_an_invalid_selector_that_meets_no_pod_is_an_error(self) -> None:
        """With metadata, an invalid selector is an error on the nodes that get as far as that constraint."""
        new = incoming(constraint(), constraint("rack", selector=NEAR))
        found = ask(even_pods_spread, new, A, node("c"), gates=GATES)
        assert found == {"a": '"Near" is not a valid pod selector operator', "c": MISFIT}


class TestWhatIf:
    def test_an_edit_makes_a_domain_of_a_refused_node(self) -> None:
        """A pod taken off a node that the node selector refuses leaves its value with a count of -1, which is then the smallest."""
        c = node("c", labels={"zone": "z", "rack": "2"})
        new = incoming(constraint(), nodeSelector={"rack": "1"})
        cycle = engine(A, c, peer("f", "c"), gates=GATES).begin(new)
        trial = overlay(cycle, "c")
        trial.remove(trial.pods(0)[0], 0)
        assert answers(even_pods_spread, cycle, trial) == {"c": []}


# --- against a plain loop -------------------------------------------------------------------------------------------
