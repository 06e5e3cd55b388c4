"""Manifests of workloads, each once and with a name."""

import pytest

from kubeclassic.api.load import GIVEN_BEFORE, each_once, identity_of
from kubeclassic.api.reading.notices import Notice
from kubeclassic.exceptions import ManifestError


def manifest(kind, **metadata):
    """A workload."""
    return {"kind": kind, "metadata": metadata}


def test_the_last_of_two_counts():
    """Of two manifests with one name the last counts, at the place of the first, with one notice; no notice
    for kinds that become objects."""
    first = manifest("Job", name="a")
    other = manifest("Job", name="b")
    last = manifest("Job", name="a", namespace="default")
    assert each_once([first, other, last, last]) == ((last, other), (Notice("Job default/a", GIVEN_BEFORE),))
    assert each_once([manifest("ReplicaSet", name="a")] * 2)[1] == ()


def test_generated_names_are_counted_up():
    """Workloads with only a generateName get numbers, and so none replaces another."""
    found, _ = each_once(
        [
            manifest("Job", generateName="run-"),
            manifest("Job", generateName="run-"),
            manifest("Job", generateName="x-"),
        ]
    )
    assert [each["metadata"]["name"] for each in found] == ["run-1", "run-2", "x-1"]


def test_a_name_is_wanted():
    """A workload without any name is refused."""
    with pytest.raises(ManifestError, match=r"^Job: metadata.name: expected a name, got nothing$"):
        each_once([manifest("Job")])


@pytest.mark.parametrize("metadata", [None, [], "a", {"name": 5, "namespace": []}])
def test_odd_metadata(metadata):
    """Metadata of another type has no name."""
    assert identity_of({"kind": "ConfigMap", "metadata": metadata}) == ("ConfigMap", "default", "")
