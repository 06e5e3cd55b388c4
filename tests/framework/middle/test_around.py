"""The differences of the queue of 1.17 to 1.23 from that of 1.27."""

import pytest

from kubeclassic.core.queue.backoff import SECOND, nanoseconds
from kubeclassic.exceptions import CacheError
from tests.framework.queue.test_queue_releases import FIT, Bench, named
from tests.support.build import manifest, node, obj

NAMES = frozenset({"NodeName"})
SERVICE = obj(manifest("Service", "s", namespace="default"))


# --- Events -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, moved", [("1.20", True), ("1.21", False), ("1.22", False), ("1.27", False)]
)
def test_which_pods_an_event_moves(release, moved):
    """Up to 1.20 any event moves any pod; later that of a service moves no pod that NodeResourcesFit
    rejected."""
    bench = Bench.of(release)
    bench.failed(named("p"), FIT)
    bench.router.put(SERVICE)
    assert bench.parts == ((0, 1, 0) if moved else (0, 0, 1))


@pytest.mark.parametrize("release, moved", [("1.20", True), ("1.21", True), ("1.22", False)])
def test_events_of_services(release, moved):
    """Up to 1.21 a new service moves pods that a plugin without events of its own rejected."""
    bench = Bench.of(release)
    bench.failed(named("p"), NAMES)
    bench.router.put(SERVICE)
    assert bench.parts == ((0, 1, 0) if moved else (0, 0, 1))


@pytest.mark.parametrize("release, moved", [("1.21", True), ("1.22", False)])
def test_a_node_that_is_too_small(release, moved):
    """From 1.22 on a new node moves only pods that it may take."""
    bench = Bench.of(release)
    bench.failed(named("p", requests={"cpu": "8"}))
    bench.router.put(node("n", cpu="1"))
    assert bench.parts == ((0, 1, 0) if moved else (0, 0, 1))


@pytest.mark.parametrize("release, moved", [("1.23", False), ("1.24", True)])
def test_taints_that_evict(release, moved):
    """Up to 1.23 a new node with a NoExecute taint moves no pod that does not tolerate it."""
    bench = Bench.of(release)
    bench.failed(named("p"))
    bench.router.put(node("n", taints=[{"key": "a", "effect": "NoExecute"}]))
    assert bench.parts == ((0, 1, 0) if moved else (0, 0, 1))


@pytest.mark.parametrize("release, moved", [("1.20", True), ("1.21", False)])
def test_an_update_of_a_node_while_no_pod_is_parked(release, moved):
    """Up to 1.20 it counts as a move, even if nothing has changed, so a pod that is being tried backs
    off."""
    bench = Bench.of(release)
    bench.router.put(node("n"))
    item = bench.tried(named("p"))
    bench.router.put(node("n"))
    bench.fail(item)
    assert bench.parts == ((0, 1, 0) if moved else (0, 0, 1))


# --- Waiting ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release, seconds", [("1.17", 60), ("1.23", 60), ("1.24", 300), ("1.27", 300)])
def test_the_longest_time_without_a_try(release, seconds):
    """Up to 1.23 a parked pod is tried again after a minute, later after five; this is checked every 30
    seconds."""
    bench = Bench.of(release)
    bench.failed(named("p"))
    for now, parked in ((seconds, 1), (seconds + 30, 0)):
        bench.clock.now = nanoseconds(now)
        bench.queue.tick()
        assert bench.parts[2] == parked


@pytest.mark.parametrize("release, active", [("1.17", True), ("1.20", True), ("1.21", False)])
def test_an_update_ends_the_backoff(release, active):
    """Up to 1.20 a parked pod that is changed is active at once, and one that backs off, too."""
    bench = Bench.of(release)
    bench.failed(named("p"))
    bench.router.put(named("p", tolerations=[{"operator": "Exists"}]))
    assert bench.parts == ((1, 0, 0) if active else (0, 1, 0))


def test_failures_by_name():
    """In 1.17 failures are kept by the pod's name, and forgotten 20 seconds after the last; later the
    entry counts its attempts."""
    for release, first, then in (("1.17", 2, 1), ("1.18", 2, 4)):
        bench = Bench.of(release)
        found = []
        item = bench.failed(named("p"))
        for now in (5.0, 40.0):
            bench.clock.now = nanoseconds(now)
            bench.queue.move_all()
            again = bench.queue.pop()
            assert again.pod.key == item.pod.key
            bench.fail(again)
            found.append(bench.queue._backoff_end(again) - bench.clock.now)
        assert found == [first * SECOND, then * SECOND]


@pytest.mark.parametrize(
    "release, text",
    [
        ("1.17", "pod is already present in unschedulableQ"),
        ("1.20", "pod: default/p is already present in unschedulable queue"),
        ("1.21", "Pod default/p is already present in unschedulable queue"),
    ],
)
def test_a_pod_that_is_there(release, text):
    """A pod that is parked is refused, in the words of the release."""
    bench = Bench.of(release)
    item = bench.failed(named("p"))
    with pytest.raises(CacheError, match=text):
        bench.fail(item)
