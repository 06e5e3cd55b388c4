"""The nodes that can serve a pod's claims, and the volumes they use."""

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.arrays.batch import Batch
from tests.reference import volumebinding as naive
from tests.support.build import engine
from tests.support.examples import examples
from tests.support.volumebuild import (
    BOUND,
    SELECTED,
    WAIT,
    batch,
    binder,
    claim,
    node,
    on,
    storage_class,
    using,
    volume,
)

# --- Matching -----------------------------------------------------------------------------------------------


WAITING = storage_class("wait", **WAIT)


def chosen(*objects):
    """The volumes that the claims get on a node labelled zone=a, or the error."""
    finding = binder(WAITING, *objects).find(["default/c"], batch(node("n1", zone="a")))
    if finding.errors[0]:
        return finding.texts[finding.errors[0] - 1]
    return [f"{bound.name} for {wanted.name}" for bound, wanted in finding.decision(0).bindings]


def test_a_bad_selector_is_an_error():
    """An invalid selector of a claim is an error."""
    bad = claim("c", selector=yaml.safe_load("{matchExpressions: [{key: a, operator: Like}]}"))
    answer = chosen(bad)
    assert answer.startswith(
        'error creating internal label selector for claim: default/c: "Like" is not a valid'
    )


@pytest.mark.parametrize("release, named", [("1.14", False), ("1.15", True)])
def test_the_key_of_a_bad_value(release, named):
    """A bad value is reported with the key that it is for from 1.15 on."""
    bad = claim("c", selector={"matchLabels": {"a": "!"}})
    cycle = engine(WAITING, bad, node("n1"), release=release).begin(using("p", "c"))
    (text,) = cycle.binder.find(["default/c"], Batch(cycle.table)).texts
    assert ('"!": at key: "a": ' in text) is named


# --- against plain loops ------------------------------------------------------------------------------------

NODES = [
    node("n1", zone="a", host="n1"),
    node("n2", zone="a", host="n2"),
    node("n3", zone="b", host="n3"),
    node("n4"),
]
MODES = st.sampled_from([None, "Filesystem", "Block"])
REFERENCES = st.sampled_from(
    [
        None,
        None,
        {"namespace": "default", "name": "c0"},
        {"namespace": "default", "name": "c1", "uid": "default/c1"},
        {"name": "x"},
    ]
)
AFFINITIES = st.sampled_from([{}, {}, on(zone="a"), on(zone="b"), on(host="n2"), on(host="n3", zone="a")])
BETAS = st.sampled_from([{}, {}, {}, {"volume.beta.kubernetes.io/storage-class": "make"}])


@st.composite
def volumes(draw):
    return [
        volume(
            f"v{i}",
            draw(st.sampled_from(["wait", "make"])),
            draw(st.sampled_from(["1Gi", "2Gi", "3Gi"])),
            phase=draw(st.sampled_from(["Available", "Available", "Bound"])),
            meta={"annotations": draw(BETAS)},
            claimRef=draw(REFERENCES),
            volumeMode=draw(MODES),
            **draw(AFFINITIES),
        )
        for i in range(draw(st.integers(0, 5)))
    ]


@st.composite
def claims(draw):
    annotations = st.sampled_from([{}, {}, {}, {SELECTED: "n2"}, BOUND])
    return [
        claim(
            f"c{i}",
            draw(st.sampled_from(["wait", "make"])),
            draw(st.sampled_from(["1Gi", "2Gi"])),
            annotations={**(notes := draw(annotations)), **draw(BETAS)},
            volumeMode=draw(MODES),
            volumeName=draw(st.sampled_from(["v0", "v1", "gone"])) if notes is BOUND else "",
        )
        for i in range(4)
    ]


NOT_IN_A = yaml.safe_load("""
required:
  nodeSelectorTerms:
  - matchExpressions:
    - key: zone
      operator: NotIn
      values: [a]
""")


@example(
    release="1.12",
    block=True,
    wanted=[0],
    claims=[claim("c0", volumeMode="Block")],
    volumes=[
        volume(
            "v0", claimRef={"namespace": "default", "name": "c0"}, volumeMode="Block", nodeAffinity=NOT_IN_A
        ),
        volume("v1"),
    ],
)
@example(
    release="1.13", block=False, wanted=[0], claims=[claim("c0", annotations={SELECTED: "n2"})], volumes=[]
)
@given(
    release=st.sampled_from(list(RELEASES)),
    block=st.booleans(),
    volumes=volumes(),
    claims=claims(),
    wanted=st.lists(st.integers(0, 3), min_size=1, max_size=4),
)
@examples(3)
def test_every_node_gets_what_a_plain_search_finds(release, block, volumes, claims, wanted):
    """The arrays answer as one node, one claim and one volume at a time would."""
    topologies = yaml.safe_load("[{matchLabelExpressions: [{key: zone, values: [a]}]}]")
    classes = [
        storage_class("wait", **WAIT),
        storage_class("make", provisioner="p", allowedTopologies=topologies, **WAIT),
    ]
    found = binder(*volumes, *claims, *classes, release=release, BlockVolume=block)
    keys = [f"default/c{i}" for i in wanted]
    finding = found.find(keys, batch(*NODES))
    cells = RELEASES[release].volumes
    rules = naive.Rules(
        cells.selected_node_is_immediate,
        cells.checks_phase,
        cells.volume_mode,
        cells.matches_by_beta_class,
        block,
    )
    known = {v.name: v for v in volumes}
    for i, item in enumerate(NODES):
        answer = naive.find(
            keys, {c.key: c for c in claims}, known, {c.name: c for c in classes}, item, rules
        )
        if finding.errors[i]:
            assert answer.error == finding.texts[finding.errors[i] - 1]
            continue
        decision = finding.decision(i)
        assert answer == naive.Answer(
            bool(finding.unbound[i]),
            bool(finding.bound[i]),
            None,
            tuple((v.name, c.key) for v, c in decision.bindings),
            tuple(c.key for c in decision.provisionings),
        )
    assert np.array_equal(found.find(keys, batch(*NODES[2:])).unbound, finding.unbound[2:])
