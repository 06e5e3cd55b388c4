"""The effects of cluster events on a scheduler with a queue."""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.queue.backoff import Clock, QueuedPod, nanoseconds
from kubeclassic.core.router import EventRouter
from kubeclassic.exceptions import CacheError
from tests.support.build import engine, manifest, node, obj, pod

ALL = list(RELEASES)
OLD = ALL[:2]
UNFILTERED = ALL[:1]
FILTERED = ALL[1:]
"""The release in which every update of a node moves pods, and the others."""
each_release = pytest.mark.parametrize("release", ALL)
MARK = yaml.safe_load("{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}")


def router(release, *known, **gates):
    """A scheduler of *release* that was told of *known*, and then parked the pod ``waiting``, which backs off
    no more."""
    scheduler = engine(release=release, gates=gates)
    clock = Clock()
    made = EventRouter(scheduler, scheduler.flow.queue(clock))
    for item in known:
        made.put(item)
    made.queue.pop()
    made.queue.add_unschedulable(QueuedPod(pod("waiting", status=MARK)), made.queue.cycle + 1)
    clock.now = nanoseconds(5.0)
    if not made.queue.pending.unschedulable:
        # Where a flag marks moves it is cleared by a pop.
        made.queue.pop()
        made.queue.add(pod("another"))
        made.queue.pop()
        made.queue.add_unschedulable(QueuedPod(pod("waiting", status=MARK)), made.queue.cycle)
    assert made.queue.pending == (0, 0, 1)
    return made


def moves(made):
    """Whether the parked pod was moved."""
    return made.queue.pending.unschedulable == 0


def claim(**more):
    return obj(manifest("PersistentVolumeClaim", "c", metadata={"resourceVersion": "1", **more}))


def volume():
    return obj(manifest("PersistentVolume", "v", metadata={"resourceVersion": "1"}))


def service():
    return obj(manifest("Service", "s"))


def kind(mode):
    return obj(manifest("StorageClass", "k", volumeBindingMode=mode))


def csi_node(**more):
    return obj(manifest("CSINode", "n", metadata=more))


LATE = kind("WaitForFirstConsumer")
EARLY = kind("Immediate")
EVENTS = [
    *((None, item, True) for item in (node("n"), volume(), claim(), service(), LATE)),
    *(
        (item, replace(item, metadata=replace(item.metadata, resource_version="2")), True)
        for item in (volume(), claim(), service())
    ),
    *(
        (item, None, item.kind == "Service")
        for item in (node("n"), volume(), claim(), LATE, csi_node(), service())
    ),
    (None, EARLY, False),
    (EARLY, LATE, False),
]
"""The old object, the new object, and whether the event moves all parked pods."""


# --- Moves --------------------------------------------------------------------------------------------------


@each_release
@pytest.mark.parametrize("old, new, moved", EVENTS, ids=lambda value: getattr(value, "kind", None))
def test_which_events_move_all(release, old, new, moved):
    """Additions, updates and deleted services let parked pods be tried again; of storage classes only an
    added one with late binding does."""
    made = router(release, *([] if old is None else [old]))
    if new is not None:
        made.put(new)
    elif old is not None:
        made.delete(old)
    assert moves(made) == moved


@pytest.mark.parametrize("release", OLD)
def test_without_volume_scheduling(release):
    """In 1.12 and 1.13 claims that change and classes that come count only with gate VolumeScheduling."""
    made = router(release, claim(), VolumeScheduling=False)
    made.put(claim(resourceVersion="2"))
    made.put(kind("WaitForFirstConsumer"))
    assert not moves(made)


@pytest.mark.parametrize(
    "release, gate, moved", [("1.15", True, False), ("1.16", False, False), ("1.16", True, True)]
)
def test_csi_nodes(release, gate, moved):
    """CSINodes that come or change move all from 1.16 on, with gate CSINodeInfo."""
    for known in ((), (csi_node(),)):
        made = router(release, *known, CSINodeInfo=gate)
        made.put(csi_node(labels={"a": "b"}))
        assert moves(made) == moved


@each_release
def test_what_is_not_known_and_goes(release):
    """The delete of an object that is not known is ignored."""
    made = router(release)
    for item in (service(), node("n"), pod("nobody", on="n")):
        made.delete(item)
    assert not moves(made)


# --- Node updates -------------------------------------------------------------------------------------------


CHANGES = (
    ("became schedulable", {"unschedulable": True}, {}, True),
    ("became unschedulable", {}, {"unschedulable": True}, False),
    ("allocatable", {"cpu": "2"}, {"cpu": "4"}, True),
    ("the spelling of a quantity", {"cpu": "1"}, {"cpu": "1000m"}, True),
    ("labels", {}, {"labels": {"a": "b"}}, True),
    ("taints", {}, yaml.safe_load("{taints: [{key: a, effect: NoSchedule}]}"), True),
    (
        "a status",
        yaml.safe_load("{conditions: [{type: Ready, status: 'False'}]}"),
        yaml.safe_load("{conditions: [{type: Ready, status: 'True'}]}"),
        True,
    ),
    (
        "a reason",
        yaml.safe_load("{conditions: [{type: Ready, status: 'True', reason: a}]}"),
        yaml.safe_load("{conditions: [{type: Ready, status: 'True', reason: b}]}"),
        False,
    ),
    ("annotations", {}, {"annotations": {"a": "b"}}, False),
    ("images", {}, {"images": [{"names": ["i"]}]}, False),
    ("nothing", {}, {}, False),
)


@pytest.mark.parametrize("release", FILTERED)
@pytest.mark.parametrize("old, new, moved", [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_only_what_may_help_moves(release, old, new, moved):
    """From 1.13 on a node that changed moves parked pods only where the change may let one fit."""
    made = router(release, node("n", **old))
    made.put(node("n", **new))
    assert moves(made) == moved


@pytest.mark.parametrize("release", UNFILTERED)
def test_any_update_moves_in_1_12(release):
    """In 1.12 every update of a node moves all."""
    made = router(release, node("n"))
    made.put(node("n"))
    assert moves(made)


@pytest.mark.parametrize("release", FILTERED)
def test_with_nobody_parked_any_update_counts(release):
    """With nobody parked any update keeps a pod that is being tried from being parked."""
    made = router(release, node("n"))
    made.queue.delete(pod("waiting"))
    made.queue.add(pod("tried"))
    made.queue.pop()
    made.put(node("n"))
    made.queue.add_unschedulable(QueuedPod(pod("tried", status=MARK)), made.queue.cycle)
    assert (made.queue.pending.total, made.queue.pending.unschedulable) == (1, 0)


# --- Pods ---------------------------------------------------------------------------------------------------


@each_release
def test_a_new_pod_is_queued(release):
    """A pod without a node enters the queue, if this scheduler is the one it asks for; finished pods do
    not."""
    made = router(release)
    for new in (pod("a"), pod("b", schedulerName="other"), pod("c", status={"phase": "Failed"})):
        made.put(new)
    assert made.queue.pending.active == 1


@each_release
def test_a_pod_with_a_node_is_on_it(release):
    """A pod that has a node counts there, whoever scheduled it, and is not queued."""
    made = router(release)
    made.put(pod("a", on="n", schedulerName="other"))
    assert (made.engine.cache.state(pod("a")) is not None, made.queue.pending.active) == (True, 0)


@each_release
def test_a_pod_that_gets_a_node_leaves_the_queue(release):
    """A queued pod that turns up with a node goes from the queue to the node."""
    made = router(release)
    made.put(pod("a", nominated="n"))
    made.put(pod("a", on="m", nominated="n"))
    assert (made.queue.pending.active, bool(made.engine.nominations)) == (0, False)
    assert [entry.pod.name for entry in made.engine.cache.infos["m"].pods] == ["a"]


@each_release
@pytest.mark.parametrize("ends", [True, False])
def test_an_assigned_pod_that_goes_moves_all(release, ends):
    """A pod that leaves its node, deleted or finished, lets parked pods be tried again."""
    made = router(release, pod("a", on="n"))
    if ends:
        made.put(pod("a", on="n", status={"phase": "Succeeded"}))
    else:
        made.delete(pod("a"))
    assert (moves(made), made.engine.cache.infos) == (True, {})


@each_release
def test_a_queued_pod_that_goes_moves_nobody(release):
    """A pod without a node that goes leaves the queue and lets nobody be tried."""
    made = router(release)
    made.put(pod("a"))
    made.delete(pod("a"))
    assert made.queue.pending == (0, 0, 1)


@each_release
def test_assigned_pods_move_those_that_want_them(release):
    """A pod that comes to a node, or changes there, moves the parked pods with a required affinity to it."""
    term = yaml.safe_load("{labelSelector: {matchLabels: {app: web}}, topologyKey: zone}")
    wanting = pod(
        "wanting",
        status=MARK,
        affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    )
    for before in (None, pod("web", on="n")):
        made = router(release, *([before] if before else []))
        made.queue.add_unschedulable(QueuedPod(wanting), made.queue.cycle + 1)
        made.put(pod("web", on="n", app="web"))
        assert made.queue.pending.unschedulable == 1


@each_release
def test_a_new_pod_of_the_same_name(release):
    """A pod of another UID under a known name is the old one's end and a new one's beginning."""
    made = router(release, pod("a", on="n", uid="1"))
    made.put(pod("a", uid="2"))
    assert (made.engine.cache.infos, moves(made)) == ({}, True)
    assert "a" in [found.name for found in made.queue.pods()]


@each_release
def test_a_pod_cannot_change_its_node(release):
    """A bound pod that turns up on another node is refused, where the original ends."""
    made = router(release, pod("a", on="n"))
    with pytest.raises(CacheError, match="updated on a different node"):
        made.put(pod("a", on="m"))


# --- Echoes -------------------------------------------------------------------------------------------------

# What an update does to a pod that is assumed already, and so is not in the queue.


def assumed(release):
    made = router(release, node("n"))
    made.put(pod("a"))
    while (popped := made.queue.pop()) is not None and popped.pod.name != "a":
        continue
    assert made.engine.assume(pod("a"), "n") is None
    return made


def queued(made, new):
    """Whether an update to *new* brings the pod into the queue again."""
    made.put(new)
    return "a" in [found.name for found in made.queue.pods()]


@each_release
def test_versions_and_annotations_are_nothing_new(release):
    """A new resource version or other annotations do not bring an assumed pod back."""
    assert not queued(
        assumed(release), pod("a", metadata={"resourceVersion": "5", "annotations": {"x": "y"}})
    )


@pytest.mark.parametrize("release, is_back", [(name, name != "1.16") for name in ALL])
def test_conditions_are_nothing_new_in_1_16(release, is_back):
    """An update of its conditions or finalizers brings an assumed pod into the queue again before 1.16."""
    for news in ({"status": MARK}, {"metadata": {"finalizers": ["example.com/f"]}}):
        assert queued(assumed(release), pod("a", **news)) == is_back


@each_release
def test_labels_are_news(release):
    """A pod whose labels change while it is assumed is queued again."""
    assert queued(assumed(release), pod("a", labels={"x": "y"}))
