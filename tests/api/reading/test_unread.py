"""Fields that nothing reads: the API's are known at every level, and all others are noticed."""

import pytest

from kubeclassic.api import objects as o
from kubeclassic.api.reading.decode import api_fields, fields_of, has_only_api_fields, misnamed

OF_THE_OTHER = {
    o.Node: {"status.conditions.lastProbeTime"},
    o.Pod: {"spec.volumes.csi.volumeHandle"},
    o.ResourceClaim: {"status.devices.conditions.lastProbeTime"},
}
"""Fields that only one of two types has which are one class here."""
KINDS = [pytest.param(kind, id=kind.kind) for kind in o.KINDS.values()]


def paths(fields, path=()):
    """The paths to all objects in a kind."""
    yield path
    for name, inner in fields.items():
        if inner is not None and len(path) < 5:  # deeper ones are of types that occur before
            yield from paths(inner, (*path, name))


def at(path, inner):
    """*inner* at *path*, in lists of one item."""
    for name in reversed(path):
        inner = {name: [inner]}
    return inner


@pytest.mark.parametrize("kind", KINDS)
def test_notices_a_field_that_the_api_does_not_have(kind):
    """At each level of each kind one unknown field is noticed, read or not, and none without it."""
    for path in paths(api_fields(kind.kind) or {}):
        wrong = at(path, {"qqq": 1})
        assert [path for path, _ in misnamed(wrong, api_fields(kind.kind))] == [
            ".".join([*(f"{name}[0]" for name in path), "qqq"])
        ]
        assert not has_only_api_fields(kind.kind, wrong)
        assert has_only_api_fields(kind.kind, at(path, {}))


@pytest.mark.parametrize("kind", KINDS)
def test_has_all_that_is_read(kind):
    """Each field that is read here is one that the API has."""
    everything = _example(fields_of(kind))
    assert {path for path, _ in misnamed(everything, api_fields(kind.kind))} == OF_THE_OTHER.get(kind, set())
    assert has_only_api_fields(kind.kind, everything) == (kind not in OF_THE_OTHER)


def _example(fields):
    return 1 if fields is None else {name: _example(inner) for name, inner in fields.items()}


@pytest.mark.parametrize(
    "kind, version", [("Service", "serving.knative.dev/v1"), ("Pod", "example.com/v1"), ("Route", "v1")]
)
def test_of_others_nothing_is_known(kind, version):
    """A kind of another group, or one that is not read, may have any fields."""
    assert api_fields(kind, version) is None
    assert has_only_api_fields(kind, {"apiVersion": version, "x": 1})


@pytest.mark.parametrize("version", ["apps/v1", "extensions/v1beta1", "", None])
def test_of_all_versions_one_table(version):
    """Old API groups of a kind are known too."""
    assert has_only_api_fields("Deployment", {"apiVersion": version, "spec": {"rollbackTo": {"revision": 1}}})
    assert not has_only_api_fields("Deployment", {"apiVersion": version, "spec": {"rolbackTo": {}}})
