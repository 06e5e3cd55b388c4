"""NodeAffinityPriority: weights of the preferred terms that match."""

import json

import numpy as np
import pytest
import yaml

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.cycle import PriorityError
from kubeclassic.priorities.imagelocality import MIB, image_locality, normalized_image_name
from kubeclassic.priorities.nodeaffinity import node_affinity
from kubeclassic.priorities.nodepreferavoidpods import avoided_controllers
from kubeclassic.priorities.tainttoleration import taint_toleration
from tests.support.build import engine, node, pod, scored
from tests.support.refusals import refusal_text

NODES = node("none"), node("one", labels={"a": "1"}), node("two", labels={"a": "2", "b": ""})


def expression(key, operator, *values):
    """One of matchExpressions."""
    return {"key": key, "operator": operator, "values": list(values)}


def term(weight, *expressions, **more):
    """A preferred term."""
    return {"weight": weight, "preference": {"matchExpressions": list(expressions), **more}}


def preferring(*terms):
    """A pod with these preferences."""
    return pod(
        "p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": list(terms)}}
    )


def raw(*terms):
    """The sums of weights on the three nodes."""
    return [*scored(node_affinity, preferring(*terms), *NODES, reduced=False).values()]


# --- Node affinity ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad, text",
    [
        (expression("a", "Is", "1"), '"Is" is not a valid node selector operator'),
        (expression("a", "Exists", "1"), "values set must be empty for exists and does not exist"),
    ],
)
def test_an_invalid_expression_is_an_error(bad, text):
    """The priority fails with upstream's text, though other terms are valid."""
    assert refusal_text(PriorityError, raw, term(1, expression("a", "Exists")), term(1, bad)) == text


@pytest.mark.parametrize("release, named", [("1.12", False), ("1.14", False), ("1.15", True), ("1.16", True)])
def test_from_1_15_on_the_text_names_the_key(release, named):
    """A bad value is reported with the key that it is for."""
    text = refusal_text(
        PriorityError,
        scored,
        node_affinity,
        preferring(term(1, expression("a", "In", "!"))),
        *NODES,
        release=release,
    )
    assert text.startswith('invalid label value: "!": ' + ('at key: "a": ' if named else "a valid label"))


def test_the_sum_has_32_bits():
    """Two weights of 2^30 and one more wrap to the other end."""
    assert raw(*[term(2**30, expression("a", "Exists"))] * 2) == [0, -(2**31), -(2**31)]


def test_pods_that_prefer_the_same_share_scores():
    """The key sees weights and expressions, not fields or labels."""
    begin = engine(node("n")).begin
    preferences = [
        term(1, expression("a", "Exists"), matchFields=[expression("metadata.name", "In", name)])
        for name in "xy"
    ]
    keys = {node_affinity.key(begin(preferring(each)).template) for each in preferences}
    assert len(keys) == 1
    assert node_affinity.key(begin(preferring(term(2, expression("a", "Exists")))).template) not in keys


# --- TaintTolerationPriority: the fewer taints to put up with the better ------------------------------------


def test_the_key_leaves_out_other_effects():
    """Pods that differ in tolerations for NoSchedule share scores."""
    begin = engine(node("n")).begin
    lists = yaml.safe_load("[[], [{key: x, effect: NoSchedule}], [{key: x}]]")
    keys = [taint_toleration.key(begin(pod("p", tolerations=each)).template) for each in lists]
    assert keys[0] == keys[1] != keys[2]


# --- NodePreferAvoidPodsPriority: nodes that want to be left alone by a controller's pods -------------------


def entry(**more):
    """One entry of the annotation."""
    return {
        "podSignature": {"podController": {"kind": "ReplicaSet", "uid": "u", **more.pop("owner", {})}},
        **more,
    }


def annotation(*entries):
    """The whole annotation."""
    return json.dumps({"preferAvoidPods": list(entries)})


def owner(kind="ReplicaSet", uid="u", controller=True):
    """An owner reference."""
    return {"kind": kind, "uid": uid, "name": "x", "controller": controller}


# --- The annotation -----------------------------------------------------------------------------------------


def test_keys_are_read_regardless_of_case():
    """Keys are read regardless of case, as by Go's decoder, the long s and the Kelvin sign included."""
    text = '{"PREFERAVOIDPODS": [{"pod\u017fignature": {"podcontroller": {"\u212aind": "ReplicaSet", "UID": "u"}}}]}'
    assert avoided_controllers(text) == {("ReplicaSet", "u")}


@pytest.mark.parametrize(
    "broken",
    [
        entry(owner={"name": 5}),
        entry(owner={"controller": "true"}),
        entry(owner={"uid": 1}),
        entry(reason=[]),
        "text",
        entry(evictionTime="yesterday"),
        entry(evictionTime="2020-02-30T00:00:00Z"),
        entry(evictionTime=1),
        {"podSignature": []},
    ],
)
def test_one_field_of_a_wrong_type_spoils_all(broken):
    """Then the entries that are right do not count either."""
    assert avoided_controllers(annotation(entry())) == {("ReplicaSet", "u")}
    assert avoided_controllers(annotation(entry(), broken)) == frozenset()


def test_what_is_not_known_may_be_anything():
    """Unknown fields, nulls, and numbers of any length there do not matter."""
    more = entry(
        evictionTime="2020-02-29T00:00:00.5+01:00",
        reason=None,
        message="m",
        other={"x": [1]},
        owner={"size": 10**5000 > 0},
    )
    text = annotation(more)[:-1] + ', "x": ' + "9" * 5000 + "}"
    assert avoided_controllers(text) == {("ReplicaSet", "u")}


def test_an_entry_without_controller_names_nobody():
    """The original stops altogether there; here the entry is ignored."""
    assert avoided_controllers(annotation({}, None, {"podSignature": None}, entry())) == {("ReplicaSet", "u")}


# --- ImageLocalityPriority: nodes that need not pull --------------------------------------------------------


def image(size, *names):
    """An image on a node, *size* in MiB."""
    return {"names": list(names), "sizeBytes": size * MIB}


def of(*images):
    """A pod of these images."""
    return pod("p", containers=[{"name": f"c{i}", "image": name} for i, name in enumerate(images)])


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("nginx", "nginx:latest"),
        ("nginx:1", "nginx:1"),
        ("reg:5000/nginx", "reg:5000/nginx:latest"),
        ("reg:5000/nginx:1", "reg:5000/nginx:1"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
        ("", ":latest"),
    ],
)
def test_a_name_without_tag_means_latest(name, wanted):
    """A colon counts as a tag's only behind the last slash."""
    assert normalized_image_name(name) == wanted


def test_rows_whose_node_is_gone_count_in_the_total():
    """A pod on a node that was never seen makes one row more in 1.13; later releases do not take it over."""
    objects = node("n", images=[image(900, "a:1")]), pod("old", on="nowhere")
    assert scored(image_locality, of("a:1"), *objects, release="1.13") == {"n": 4}
    assert scored(image_locality, of("a:1"), *objects, release="1.14") == {"n": 8}


def test_some_rows_are_scored_as_all_are():
    """A batch of few rows, in any order, has the scores of the whole table."""
    nodes = [node(f"n{i}", images=[image(200 * i, "a:1")] if i % 2 else []) for i in range(8)]
    cycle = engine(*nodes).begin(of("a:1"))
    whole = image_locality.score(cycle.template, Batch(cycle.table), cycle)
    for rows in ([], [7], [5, 0, 3], [7, 6, 5, 4, 3, 2, 1, 0]):
        part = image_locality.score(cycle.template, Batch(cycle.table, np.array(rows, np.intp)), cycle)
        assert part.tolist() == whole[rows].tolist()
