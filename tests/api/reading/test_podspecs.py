"""Pods of one owner share one spec, though their texts differ in node and token; nothing else is taken for
these."""

import io

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.load import load
from kubeclassic.api.objects import Pod
from kubeclassic.api.reading import documents as files
from kubeclassic.api.reading.decode import decode, pod_of_texts
from kubeclassic.api.reading.formats.jsonvalues import long_list
from kubeclassic.api.reading.typed import read
from kubeclassic.exceptions import ManifestError
from tests.support.drawn import documents
from tests.support.examples import examples
from tests.support.manifests import dumped
from tests.support.refusals import refusal_text


def manifest(node="", token="abcde", **spec):
    """A pod as admission leaves it."""
    name = f"kube-api-access-{token}"
    container = {"name": "c", "image": "i", "volumeMounts": [{"name": name, "mountPath": "/t"}]}
    placed = {"nodeName": node} if node else {}
    whole = {**placed, "containers": [container], "volumes": [{"name": name, "projected": {}}], **spec}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": whole}


def pods(*manifests):
    """The pods of a long list, as far as they are read from their text."""
    found = long_list(io.BytesIO(dumped(list(manifests)).encode()))
    return [pod_of_texts(parts) for parts in found.items()]


def test_the_node_and_the_token_alone_differ():
    """Specs share their parts, and each has its node; read one by one they are the same objects."""
    one, other, third = pods(
        manifest("n1", "aaaaa"), manifest("n2", "bbbbb"), manifest("n2", hostNetwork=True)
    )
    assert [found.spec.node_name for found in (one, other, third)] == ["n1", "n2", "n2"]
    assert one.spec.containers is other.spec.containers
    alone = decode(manifest("n1", "ccccc"))
    assert alone.spec == one.spec


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_have(number):
    """They are no nulls, which would count as absent: a manifest of Python's own may have them."""
    text = refusal_text(ManifestError, decode, manifest(overhead={"cpu": number}))
    assert "spec.overhead.cpu: expected a quantity such as 500m, 2 or 1.5Gi, got " in text


@pytest.mark.parametrize(
    "spec",
    [
        "nodeSelector: {nodeName: a}",
        "nodeSelector: {x: kube-api-access-abcde}",
        "nodeName: null",
        "volumes: [{name: kube-api-access-abcde, ephemeral: {}}]",
        "tolerations: [{value: kube-api-access-vwxyz}]",
    ],
)
def test_what_looks_like_these_stays(spec):
    """A label of such a name or value, and the name of an ephemeral volume, are read as they are."""
    for node in ("", "n"):
        document = manifest(node, **yaml.safe_load(spec))
        wanted = read(Pod, document)
        for found in (decode(document), *filter(None, pods(document, document))):
            assert (found.spec.node_name, found.spec.node_selector, found.spec.tolerations) == (
                wanted.spec.node_name,
                wanted.spec.node_selector,
                wanted.spec.tolerations,
            )
            assert [one.name for one in found.spec.volumes if one.ephemeral] == [
                one.name for one in wanted.spec.volumes if one.ephemeral
            ]


@pytest.mark.parametrize(
    "more", ["qqq: 1", "spec: {qqq: 1}", "metadata: {name: p, nam: 1}", "status: {phase: 1}", "spec: 1"]
)
def test_what_is_odd_is_looked_at_as_a_whole(more):
    """A pod with unknown fields or wrong values is not read from its text, however often it comes."""
    assert pods(*[{**manifest(), **yaml.safe_load(more)}] * 3) == [None] * 3


@examples(2)
@given(documents(Pod))
def test_from_the_text_as_value_by_value(document):
    """A pod that is read from its text is the one that is read value by value."""
    (found,) = pods({"kind": "Pod", "metadata": {}, **document})
    if found is not None:
        assert found == read(Pod, document, True)


@examples(0.7)
@given(st.lists(documents(Pod), min_size=1, max_size=4))
def test_a_long_list_is_read_as_a_short_one(found):
    """Objects, warnings and errors are the same, item by item and as a whole."""
    items = [
        {"kind": "Pod", **one, "metadata": {**one.get("metadata", {}), "name": f"p{at}"}}
        for at, one in enumerate(found)
    ]
    outcomes = []
    for least in (0, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "_LONG", least)
            outcomes.append(_outcome(items))
    assert outcomes[0] == outcomes[1]


def _outcome(items):
    stream = io.BytesIO(dumped(items).encode())
    try:
        loaded = load("-", stdin=stream)
    except ManifestError as error:
        return str(error)
    return loaded.objects, loaded.warnings
