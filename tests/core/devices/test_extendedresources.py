"""Extended resources as devices: which class gives one, and what a pod's containers ask for."""

import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.cluster.listings import IMPLICIT, DeviceClasses
from kubeclassic.core.devices.extendedresources import as_written, mappings_of, special_claim, with_requests
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.hints import class_gives
from kubeclassic.framework.plugin import Handle
from tests.support.devicebuild import made
from tests.support.manifests import manifest

GPU = "example.com/gpu"


def named(name, resource=GPU, created="2026-01-01T00:00:00Z"):
    """A class that gives an extended resource."""
    return made(
        "DeviceClass", name, {"extendedResourceName": resource}, metadata={"creationTimestamp": created}
    )


def test_the_newest_gives_it():
    """Of several classes the newest gives a resource, else the first by name. A new class that loses gives
    nothing at all."""
    classes = DeviceClasses()
    for item in (
        named("b"),
        named("c"),
        named("a"),
        named("new", created="2026-02-01T00:00:00Z"),
        named("old"),
    ):
        classes.put(item)
    assert classes.by_resource[GPU].name == "new"
    assert {name.removeprefix(IMPLICIT) for name in classes.by_resource} == {GPU, "a", "b", "new"}


def test_a_class_that_changes_or_goes():
    """A class that names another resource gives that; what goes gives nothing, and does not bring back
    another one."""
    classes = DeviceClasses()
    classes.put(named("a"))
    classes.put(named("a", "example.com/other"))
    assert set(classes.by_resource) == {"example.com/other", f"{IMPLICIT}a"}
    classes.put(named("b", "example.com/other", "2026-02-01T00:00:00Z"))
    classes.drop("b")
    assert set(classes.by_resource) == {f"{IMPLICIT}a"}


def test_a_class_that_is_taken_back():
    """After a trial with another class the resource is given by the class that gave it before."""
    engine = framework_engine()
    feed = EventFeed(engine)
    feed.put(named("a"))
    with engine.savepoint():
        feed.put(named("b", created="2026-02-01T00:00:00Z"))
        assert engine.listings.device_classes.by_resource[GPU].name == "b"
    assert engine.listings.device_classes.by_resource[GPU].name == "a"


@pytest.mark.parametrize(
    "old, new, helps",
    [
        (None, named("a"), True),
        (None, named("a", "example.com/other"), False),
        (None, named("x", None), True),
        (named("a", None), named("a"), True),
        (named("a"), named("a"), False),
        (named("x", "b.example.com/b"), named("x", None), False),
    ],
)
def test_which_changes_help(old, new, helps):
    """A waiting pod is tried again when a class comes, or begins to name what the pod asks for."""
    waiting = asking([{GPU: "1", f"{IMPLICIT}x": "1"}])
    assert class_gives(waiting, old, new, requests=Handle().requests) == helps


def asking(containers, inits=None):
    """A pod whose containers, init containers and sidecars make requests."""
    found = decode(
        manifest(
            "Pod",
            "p",
            namespace="default",
            metadata={"uid": "uid-p"},
            spec={
                "containers": [_container(f"c{i}", one) for i, one in enumerate(containers)],
                "initContainers": [
                    {**_container(f"i{i}", one), **({"restartPolicy": "Always"} if stays else {})}
                    for i, (one, stays) in enumerate(inits or [])
                ],
            },
        )
    )
    assert isinstance(found, Pod)
    return found


def _container(name, requests):
    return {"name": name, "resources": {"requests": requests}}


@pytest.mark.parametrize(
    "pod, requests, mapped",
    [
        (
            asking([{"cpu": "1", GPU: "2"}, {GPU: "1"}, {}]),
            {"container-0-request-1": 2, "container-1-request-0": 1},
            2,
        ),
        (asking([{GPU: "2"}], [({GPU: "1"}, False)]), {"container-1-request-0": 2}, 2),
        (
            asking([{GPU: "1"}], [({GPU: "3"}, False), ({GPU: "2"}, False), ({GPU: "1"}, True)]),
            {"container-0-request-0": 1, "container-2-request-0": 1, "container-3-request-0": 1},
            7,
        ),
    ],
)
def test_a_request_for_each_container(pod, requests, mapped):
    """Each container has a request; init containers that end take the devices of those that come later,
    and one another's."""
    claim = with_requests(special_claim(pod), pod, [GPU], lambda name: "gpus")
    found = {one.name: one.exactly for one in claim.spec.devices.requests}
    assert {name: one.count for name, one in found.items() if one is not None} == requests
    assert {one.device_class_name for one in found.values() if one is not None} == {"gpus"}
    assert len(mappings_of(pod, [GPU])) == mapped
    assert {one.request for one in mappings_of(pod, [GPU])} == found.keys()


def test_the_name_that_it_gets():
    """The claim is called after its pod, which owns it."""
    claim = as_written(special_claim(asking([])), asking([]))
    assert claim.name.startswith("p-extended-resources-")
    assert claim.metadata.controller.uid == "uid-p"
