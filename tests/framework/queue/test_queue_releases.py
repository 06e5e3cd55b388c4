"""The differences between the queues of the framework's releases."""

import attrs
import pytest

from kubeclassic.core.queue.backoff import SECOND, Clock, nanoseconds
from kubeclassic.framework.plugin import unresolvable
from kubeclassic.framework.plugins.schedulinggates import SchedulingGates
from kubeclassic.framework.queue.events import Action
from kubeclassic.framework.queue.handlers import FrameworkEvents
from kubeclassic.framework.queue.queue import FrameworkQueue
from kubeclassic.framework.queue.registrations import Registrations
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.simulation.conform import engine_for
from tests.support.asking import handle
from tests.support.build import node, pod

RELEASES = tuple(FRAMEWORK_RELEASES)
FIT = frozenset({"NodeResourcesFit"})


def since(release, first=RELEASES[0]):
    """For each release from *first* on whether it is *release* or a newer one."""
    known = RELEASES[RELEASES.index(first) :]
    return pytest.mark.parametrize(
        "each, is_new", [(each, RELEASES.index(each) >= RELEASES.index(release)) for each in known]
    )


@attrs.define(eq=False)
class Bench:
    """The queue of a release, and its events."""

    queue: FrameworkQueue
    router: FrameworkEvents
    clock: Clock
    incoming: list = attrs.field(factory=list)

    @classmethod
    def of(cls, release, **gates):
        """The queue of *release* with *gates*."""
        engine = engine_for(release, {"featureGates": gates} if gates else {})
        clock = Clock(origin=1_000_000 * SECOND)
        queue = engine.flow.queue(clock)
        assert isinstance(queue, FrameworkQueue)
        router = engine.flow.router(queue, "default-scheduler")
        assert isinstance(router, FrameworkEvents)
        found = cls(queue, router, clock)
        queue.on_incoming = lambda place, event: found.incoming.append((place, event))
        return found

    def tried(self, each):
        """A new pod, taken out."""
        self.router.put(each)
        item = self.queue.pop()
        assert item is not None
        return item

    def failed(self, each, plugins=FIT):
        """A new pod whose first attempt failed."""
        item = self.tried(each)
        self.fail(item, plugins)
        return item

    def fail(self, item, plugins=FIT):
        """An attempt fails."""
        item.plugins = plugins
        self.queue.add_unschedulable(item, self.queue.cycle)

    @property
    def parts(self):
        """The numbers of active, backing-off and parked pods."""
        return tuple(self.queue.pending)


def named(name, **spec):
    """A pod with a UID."""
    return pod(name, uid=f"uid-{name}", **spec)


@since("1.33")
def test_popped_early(each, is_new):
    """From 1.33 on a pod that backs off is tried if no pod is active, but not after an error."""
    bench = Bench.of(each)
    bench.failed(named("p"))
    bench.queue.move_all()
    assert bench.parts == (0, 1, 0)
    assert bench.queue.can_pop is is_new
    popped = bench.queue.pop()
    assert (popped is not None) is is_new
    if popped is not None:
        assert bench.incoming[-1] == ("active", "PopFromBackoffQ")
        bench.fail(popped, frozenset())
        assert bench.parts == (0, 1, 0)
        assert bench.queue.pop() is None


@since("1.33")
def test_the_end_of_a_backoff(each, is_new):
    """From 1.33 on backoffs end with the seconds of the clock on the wall, after the second in which their
    time is over."""
    bench = Bench.of(each, **({"SchedulerPopFromBackoffQ": True} if is_new else {}))
    bench.clock.now = nanoseconds(0.5)
    bench.failed(named("p"), frozenset() if is_new else FIT)
    bench.queue.move_all()
    moved = []
    for now in (1.0, 1.5, 2.0, 2.5):
        bench.clock.now = nanoseconds(now)
        bench.queue.tick()
        moved.append(bench.parts[0])
    assert moved == [0, 0, 1, 1]


@pytest.mark.parametrize("priority, stays", [(4, False), (5, False), (6, True)])
def test_a_nominated_pod_that_goes(priority, stays):
    """A nominated pod that is deleted makes room for pods of no higher priority."""
    bench = Bench.of("1.34")
    bench.router.put(node("n"))
    nominated = named("nominated", priority=5, status={"nominatedNodeName": "n"})
    bench.tried(nominated)
    bench.failed(named("p", priority=priority, requests={"cpu": "1"}))
    bench.router.delete(nominated)
    assert bench.parts[2] == stays


@pytest.mark.parametrize("release", ["1.31", "1.32", "1.33"])
def test_an_update_of_a_nominated_pod(release):
    """In 1.33 without hints one that is then tried has the nomination in its status alone."""
    bench = Bench.of(release, SchedulerQueueingHints=False)
    nominated = bench.failed(named("p")).pod
    bench.queue.nominate(nominated, "n")
    bench.clock.now += 20 * SECOND
    bench.router.put(named("p", tolerations=[{"operator": "Exists"}]))
    assert bench.parts == (1, 0, 0)
    assert bench.queue.nominations.node_of(nominated) == ("" if release == "1.33" else "n")


@pytest.mark.parametrize("uid", ["", "another"])
@since("1.35", first="1.33")
def test_a_nominated_pod_that_gets_its_node(each, is_new, uid):
    """From 1.35 on that does not count as if it went, not even if a pod of another *uid* has its name now."""
    bench = Bench.of(each)
    bench.router.put(node("n"))
    nominated = named("nominated", status={"nominatedNodeName": "n"})
    bench.tried(nominated)
    bench.failed(named("p", requests={"cpu": "1"}))
    metadata = {"uid": uid} if uid else {}
    bench.router.put(named("nominated", on="n", status={"nominatedNodeName": "n"}, metadata=metadata))
    assert (bench.parts[2] == 1) is is_new


@pytest.mark.parametrize("release", ["1.34", "1.35", "1.36"])
def test_an_assumed_pod_whose_name_another_has(release):
    """One that is made again with a node has that, and the place of the first is taken until its binding
    fails."""
    bench = Bench.of(release)
    bench.router.put(node("n"))
    assumed = bench.tried(named("p")).pod
    assert bench.router.engine.assume(assumed, "n") is None
    other = named("p", on="n", metadata={"uid": "another"})
    bench.router.put(other)
    assert bench.router.engine.is_assumed(assumed)
    assert bench.router.feed.known(other) == other
    assert bench.parts == (0, 0, 0)


@pytest.mark.parametrize("begins", [False, True])
@since("1.35", first="1.33")
def test_an_assumed_pod_that_goes(each, is_new, begins):
    """From 1.35 on its place is free, and other pods are tried, as soon as its deletion *begins* or it is
    gone."""
    bench = Bench.of(each)
    bench.router.put(node("n"))
    assumed = bench.tried(named("assumed")).pod
    assert bench.router.engine.assume(assumed, "n") is None
    bench.failed(named("p", requests={"cpu": "1"}))
    if begins:
        bench.router.put(named("assumed", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}))
    else:
        bench.router.delete(assumed)
    assert (bench.parts[2] == 0) is is_new
    assert bench.router.engine.is_assumed(assumed) is not is_new


@pytest.mark.parametrize("is_on", [False, True])
def test_a_namespace_selector(is_on):
    """Without its gate it adds no namespace in which a pod wakes those that want to be near."""
    bench = Bench.of("1.21", PodAffinityNamespaceSelector=is_on)
    near = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    bench.failed(named("p", affinity=affinity), frozenset({"InterPodAffinity"}))
    bench.router.put(named("other", on="n", namespace="far"))
    assert (bench.parts[2] == 0) is is_on


@since("1.22")
def test_an_assumed_pod_that_changes(each, is_new):
    """Up to 1.21 it is queued once more, but not if only its annotations are others."""
    bench = Bench.of(each)
    bench.router.put(node("n"))
    assumed = bench.tried(named("assumed")).pod
    assert bench.router.engine.assume(assumed, "n") is None
    bench.router.put(named("assumed", metadata={"annotations": {"a": "1"}}))
    assert bench.parts == (0, 0, 0)
    bench.router.put(named("assumed", labels={"a": "1"}))
    assert (bench.parts == (0, 0, 0)) is is_new


@pytest.mark.parametrize("release", ["1.30", "1.31", "1.32", "1.36"])
def test_a_smaller_pod(release):
    """In 1.31 alone it wakes pods that wait for changed labels."""
    bench = Bench.of(release)
    bench.router.put(node("n"))
    bench.router.put(named("big", on="n", labels={"app": "a"}, requests={"cpu": "2"}))
    spread = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "b"}}}
    bench.failed(
        named("p", topologySpreadConstraints=[{**spread, "whenUnsatisfiable": "DoNotSchedule"}]),
        frozenset({"PodTopologySpread"}),
    )
    bench.router.put(named("big", on="n", labels={"app": "a"}, requests={"cpu": "1"}))
    assert (bench.parts[2] == 0) is (release == "1.31")


@pytest.mark.parametrize("memory, wakes", [("1Gi", True), ("4Gi", False)])
def test_a_pod_whose_resize_is_over(memory, wakes):
    """A finished resize frees room if the pod's status has less than before, whatever its spec requests."""
    bench = Bench.of("1.36")
    bench.router.put(node("n"))
    held = {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "4Gi"}}}

    def resized(amount):
        status = {**held, "allocatedResources": {"cpu": "1", "memory": amount}}
        status["resources"] = {"requests": status["allocatedResources"]}
        return named(
            "big", on="n", requests={"cpu": "1", "memory": "1Gi"}, status={"containerStatuses": [status]}
        )

    bench.router.put(resized("4Gi"))
    bench.failed(named("p", requests={"memory": "2Gi"}))
    bench.router.put(resized(memory))
    assert (bench.parts[2] == 0) is wakes


@since("1.28", first="1.27")
def test_gated_pods_stay(each, is_new):
    """From 1.28 on events do not wake pods with scheduling gates, so their plugin is not asked."""
    bench = Bench.of(each)
    asked = []
    bench.router.put(named("p", schedulingGates=[{"name": "quota"}]))
    held_by = bench.queue.held_by

    def ask(one):
        asked.append(one.name)
        return held_by(one)

    bench.queue.held_by = ask
    bench.router.put(node("a"))
    bench.queue.move_all()
    assert (not asked) is is_new


def test_gates_without_their_feature():
    """Where the feature gate is off the plugin, which a profile can enable all the same, holds no pod."""
    gated = named("p", schedulingGates=[{"name": "quota"}])
    off, on = (
        SchedulingGates(None, handle("1.26", PodSchedulingReadiness=is_on)).pre_enqueue(gated)
        for is_on in (False, True)
    )
    assert (off, on) == (None, unresolvable("waiting for scheduling gates: [quota]"))


@since("1.31", first="1.27")
def test_gates_that_end(each, is_new):
    """A pod whose gates are removed becomes active; with hints that is an event for its plugin."""
    bench = Bench.of(
        each, **({"SchedulerQueueingHints": True} if each in ("1.28", "1.29", "1.30", "1.31") else {})
    )
    bench.router.put(named("p", schedulingGates=[{"name": "quota"}]))
    assert bench.parts == (0, 0, 1)
    bench.router.put(named("p"))
    assert bench.parts == (1, 0, 0)


def test_events_are_forgotten():
    """An event is kept as long as a pod is tried that was taken out before it."""
    bench = Bench.of("1.34")
    first = bench.tried(named("a"))
    bench.router.put(node("n"))
    second = bench.tried(named("b"))
    bench.router.put(node("m"))
    flights = bench.queue._flights
    assert (len(flights.since(first.pod.uid) or ()), len(flights.since(second.pod.uid) or ())) == (2, 1)
    bench.queue.done(first.pod)
    assert (flights.since(first.pod.uid), len(flights._events), len(flights.since(second.pod.uid) or ())) == (
        None,
        1,
        1,
    )
    bench.queue.done(second.pod)
    assert flights._events == []


def test_an_update_while_a_pod_is_tried():
    """With hints such a pod does not enter the queue a second time; the update counts when its attempt
    fails."""
    bench = Bench.of("1.34")
    item = bench.tried(named("p"))
    bench.router.put(named("p", tolerations=[{"operator": "Exists"}]))
    assert bench.parts == (0, 0, 0)
    bench.fail(item, frozenset({"TaintToleration"}))
    assert bench.parts == (0, 1, 0)


@pytest.mark.parametrize("pops_early", [False, True])
def test_two_changes_at_once(pops_early):
    """A parked pod whose first change lets it back off, while the second one does not help it, is in both
    places, but where pods are popped early."""
    bench = Bench.of("1.36", SchedulerPopFromBackoffQ=pops_early)
    spread = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a"}}}
    wanted = {"topologySpreadConstraints": [{**spread, "whenUnsatisfiable": "DoNotSchedule"}]}
    bench.failed(named("p", requests={"cpu": "2"}, **wanted), frozenset({"PodTopologySpread"}))
    bench.router.put(named("p", labels={"app": "a"}, requests={"cpu": "1"}, **wanted))
    assert bench.parts == ((0, 1, 0) if pops_early else (0, 1, 1))


def test_a_pod_whose_victims_are_deleted():
    """A pod whose victims are being deleted is gated meanwhile, and a later event frees it."""
    bench = Bench.of("1.34")
    victim = named("victim", on="n")
    for item in (node("n"), victim, named("other", on="n")):
        bench.router.put(item)
    waiting = bench.failed(named("p", requests={"cpu": "1"}))
    bench.queue.hold_back(waiting.pod, True)
    bench.router.delete(victim)
    assert (bench.parts, waiting.holder) == ((0, 0, 1), "DefaultPreemption")
    bench.queue.hold_back(waiting.pod, False)
    bench.router.delete(named("other"))
    assert bench.parts[2] == 0


@since("1.35", first="1.33")
def test_gates_are_asked_once(each, is_new):
    """A pod that backs off and is to be tried at once is not asked for its gates again."""
    bench = Bench.of(each)
    waiting = bench.failed(named("p"))
    bench.router.put(node("n"))
    assert bench.parts == (0, 1, 0)
    bench.queue.hold_back(waiting.pod, True)
    bench.queue.activate([waiting.pod])
    assert bench.parts[0] == is_new


@since("1.32")
def test_labels(each, is_new):
    """From 1.32 on labels name the kind and the change in full."""
    bench = Bench.of(each)
    bench.failed(named("p"))
    bench.router.put(node("n"))
    bench.clock.now = nanoseconds(20.0)
    bench.queue.tick()
    labels = [event for _, event in bench.incoming]
    assert labels[:2] == ["UnschedulablePodAdd" if is_new else "PodAdd", "ScheduleAttemptFailure"]
    assert labels[2] == "NodeAdd"


def waits(release, plugin, **gates):
    """Kind -> what a plugin waits for."""
    engine = engine_for(release, {"featureGates": gates} if gates else {})
    cells = engine.algorithm.release.queueing
    gives_hints = engine.algorithm.enabled("SchedulerQueueingHints")
    found = Registrations(engine.flow.profiles, cells, gives_hints)._events_by_profile["default-scheduler"][
        plugin
    ]
    kinds = {}
    for event in found:
        kinds[event.resource] = kinds.get(event.resource, Action(0)) | event.action
    return kinds


A = Action
WAITS = {
    ("1.27", "NodeName"): {"Node": A.ADD | A.UPDATE},
    ("1.32", "NodeName"): {"Node": A.ADD | A.UPDATE_NODE_TAINT},
    ("1.30", "InterPodAffinity"): {"Pod": A.ALL, "Node": A.ADD | A.UPDATE_NODE_LABEL | A.UPDATE_NODE_TAINT},
    ("1.34", "InterPodAffinity"): {
        "Pod": A.ADD | A.UPDATE_POD_LABEL | A.DELETE,
        "Node": A.ADD | A.UPDATE_NODE_LABEL | A.UPDATE_NODE_TAINT,
    },
    ("1.29", "NodeUnschedulable"): {"Node": A.ADD | A.UPDATE_NODE_TAINT},
    ("1.31", "NodeUnschedulable"): {"Node": A.ADD | A.UPDATE},
    ("1.34", "NodeUnschedulable"): {"Node": A.ADD | A.UPDATE_NODE_TAINT, "Pod": A.UPDATE_POD_TOLERATION},
    ("1.32", "NodeResourcesFit"): {
        "Pod": A.DELETE,
        "Node": A.ADD | A.UPDATE_NODE_ALLOCATABLE | A.UPDATE_NODE_TAINT,
    },
    ("1.33", "NodeResourcesFit"): {
        "Pod": A.DELETE | A.UPDATE_POD_SCALE_DOWN,
        "Node": A.ADD | A.UPDATE_NODE_ALLOCATABLE | A.UPDATE_NODE_TAINT,
    },
    ("1.29", "NodeVolumeLimits"): {"CSINode": A.ADD, "Pod": A.DELETE},
    ("1.34", "NodeVolumeLimits"): {
        "CSINode": A.ADD | A.UPDATE,
        "Pod": A.DELETE,
        "PersistentVolumeClaim": A.ADD,
        "VolumeAttachment": A.DELETE,
    },
    ("1.30", "SchedulingGates"): {},
    ("1.34", "SchedulingGates"): {"Pod": A.UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
    ("1.34", "DefaultPreemption"): {"Pod": A.DELETE},
    ("1.34", "ImageLocality"): {},
}


@pytest.mark.parametrize("release, plugin", WAITS)
def test_what_plugins_wait_for(release, plugin):
    """Events by release, with changed taints added where a plugin waits for new nodes."""
    assert waits(release, plugin) == WAITS[release, plugin]


def test_without_hints():
    """Without hints plugins wait for changed taints and labels too, and gated pods for nothing."""
    gates = {"SchedulerQueueingHints": False}
    assert waits("1.32", "NodeName", **gates) == {"Node": A.ADD | A.UPDATE_NODE_TAINT | A.UPDATE_NODE_LABEL}
    assert waits("1.32", "SchedulingGates", **gates) == {}


@since("1.33")
def test_moved_as_a_backoff_ends(each, is_new):
    """From 1.33 on the end of a backoff belongs to it."""
    bench = Bench.of(each)
    bench.clock.now = nanoseconds(0.5)
    bench.failed(named("p"))
    bench.clock.now = nanoseconds(1.5)
    bench.queue.move_all()
    assert bench.parts == ((0, 1, 0) if is_new else (1, 0, 0))
