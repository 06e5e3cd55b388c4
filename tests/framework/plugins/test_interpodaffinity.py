"""InterPodAffinity: required and preferred terms, namespace selectors, trials, by example."""

import yaml

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.config.args import InterPodAffinityArgs
from kubeclassic.framework.plugin import SKIP, Code, Status
from kubeclassic.framework.plugins.interpodaffinity import InterPodAffinity
from tests.support.affinitybuild import A, C, affinity, peer, term
from tests.support.asking import cycle_of, found_by, handle, scores
from tests.support.build import manifest, node, obj, overlay, pod

SHORT = {
    "node(s) didn't match pod affinity rules": "affinity",
    "node(s) didn't match pod anti-affinity rules": "anti-affinity",
    "node(s) didn't satisfy existing pods anti-affinity rules": "existing",
    None: None,
}
NEAR = yaml.safe_load("{matchExpressions: [{key: app, operator: Near, values: [a]}]}")
BAD = {"labelSelector": NEAR, "topologyKey": "zone"}


def new(app="a", **terms):
    """The incoming pod."""
    return pod("new", app=app, namespace="default", affinity=affinity(**terms))


def namespace(name):
    """A Namespace object."""
    return obj(manifest("Namespace", name))


def plugin(ignore=False):
    return InterPodAffinity(InterPodAffinityArgs(1, ignore), handle())


def named(found):
    """Reasons by their short names."""
    return {name: SHORT[text] for name, text in found.items()}


def before(incoming, *objects):
    """The answer of PreFilter."""
    cycle = cycle_of(incoming, *objects)
    found = plugin().pre_filter(cycle.template, cycle)
    assert found is None or isinstance(found, Status)
    return found


def test_a_holder_that_has_left_refuses_nothing():
    """A pod that refused and is gone does not keep the filter on."""
    cycle = cycle_of(new(), A, peer(refuse=[term()]))
    cycle.table.remove_pod(0, cycle.table.pods[0][0])
    assert plugin().pre_filter(cycle.template, cycle) is SKIP


def test_a_changed_namespace_is_seen():
    """A cached answer is renewed when a Namespace changes, as its version is among those that owners read."""
    cycle = cycle_of(new(), A)
    version = cycle.listings.owner_tick.count
    cycle.listings.namespaces.put(namespace("far"))
    assert cycle.listings.owner_tick.count > version


def test_of_the_incoming_pod():
    """Any term of the pod that cannot be read, a preferred one too, turns it down as a whole."""
    text = '"Near" is not a valid label selector operator'
    assert before(new(want=[BAD]), A) == Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (f"parsing pod: requiredAffinityTerms: {text}",)
    )
    both = before(new(like=[(1, BAD)], dislike=[(1, term(namespaceSelector=NEAR))]), A)
    assert (
        both.message == f"parsing pod: [preferredAffinityTerms: {text}, preferredAntiAffinityTerms: {text}]"
    )


def test_of_an_existing_pod():
    """A list of terms with one that cannot be read is dropped, the pod's other lists stand."""
    carrier = peer(refuse=[term(), BAD], like=[(5, term())])
    assert before(new(), A, carrier) is SKIP
    assert scores(plugin(), new(), A, C, carrier, raw=True) == {"a": 5, "c": 0}


class TestTrials:
    def trial(self, incoming, *objects):
        cycle = cycle_of(incoming, *objects)
        return cycle, overlay(cycle)

    def test_a_nominated_pod_is_seen_by_the_pods_own_terms(self):
        """A nominated pod is refused, or is company, like any other."""
        cycle, trial = self.trial(new(app="b", refuse=[term()]), A)
        trial.add(cycle.templates.entry(peer("n", ""), nominated=True), 0)
        assert named(found_by(plugin(), cycle, trial)) == {"a": "anti-affinity"}
        cycle, trial = self.trial(new(app="b", want=[term()]), A)
        trial.add(cycle.templates.entry(peer("n", ""), nominated=True), 0)
        assert named(found_by(plugin(), cycle, trial)) == {"a": None}

    def test_putting_back_undoes_taking_off(self):
        """A pod counts for the terms about it, at first and when it is put back."""
        incoming = new(app="b", refuse=[term("c", "zone"), term("a", "host")])
        lone = node("lone", labels={"zone": "z"})
        cycle, trial = self.trial(incoming, lone, peer(on="lone"))
        entry = trial.pods(0)[0]
        trial.remove(entry, 0)
        trial.add(entry, 0)
        assert named(found_by(plugin(), cycle, trial)) == {"lone": None}

    def test_without_its_only_company_the_pod_is_the_first(self):
        """Each node of the trial has its own what-if: only where the peer left is the pod the first of its
        kind."""
        cycle, trial = self.trial(new(want=[term()]), A, C, peer())
        trial.remove(trial.pods(0)[0], 0)
        assert named(found_by(plugin(), cycle, trial)) == {"a": None, "c": "affinity"}


# --- Scores -------------------------------------------------------------------------------------------------


def test_the_scale_goes_from_the_least_to_the_most_liked():
    """Zero is nothing special: the least liked node gets 0 and the most liked 100, be all of them liked."""
    incoming = new(like=[(1, term("b"))])
    there = [peer("f", "a", "b"), peer("g", "c", "b"), peer("h", "c", "b")]
    assert scores(plugin(), incoming, A, C, *there) == {"a": 0, "c": 100}
    assert scores(plugin(), incoming, A, C, *there[:2]) == {"a": 0, "c": 0}


def test_preferences_of_others_can_be_ignored():
    """With ignorePreferredTermsOfExistingPods a pod without preferences is not scored at all; one with
    any is scored as ever."""
    carrier = peer(want=[term()], like=[(3, term())])
    assert scores(plugin(ignore=True), new(), A, C, carrier, raw=True) == {"a": 0, "c": 0}
    assert scores(plugin(ignore=True), new(like=[(1, term("z"))]), A, C, carrier, raw=True) == {
        "a": 4,
        "c": 0,
    }


def test_an_invalid_selector_is_an_error():
    """Where PreFilter did not look, PreScore cannot read the pod either."""
    cycle = cycle_of(new(like=[(1, BAD)]), A)
    status = plugin().pre_score(cycle.template, Batch(cycle.table), cycle)
    text = 'failed to parse pod: preferredAffinityTerms: "Near" is not a valid label selector operator'
    assert status == Status(Code.ERROR, (text,))
