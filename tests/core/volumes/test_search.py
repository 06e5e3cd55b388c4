"""Which nodes can serve a pod's claims, and with which volumes."""

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider.releases import RELEASES
from tests.reference import volumebinding as naive
from tests.support.examples import examples
from tests.support.volumebuild import (
    BOUND,
    SELECTED,
    WAIT,
    batch,
    binder,
    claim,
    flags,
    node,
    on,
    storage_class,
    volume,
)


def test_fields_of_a_node_are_empty_for_volumes():
    """A matchFields on metadata.name in a volume's affinity never finds the node."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    fields = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    assert flags(
        binder(claim("c", annotations=BOUND, volumeName="v"), volume("v", **fields)), batch(node("n1")), "c"
    ) == [(True, False)]


class TestClaimsThatCannotWait:
    @pytest.mark.parametrize(
        "given",
        [claim("c", "now"), claim("c", None), claim("c", "nowhere"), claim("c", "wait", volumeName="v")],
        ids=["immediate class", "no class", "missing class", "volume named but not bound"],
    )
    def test_an_unbound_claim_that_does_not_wait_is_an_error(self, given):
        """Only claims of a class that waits for its first consumer may be unbound."""
        found = binder(
            given, storage_class("now", volumeBindingMode="Immediate"), storage_class("wait", **WAIT)
        )
        assert flags(found, batch(node("n1")), "c") == ["pod has unbound immediate PersistentVolumeClaims"]

    def test_a_class_without_binding_mode_is_an_error(self):
        """A class whose volumeBindingMode was never defaulted cannot be asked."""
        found = binder(claim("c"), storage_class("wait"))
        assert flags(found, batch(node("n1")), "c") == ['VolumeBindingMode not set for StorageClass "wait"']

    @pytest.mark.parametrize("release, name", [("1.12", "c"), ("1.13", "default/c"), ("1.16", "default/c")])
    def test_a_missing_claim_is_named_as_the_release_does(self, release, name):
        """1.12 names the claim without its namespace."""
        cause = 'could not find v1.PersistentVolumeClaim "default/c"'
        assert flags(binder(release=release), batch(node("n1")), "c") == [
            f'error getting PVC "{name}": {cause}'
        ]


class TestMatching:
    WAITING = storage_class("wait", **WAIT)

    def chosen(self, *objects, claims=("c",), release="1.16", **gates):
        """The volumes that the claims get on a node labelled zone=a, or the error."""
        finding = binder(self.WAITING, *objects, release=release, **gates).find(
            [f"default/{c}" for c in claims], batch(node("n1", zone="a"))
        )
        if finding.errors[0]:
            return finding.texts[finding.errors[0] - 1]
        return [f"{bound.name} for {wanted.name}" for bound, wanted in finding.decision(0).bindings]

    def test_a_bad_selector_is_an_error(self):
        """An invalid selector of a claim is an error."""
        bad = claim("c", selector={"matchExpressions": [{"key": "a", "operator": "Like"}]})
        answer = self.chosen(bad)
        assert isinstance(answer, str)
        assert answer.startswith(
            'error creating internal label selector for claim: default/c: "Like" is not a valid'
        )


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
    topologies = [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]
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
