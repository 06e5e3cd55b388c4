"""EvenPodsSpread: hard spread constraints."""

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.matching.spread import metadata_fails
from kubeclassic.predicates.evenpodsspread import even_pods_spread
from tests.support.build import answers, engine, node, overlay, pod
from tests.support.spreadbuild import NEAR, A, B, constraint, incoming, peer

GATES = {"EvenPodsSpread": True}


def test_without_metadata_it_is_an_error():
    """Without predicate metadata a pod with hard constraints is an error on every node."""
    cycle = engine(A, B, gates=GATES).begin(incoming(constraint()))
    cycle.has_metadata = False
    text = "metadata not pre-computed for EvenPodsSpreadPredicate"
    assert answers(even_pods_spread, cycle, Batch(cycle.table)) == {"a": text, "b": text}


def test_an_invalid_selector_fails_the_metadata_where_it_meets_a_pod():
    """An invalid selector fails the metadata as soon as a node that makes a domain has a pod of the
    namespace."""
    new = incoming(constraint(selector=NEAR))
    for existing, fails in ((pod("p", on="a"), True), (pod("p", on="a", namespace="far"), False)):
        cycle = engine(A, existing, gates=GATES).begin(new)
        assert metadata_fails(cycle.template, cycle.table) is fails


def test_an_edit_makes_a_domain_of_a_refused_node():
    """A pod taken off a node that the node selector refuses leaves its value with a count of -1, which is
    then the smallest."""
    c = node("c", labels={"zone": "z", "rack": "2"})
    new = incoming(constraint(), nodeSelector={"rack": "1"})
    cycle = engine(A, c, peer("f", "c"), gates=GATES).begin(new)
    trial = overlay(cycle, "c")
    trial.remove(trial.pods(0)[0], 0)
    assert answers(even_pods_spread, cycle, trial) == {"c": []}
