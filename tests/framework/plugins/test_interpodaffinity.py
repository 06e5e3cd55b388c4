"""InterPodAffinity: required and preferred terms, namespace selectors, trials, by example and against plain loops."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.overlay import Overlay
from kubeclassic.framework.config.args import InterPodAffinityArgs
from kubeclassic.framework.cycle.state import FrameworkCycle
from kubeclassic.framework.plugins.interpodaffinity import InterPodAffinity
from kubeclassic.framework.status import SKIP, Code, Status
from tests.support.affinitybuild import BARE, A, C, affinity, peer, term
from tests.support.affinitybuild import TERM as TERM_PARTS
from tests.support.asking import cycle_of, found_by, handle, refusals, scores
from tests.support.build import node, obj, overlay, pod

SHORT = {
    "node(s) didn't match pod affinity rules": "affinity",
    "node(s) didn't match pod anti-affinity rules": "anti-affinity",
    "node(s) didn't satisfy existing pods anti-affinity rules": "existing",
    None: None,
}
NEAR = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}
BAD = {"labelSelector": NEAR, "topologyKey": "zone"}
RED = {"matchLabels": {"team": "red"}}


def new(app: str = "a", namespace: str = "default", **terms: Any) -> Pod:
    """The incoming pod."""
    return pod("new", labels={"app": app}, namespace=namespace, affinity=affinity(**terms))


def namespace(name: str, **labels: str) -> Any:
    """A Namespace object."""
    return obj({"kind": "Namespace", "metadata": {"name": name, "labels": labels}})


def plugin(hard_weight: int = 1, ignore: bool = False) -> InterPodAffinity:
    return InterPodAffinity(InterPodAffinityArgs(hard_weight, ignore), handle())


def named(found: dict[str, str | None]) -> dict[str, str | None]:
    """Reasons by their short names."""
    return {name: SHORT[text] for name, text in found.items()}


def against(incoming: Pod, *objects: Any) -> dict[str, str | None]:
    """Node -> affinity, anti-affinity, existing or None."""
    return named(refusals(plugin(), incoming, *objects))


def before(incoming: Pod, *objects: Any) -> Status | None:
    """What PreFilter answers."""
    cycle = cycle_of(incoming, *objects)
    found = plugin().pre_filter(cycle.template, cycle)
    assert found is None or isinstance(found, Status)
    return found


class TestSkip:
    def test_a_pod_that_nobody_minds_is_skipped(self) -> None:
        """Without required terms and without anti-affinity about it there is nothing to filter."""
        assert before(new(like=[(1, term())]), A, peer(refuse=[term("b")])) is SKIP

    def test_refusal_somewhere_is_enough_to_be_asked(self) -> None:
        """One pod that refuses the incoming one keeps the filter on; on a node without the key it refuses nowhere."""
        assert before(new(), A, peer(refuse=[term()])) is None
        assert before(new(), A, BARE, peer(on="bare", refuse=[term()])) is SKIP

    def test_a_holder_that_has_left_refuses_nothing(self) -> None:
        """A pod that refused and is gone does not keep the filter on."""
        cycle = cycle_of(new(), A, peer(refuse=[term()]))
        cycle.table.remove_pod(0, cycle.table.pods[0][0])
        assert plugin().pre_filter(cycle.template, cycle) is SKIP


class TestOrder:
    def test_own_affinity_comes_first(self) -> None:
        """Missing company is named before refused company, and that before what pods that are there refuse."""
        there = [peer("f", "a", app="b", refuse=[term("a")]), peer("g", "c", app="w")]
        assert against(new(want=[term("w")], refuse=[term("b")]), A, C, *there) == {"a": "affinity", "c": None}
        assert against(new(refuse=[term("b")]), A, C, *there) == {"a": "anti-affinity", "c": None}
        assert against(new(), A, C, *there) == {"a": "existing", "c": None}

    def test_only_missing_company_is_beyond_help(self) -> None:
        """No removal of pods brings company; the other two may be lifted."""
        cycle = cycle_of(new(want=[term("w")]), A)
        failures = plugin().filter(cycle.template, Batch(cycle.table), cycle)
        assert failures is not None
        assert not failures.reasons(0)[0].resolvable
        cycle = cycle_of(new(refuse=[term()]), A, peer())
        failures = plugin().filter(cycle.template, Batch(cycle.table), cycle)
        assert failures is not None
        assert failures.reasons(0)[0].resolvable


class TestAffinity:
    def test_the_first_of_its_kind_needs_the_keys(self) -> None:
        """The first pod of a group may go to any node that has all topology keys, and to no other."""
        assert against(new(want=[term()]), A, C, BARE) == {"a": None, "c": None, "bare": "affinity"}

    def test_the_first_of_its_kind_must_want_itself(self) -> None:
        """A pod that wants others finds nowhere to go while there are none."""
        assert against(new(app="b", want=[term()]), A) == {"a": "affinity"}

    def test_a_peer_where_no_key_is_does_not_count(self) -> None:
        """A peer on a node without the key leaves the pod the first of its kind."""
        assert against(new(want=[term()]), A, BARE, peer(on="bare")) == {"a": None, "bare": "affinity"}

    def test_one_pod_must_be_meant_by_all_terms(self) -> None:
        """Company counts only if all terms are about it."""
        incoming = new(app="b", want=[term("a"), term(None, namespaces=["far"])])
        assert against(incoming, A, peer(), peer("g", namespace="far", app="z")) == {"a": "affinity"}
        assert against(new(app="b", want=[term("a"), term(None)]), A, peer()) == {"a": None}


class TestNamespaces:
    def test_a_selector_stands_for_the_namespaces_with_such_labels(self) -> None:
        """Pods of the selected namespaces are meant, those of the pod's own are not unless it is one of them."""
        incoming = new(app="b", want=[term(namespaceSelector=RED)])
        objects = (A, C, namespace("far", team="red"), namespace("default"))
        assert against(incoming, *objects, peer(namespace="far"), peer("g", "c")) == {"a": None, "c": "affinity"}

    def test_named_and_selected_namespaces_add_up(self) -> None:
        """``namespaces`` and ``namespaceSelector`` together mean either."""
        incoming = new(app="b", want=[term(namespaceSelector=RED, namespaces=["default"])])
        objects = (A, C, namespace("far", team="red"))
        assert against(incoming, *objects, peer(namespace="far"), peer("g", "c")) == {"a": None, "c": None}

    def test_an_empty_selector_means_every_namespace(self) -> None:
        """Also those without a Namespace object."""
        assert against(new(app="b", want=[term(namespaceSelector={})]), A, C, peer(namespace="nowhere")) == {"a": None, "c": "affinity"}

    def test_the_incoming_pods_selector_needs_the_object(self) -> None:
        """Without a Namespace object a namespace is not selected by what its labels lack."""
        without_team = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
        incoming = new(refuse=[term(namespaceSelector=without_team)])
        assert against(incoming, A, peer(namespace="far")) == {"a": None}
        assert against(incoming, A, peer(namespace="far"), namespace("far")) == {"a": "anti-affinity"}

    def test_existing_pods_ask_for_the_labels_of_the_pods_namespace(self) -> None:
        """A pod that is there refuses by the labels of the incoming pod's namespace; without an object those are none."""
        carrier = peer(refuse=[term(namespaceSelector=RED)])
        assert against(new(namespace="far"), A, carrier, namespace("far", team="red")) == {"a": "existing"}
        assert before(new(namespace="far"), A, carrier, namespace("far", team="blue")) is SKIP
        assert before(new(namespace="far"), A, carrier) is SKIP
        lacking = peer(refuse=[term(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]})])
        assert against(new(namespace="far"), A, lacking) == {"a": "existing"}

    def test_a_changed_namespace_is_seen(self) -> None:
        """What is kept of an answer is renewed when a Namespace changes: its version is among what owners read."""
        cycle = cycle_of(new(), A)
        version = cycle.listings.owner_tick.count
        cycle.listings.namespaces.put(namespace("far"))
        assert cycle.listings.owner_tick.count > version


class TestInvalidSelectors:
    def test_of_the_incoming_pod(self) -> None:
        """Any term of the pod that cannot be read, a preferred one too, turns it down as a whole."""
        text = '"Near" is not a valid label selector operator'
        assert before(new(want=[BAD]), A) == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (f"parsing pod: requiredAffinityTerms: {text}",))
        both = before(new(like=[(1, BAD)], dislike=[(1, term(namespaceSelector=NEAR))]), A)
        assert both is not None
        assert both.message == f"parsing pod: [preferredAffinityTerms: {text}, preferredAntiAffinityTerms: {text}]"

    def test_of_an_existing_pod(self) -> None:
        """A list of terms with one that cannot be read is dropped, the pod's other lists stand."""
        carrier = peer(refuse=[term(), BAD], like=[(5, term())])
        assert before(new(), A, carrier) is SKIP
        assert scores(plugin(), new(), A, C, carrier, raw=True) == {"a": 5, "c": 0}


class TestTrials:
    def trial(self, incoming: Pod, *objects: Any) -> tuple[FrameworkCycle, Overlay]:
        cycle = cycle_of(incoming, *objects)
        return cycle, overlay(cycle)

    def test_a_nominated_pod_is_seen_by_the_pods_own_terms(self) -> None:
        """A nominated pod is refused, or is company, like any other."""
        cycle, trial = self.trial(new(app="b", refuse=[term()]), A)
        trial.add(cycle.nominated_entry(peer("n", "")), 0)
        assert named(found_by(plugin(), cycle, trial)) == {"a": "anti-affinity"}
        cycle, trial = self.trial(new(app="b", want=[term()]), A)
        trial.add(cycle.nominated_entry(peer("n", "")), 0)
        assert named(found_by(plugin(), cycle, trial)) == {"a": None}

    def test_putting_back_undoes_taking_off(self) -> None:
        """A pod counts for the terms about it, at first and when it is put back."""
        incoming = new(app="b", refuse=[term("c", "zone"), term("a", "host")])
        lone = node("lone", labels={"zone": "z"})
        cycle, trial = self.trial(incoming, lone, peer(on="lone"))
        entry = trial.pods(0)[0]
        trial.remove(entry, 0)
        trial.add(entry, 0)
        assert named(found_by(plugin(), cycle, trial)) == {"lone": None}

    def test_without_its_only_company_the_pod_is_the_first(self) -> None:
        """Each node of the trial has its own what-if: only where the peer left is the pod the first of its kind."""
        cycle, trial = self.trial(new(want=[term()]), A, C, peer())
        trial.remove(trial.pods(0)[0], 0)
        assert named(found_by(plugin(), cycle, trial)) == {"a": None, "c": "affinity"}


class TestScores:
    def test_likes_and_dislikes_of_both_sides(self) -> None:
        """Own preferences, those of pods that are there, and the weight for each required affinity about the pod."""
        incoming = new(like=[(7, term("b"))], dislike=[(2, term("c"))])
        there = [
            peer("f", "a", "b"), peer("g", "c", "c"), peer("h", "a", "z", like=[(3, term())]),
            peer("i", "c", "z", dislike=[(4, term())]), peer("j", "c", "z", want=[term()]),
        ]  # fmt: skip
        assert scores(plugin(hard_weight=10), incoming, A, C, *there, raw=True) == {"a": 10, "c": 4}

    def test_the_scale_goes_from_the_least_to_the_most_liked(self) -> None:
        """Zero is nothing special: the least liked node gets 0 and the most liked 100, be all of them liked."""
        incoming = new(like=[(1, term("b"))])
        there = [peer("f", "a", "b"), peer("g", "c", "b"), peer("h", "c", "b")]
        assert scores(plugin(), incoming, A, C, *there) == {"a": 0, "c": 100}
        assert scores(plugin(), incoming, A, C, *there[:2]) == {"a": 0, "c": 0}

    def test_weight_zero_leaves_required_affinity_out(self) -> None:
        """hardPodAffinityWeight 0 switches that part off."""
        assert scores(plugin(hard_weight=0), new(), A, C, peer(want=[term()]), raw=True) == {"a": 0, "c": 0}

    def test_preferences_of_others_can_be_ignored(self) -> None:
        """With ignorePreferredTermsOfExistingPods a pod without preferences is not scored at all; one with any is scored as ever."""
        carrier = peer(want=[term()], like=[(3, term())])
        assert scores(plugin(ignore=True), new(), A, C, carrier, raw=True) == {"a": 0, "c": 0}
        assert scores(plugin(ignore=True), new(like=[(1, term("z"))]), A, C, carrier, raw=True) == {"a": 4, "c": 0}

    def test_namespaces_are_selected_for_preferences_too(self) -> None:
        """Own terms by the Namespace objects, those of others by the labels of the pod's namespace."""
        objects = (A, C, namespace("far", team="red"), namespace("default", team="red"))
        liking_red = new(like=[(5, term(namespaceSelector=RED))])
        assert scores(plugin(), liking_red, *objects, peer(namespace="far"), raw=True) == {"a": 5, "c": 0}
        carrier = peer(namespace="far", like=[(5, term(namespaceSelector=RED))])
        assert scores(plugin(), new(), *objects, carrier, raw=True) == {"a": 5, "c": 0}
        assert scores(plugin(), new(namespace="blue"), *objects, carrier, raw=True) == {"a": 0, "c": 0}

    def test_an_invalid_selector_is_an_error(self) -> None:
        """Where PreFilter did not look, PreScore cannot read the pod either."""
        cycle = cycle_of(new(like=[(1, BAD)]), A)
        status = plugin().pre_score(cycle.template, Batch(cycle.table), cycle)
        text = 'failed to parse pod: preferredAffinityTerms: "Near" is not a valid label selector operator'
        assert status == Status(Code.ERROR, (text,))


# --- against plain loops --------------------------------------------------------------------------------------------

BY_LABELS = st.sampled_from([None, None, {}, RED, {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]}])
TERM = st.fixed_dictionaries(TERM_PARTS | {"namespaceSelector": BY_LABELS})
