"""The volumes or claims as they are assumed to be."""

import pytest

from kubeclassic.api.objects import Map, ObjectMeta, PersistentVolume, PersistentVolumeSpec
from kubeclassic.core.binding import VolumeError
from kubeclassic.core.volumes.binder import AssumeCache


def volume(name, version="1", kind="", **labels):
    return PersistentVolume(
        metadata=ObjectMeta(name=name, resource_version=version, labels=Map(labels)),
        spec=PersistentVolumeSpec(storage_class_name=kind),
    )


@pytest.fixture
def cache():
    return AssumeCache("v1.PersistentVolume", lambda item: item.spec.storage_class_name)


@pytest.mark.parametrize(
    "known, event, mark",
    [
        ("5", "4", "assumed"),
        ("5", "5", "assumed"),
        ("5", "x", "assumed"),
        ("5", "6", "event"),
        ("9", "10", "event"),
        ("", "", "event"),
    ],
)
def test_only_a_newer_event_ends_an_assumption(cache, known, event, mark):
    """An event that is not newer, as a number, or has an odd version is dropped; manifests have none, and
    the last one counts."""
    cache.put(volume("a", known))
    cache.assume(volume("a", known, mark="assumed"))
    cache.put(volume("a", event, mark="event"))
    assert cache.get("a").labels == {"mark": mark}
    cache.restore("a")
    assert cache.get("a").labels == ({"mark": mark} if mark == "event" else {})


def test_an_older_object_cannot_be_assumed(cache):
    """Assuming an object that is older than what is known is out of sync."""
    cache.put(volume("a", "5"))
    with pytest.raises(VolumeError, match=r'v1\.PersistentVolume "a" is out of sync'):
        cache.assume(volume("a", "4"))


def test_an_unknown_object_is_an_error_in_upstreams_words(cache):
    """An unknown object can be neither read nor assumed."""
    for question in (lambda: cache.get("a"), lambda: cache.assume(volume("a"))):
        with pytest.raises(VolumeError, match=r'could not find v1\.PersistentVolume "a"'):
            question()


def test_groups_are_in_order_of_name(cache):
    """Volumes of a class come in ascending order of name, one that changed class among its new peers."""
    for name, kind in (("b", "fast"), ("a", "fast"), ("c", "slow")):
        cache.put(volume(name, kind=kind))
    cache.put(volume("b", "2", kind="slow"))
    assert [v.name for v in cache.within("slow")] == ["b", "c"]
    assert [v.name for v in cache.within("fast")] == ["a"]


def test_a_dropped_object_is_gone_with_its_assumption(cache):
    """A delete takes the object out, assumed or not; dropping it twice does no harm."""
    cache.put(volume("a"))
    cache.assume(volume("a", mark="assumed"))
    cache.drop("a")
    cache.drop("a")
    cache.restore("a")
    assert cache.within("") == []


def test_the_version_moves_with_every_change(cache):
    """Each of put, assume, restore and drop moves the version, a dropped event does not."""
    seen = [cache.version]
    for change in (
        lambda: cache.put(volume("a", "5")),
        lambda: cache.assume(volume("a", "5", mark="m")),
        lambda: cache.restore("a"),
        lambda: cache.drop("a"),
    ):
        change()
        seen.append(cache.version)
    assert seen == sorted(set(seen))
    cache.put(volume("b", "5"))
    before = cache.version
    cache.put(volume("b", "4"))
    assert cache.version == before
