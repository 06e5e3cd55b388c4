"""MatchInterPodAffinity: by example, on trials, and without metadata."""

import pytest
import yaml

from kubeclassic.core.arrays.batch import Batch, Overlay
from kubeclassic.predicates.matchinterpodaffinity import match_inter_pod_affinity
from kubeclassic.predicates.rule import metadata_fails
from tests.support.affinitybuild import A, B, C, affinity, peer, term
from tests.support.build import answers, ask, engine, node, overlay, pod

FIRST = "node(s) didn't match pod affinity/anti-affinity"
MISFITS = {
    "existing": [FIRST, "node(s) didn't satisfy existing pods anti-affinity rules"],
    "affinity": [FIRST, "node(s) didn't match pod affinity rules"],
    "anti-affinity": [FIRST, "node(s) didn't match pod anti-affinity rules"],
    None: [],
}
INVALID = yaml.safe_load("{matchExpressions: [{key: app, operator: Near, values: [a]}]}")
BAD = {"labelSelector": INVALID, "topologyKey": "zone"}
NOT_VALID = '"Near" is not a valid pod selector operator'


def verdicts(new, *objects, **options):
    """Node -> existing, affinity, anti-affinity, None where it fits, or the text of an error."""
    return named(ask(match_inter_pod_affinity, new, *objects, **options))


def named(found):
    """Reasons by their short names."""
    short = {tuple(reasons): name for name, reasons in MISFITS.items()}
    return {
        name: reasons if isinstance(reasons, str) else short[tuple(reasons)]
        for name, reasons in found.items()
    }


def wants(*terms, app="a"):
    """The incoming pod with required affinity."""
    return pod("new", app=app, affinity=affinity(want=terms))


def refuses(*terms):
    """The incoming pod with required anti-affinity."""
    return pod("new", app="b", affinity=affinity(refuse=terms))


PLAIN = pod("new", app="a")


class TestTrials:
    """Pods that a trial adds and removes count as in upstream's updates of the metadata."""

    def trial(self, new, *objects):
        cycle = engine(*objects).begin(new)
        return cycle, overlay(cycle)

    def verdicts(self, cycle, trial):
        return named(answers(match_inter_pod_affinity, cycle, trial))

    def test_a_pod_that_is_put_back_counts_for_the_keys_of_all_terms(self):
        """At first a pod counts for the terms about it; put back, for all of them, so a reprieve can fail
        where the start would pass."""
        new = refuses(term("c", "zone"), term("a", "host"))
        lone = node("lone", labels={"zone": "z"})
        cycle, trial = self.trial(new, lone, peer(on="lone"))
        assert self.verdicts(cycle, trial) == {"lone": None}
        entry = trial.pods(0)[0]
        trial.remove(entry, 0)
        trial.add(entry, 0)
        assert self.verdicts(cycle, trial) == {"lone": "anti-affinity"}
        trial.remove(entry, 0)
        assert self.verdicts(cycle, trial) == {"lone": None}

    def test_a_nominated_pod_that_names_a_node_counts_for_the_pods_own_terms(self):
        """Upstream asks whether the spec of the added pod names a node, which that of a nominated pod may
        do."""
        cycle, trial = self.trial(wants(term(), app="b"), A, B)
        trial.add(cycle.templates.entry(peer("n", "a"), nominated=True), 0)
        assert self.verdicts(cycle, trial) == {"a": None, "b": "affinity"}
        cycle, trial = self.trial(refuses(term()), A, B)
        trial.add(cycle.templates.entry(peer("n", "a"), nominated=True), 0)
        assert self.verdicts(cycle, trial) == {"a": "anti-affinity", "b": None}

    def test_a_pod_called_like_the_incoming_one_is_not_followed(self):
        """The metadata refuses to add a pod to itself: 1.12 nominates a pod against itself, and its
        anti-affinity does not bite."""
        new = pod("new", app="a", affinity=affinity(refuse=[term()]))
        cycle = engine(A, release="1.12").begin(new)
        trial = Overlay.of(cycle.table, Batch(cycle.table).indexes, new)
        trial.add(cycle.templates.entry(new, nominated=True), 0)
        assert self.verdicts(cycle, trial) == {"a": None}


# --- Without metadata ---------------------------------------------------------------------------------------

# 1.12 and 1.13 keep nodes without an object in the snapshot, and then have no metadata.


LOST = peer("lost", on="gone")


def test_a_pod_on_an_unknown_node_takes_the_metadata_away():
    """Up to 1.13 any pod whose node was never seen does; later releases pass it over."""
    for release, fails in (("1.12", True), ("1.13", True), ("1.14", False), ("1.16", False)):
        assert metadata_fails(engine(A, LOST, release=release).begin(PLAIN)) is fails


def test_a_wanted_pod_on_a_lost_node_is_an_error():
    """The lookup of its node fails, on every node that is judged."""
    text = 'Cannot schedule pod default/new onto node {}, because of PodAffinity, err: node "gone" not found'
    assert verdicts(wants(term()), A, C, LOST, release="1.13") == {name: text.format(name) for name in "ac"}


# --- Invalid selectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, text",
    [
        ("1.14", "Failed to get all terms that pod default/new matches, err: {}"),
        ("1.16", "Failed to get all terms that match pod default/new: {}"),
    ],
)
def test_of_an_existing_pod(release, text):
    """An existing pod's invalid anti-affinity is an error for every pod."""
    carrier = peer(refuse=[BAD])
    assert verdicts(PLAIN, A, C, carrier, release=release) == {name: text.format(NOT_VALID) for name in "ac"}


@pytest.mark.parametrize(
    "release, text",
    [
        ("1.12", "Cannot schedule pod default/new onto node a, because of PodAffinity, err: {}"),
        ("1.15", "Cannot schedule pod default/new onto node a, because of PodAffinity: {}"),
    ],
)
def test_of_the_pods_affinity(release, text):
    """The pod's own invalid affinity is an error once there is a pod to match; before that the pod merely
    does not fit."""
    assert verdicts(wants(BAD), A, peer(), release=release) == {"a": text.format(NOT_VALID)}
    assert verdicts(wants(BAD), A, release=release) == {"a": "affinity"}


@pytest.mark.parametrize("release, named", [("1.14", False), ("1.15", True)])
def test_the_key_of_a_bad_value(release, named):
    """A bad value is reported with the key that it is for from 1.15 on."""
    carrier = peer(refuse=[{"labelSelector": {"matchLabels": {"app": "!"}}, "topologyKey": "zone"}])
    (text,) = verdicts(PLAIN, A, carrier, release=release).values()
    assert ('invalid label value: "!": at key: "app": a valid label' in text) is named


def test_of_the_pods_anti_affinity():
    """The pod's own invalid anti-affinity is a mismatch once there is a pod to match; before that it is
    not even read."""
    assert verdicts(refuses(BAD), A, peer()) == {"a": "anti-affinity"}
    assert verdicts(refuses(BAD), A) == {"a": None}


def test_an_empty_topology_key_without_metadata():
    """Without metadata an empty topology key of the affinity is an error, of the anti-affinity a
    mismatch."""
    lost = peer("z", on="gone", app="z")
    found = verdicts(wants(term(key="")), A, peer(), lost, release="1.13")["a"]
    assert found.endswith(
        "err: empty topologyKey is not allowed except for PreferredDuringScheduling pod anti-affinity"
    )
    assert verdicts(refuses(term(key="")), A, peer(), lost, release="1.13") == {"a": "anti-affinity"}
