"""Messages of releases about unreadable selectors, and decisions with gates off their defaults."""

import pytest
import yaml

from kubeclassic.core.run import EventFeed
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.affinitybuild import affinity
from tests.support.build import node, pod
from tests.support.frameworkbuild import disabled, document
from tests.support.releasewalk import answer
from tests.support.volumebuild import EPHEMERAL, WAIT, bound, claim, storage_class, using, volume

TWO = [node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"})]
WEB = {"app": "web"}


@pytest.mark.parametrize(
    "release, begins", [("1.20", ""), ("1.21", "[0].matchExpressions[0].values: Invalid value: []string{}: ")]
)
def test_a_selector_that_cannot_be_read(release, begins):
    """The fault of a selector names the field from 1.21 on."""
    term = yaml.safe_load("""
    weight: 1
    preference:
      matchExpressions:
      - key: a
        operator: In
        values: []
    """)
    pending = pod(
        "new", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    )
    assert answer(release, TWO, [pending])["error"].endswith(
        f": {begins}for 'in', 'notin' operators, values set can't be empty"
    )


@pytest.mark.parametrize(
    "release, asked, text",
    [
        ("1.20", 'key: a, operator: In, values: ["!"]', 'invalid label value: "!": at key: "a": a valid'),
        ("1.21", 'key: a, operator: In, values: ["!"]', 'values[0][a]: Invalid value: "!": a valid label'),
        ("1.25", "key: a, operator: Like", '"Like" is not a valid pod selector operator'),
        ("1.26", "key: a, operator: Like", '"Like" is not a valid label selector operator'),
        ("1.19", "key: A/b, operator: Exists", 'label key "A/b": prefix part a DNS-1123 subdomain must'),
        ("1.20", "key: A/b, operator: Exists", 'label key "A/b": prefix part a lowercase RFC 1123 subd'),
        ("1.34", "key: a/b/c, operator: Exists", 'key: Invalid value: "a/b/c": a qualified name must'),
        ("1.35", "key: a/b/c, operator: Exists", 'key: Invalid value: "a/b/c": a valid label key must'),
        ("1.34", f"key: {'a' * 64}, operator: Exists", "name part must be no more than 63 characters"),
        ("1.35", f"key: {'a' * 64}, operator: Exists", "name part must be no more than 63 bytes"),
    ],
)
def test_a_claims_selector_that_cannot_be_read(release, asked, text):
    """The fault of a claim's selector has the words of the release."""
    wanted = claim("c", selector=yaml.safe_load(f"matchExpressions: [{{{asked}}}]"))
    said = answer(release, [node("n"), storage_class("wait", **WAIT), wanted], [using("p", "c")])["error"]
    assert "error creating internal label selector for claim: default/c: " in said
    assert text in said


LIKE = {
    "topologyKey": "zone",
    "labelSelector": yaml.safe_load("matchExpressions: [{key: a, operator: Like}]"),
}
BAD = '"Like" is not a valid pod selector operator'


@pytest.mark.parametrize(
    "terms, text",
    [
        (
            {"want": [LIKE]},
            f'"InterPodAffinity" prefilter plugin for pod "new": calculating preFilterState: {BAD}',
        ),
        (
            {"refuse": [LIKE]},
            f'"InterPodAffinity" prefilter plugin for pod "new": calculating preFilterState: {BAD}',
        ),
        ({"like": [(1, LIKE)]}, 'score plugin for pod "new": Error reading "PreScoreInterPodAffinity"'),
    ],
)
def test_terms_that_cannot_be_read(terms, text):
    """In 1.18 an invalid selector among the pod's affinity terms is an error of its cycle; in 1.19 there is no
    such term."""
    pending = pod("new", affinity=affinity(**terms))
    assert text in answer("1.18", TWO, [pending])["error"]
    assert answer("1.19", TWO, [pending])["host"] == "a"


@pytest.mark.parametrize(
    "terms, text",
    [
        ({"refuse": [LIKE]}, f'prefilter plugin for pod "new": calculating preFilterState: {BAD}'),
        ({"want": [LIKE]}, f'prescore plugin for pod "new": {BAD}'),
        ({"dislike": [(1, LIKE)]}, f'prescore plugin for pod "new": {BAD}'),
        ({"like": [(1, LIKE)]}, None),
    ],
)
def test_terms_of_others_that_cannot_be_read(terms, text):
    """In 1.18 that of a pod that is there is an error for all pods, but for what it prefers."""
    there = pod("there", on="a", affinity=affinity(**terms))
    found = [answer("1.18", objects, [pod("one"), pod("new")])["error"] for objects in (TWO, [*TWO, there])]
    assert found == [None, None if text is None else f'error while running "InterPodAffinity" {text}']


@pytest.mark.parametrize("terms", [{"want": [LIKE]}, {"like": [(1, LIKE)]}, {"dislike": [(1, LIKE)]}])
def test_terms_that_end_the_counting(terms):
    """In 1.17 an invalid selector of a pod that is there leaves all nodes without points for company."""
    liked = {"topologyKey": "zone", "labelSelector": {"matchLabels": WEB}}
    pending = pod("new", affinity=affinity(like=[(1, liked)]))
    there = [pod("web", on="b", labels=WEB), pod("there", on="a", affinity=affinity(**terms))]
    points = [
        answer("1.17", [*TWO, *pods], [pending])["priorities"]["InterPodAffinity"]
        for pods in (there[:1], there)
    ]
    assert points == [{"a": 0, "b": 100}, {"a": 0, "b": 0}]


@pytest.mark.parametrize("release, fails", [("1.18", True), ("1.19", False)])
def test_pre_score_without_scores(release, fails):
    """PreScore runs in 1.18 though no plugin scores, so that its errors show."""
    constraint = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    pending = pod("new", topologySpreadConstraints=[{**constraint, "labelSelector": LIKE["labelSelector"]}])
    alone = {"profiles": [{"plugins": {"score": disabled("*")}}]}
    assert (BAD in (answer(release, TWO, [pending], profile=alone)["error"] or "")) is fails


def test_a_namespace_selector_before_its_time():
    """1.20 does not read namespace selectors, so an invalid one is not named."""
    first = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "!"}}}
    pending = pod("new", affinity=affinity(want=[first, LIKE]))
    assert answer("1.20", TWO, [pending])["error"].endswith(f" 2 parsing pod: requiredAffinityTerms: {BAD}.")


def test_the_last_of_terms_that_cannot_be_read():
    """1.20 names the last kind of terms with an invalid selector, later releases all of them."""
    pending = pod("new", affinity=affinity(want=[LIKE], refuse=[LIKE]))
    by_kind = [f"required{kind}Terms: {BAD}" for kind in ("Affinity", "AntiAffinity")]
    told = {"1.20": by_kind[1], "1.21": f"[{', '.join(by_kind)}]"}
    for release, text in told.items():
        assert answer(release, TWO, [pending])["error"].endswith(f" 2 parsing pod: {text}.")


@pytest.mark.parametrize("release, full", [("1.26", ["a"]), ("1.27", [])])
def test_label_keys_alone(release, full):
    """matchLabelKeys select without a selector until 1.26."""
    constraint = yaml.safe_load("""
    topologyKey: zone
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    matchLabelKeys: [app]
    """)
    pending = pod("new", labels=WEB, topologySpreadConstraints=[constraint])
    found = answer(
        release,
        [*TWO, pod("p", on="a", labels=WEB)],
        [pending],
        gates={"MatchLabelKeysInPodTopologySpread": True},
    )
    assert sorted(found["failed"]) == full


@pytest.mark.parametrize("release, full", [("1.23", ["a"]), ("1.24", [])])
def test_constraints_of_one_key(release, full):
    """Two constraints of one key both count a node's pods until 1.23; from 1.24 on the later one does."""
    constraint = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    both = [{**constraint, "labelSelector": {"matchLabels": {"app": app}}} for app in ("web", "none")]
    found = answer(
        release,
        [*TWO, pod("p", on="a", labels=WEB)],
        [pod("new", labels=WEB, topologySpreadConstraints=both)],
    )
    assert sorted(found["failed"]) == full


@pytest.mark.parametrize("release", ["1.21", "1.22"])
def test_ephemeral_volumes_without_the_gate(release):
    """In 1.21 and 1.22 an ephemeral volume beside a claim is an error while the gate is off, and alone it is
    ignored."""
    off = {"GenericEphemeralVolume": False}
    found = answer(
        release, [node("n"), volume("v"), bound("c", "v")], [using("p", EPHEMERAL, "c")], gates=off
    )
    text = "volume v0 is a generic ephemeral volume, but that feature is disabled in kube-scheduler"
    assert found["error"] == f'running PreFilter plugin "VolumeBinding": {text}'
    assert answer(release, [node("n")], [using("p", EPHEMERAL)], gates=off)["host"] == "n"


@pytest.mark.parametrize(
    "release, version, filters, scores",
    [
        ("1.18", "v1alpha2", "error reading", "Error reading"),
        ("1.19", "v1beta1", "error reading", "Error reading"),
        ("1.20", "v1beta1", "reading", "failed to read"),
    ],
)
def test_what_was_not_prepared(release, version, filters, scores):
    """A plugin fails for lack of the state of its PreFilter or PreScore, which is disabled."""
    for point, plugin, text in (
        ("preFilter", "NodePorts", f'{filters} "PreFilterNodePorts"'),
        ("preFilter", "PodTopologySpread", f'{filters} "PreFilterPodTopologySpread"'),
        ("preScore", "TaintToleration", f'{scores} "PreScoreTaintToleration"'),
        ("preScore", "PodTopologySpread", 'error reading "PreScorePodTopologySpread"'),
    ):
        given = document({"plugins": {point: disabled(plugin)}}, version=version)
        engine = framework_engine(read_configuration(given, release=FRAMEWORK_RELEASES[release]))
        EventFeed(engine).put_all(TWO)
        error = engine.schedule(pod("new")).error
        assert error.endswith(f": {text} from cycleState: not found")
