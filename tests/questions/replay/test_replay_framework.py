"""Replays with the framework: its queue and its event hints over time, gates, profiles, preemption, and a
user's plugins step by step."""

import pytest
import yaml

from kubeclassic.framework.plugin import Plugin, error, unschedulable
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK
from kubeclassic.questions.replay.inputs import DELETE, UPDATE
from tests.support.build import manifest, node, obj, owned_by
from tests.support.frameworkbuild import binding_methods, disabled, enabled, scheduler
from tests.support.replaybuild import asking, at, of_engine, of_event, played, replay, there, told

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
GATES = [{"name": "quota"}]


def newer(*events, **more):
    """A replay of the framework's release."""
    return replay(*events, release=DEFAULT_FRAMEWORK, **more)


def attempts(made, records, name):
    """The number of tries of a pod."""
    key = f"default/{name}"
    scheduled = [record["attempts"] for record in of_event(records, "Scheduled") if record["pod"] == key]
    return scheduled[0] if scheduled else made.pods.all[key].attempts


def test_only_what_may_help_brings_a_pod_back():
    """A pod that failed on a taint is not tried when others come and go, but at once when the taint does."""
    events = [
        *there(node("a", taints=[TAINT]), node("b", cpu="1")),
        at(0, asking("running"), runs=50),
        at(10, asking("other"), runs=20),
        at(5, asking("wants-a", nodeSelector={"disk": "ssd"})),
        at(100, node("a", labels={"disk": "ssd"}), UPDATE),
    ]
    made = newer(*sorted(events, key=lambda event: event.time))
    records = played(made)
    assert told(records, "Finished") == [(50, "default/running"), (70, "default/other")]
    assert (100, "default/wants-a") in told(records, "Scheduled")
    assert attempts(made, records, "wants-a") == 2


def test_after_five_minutes_everybody_is_tried():
    """A pod that nothing brings back is tried every five minutes, give or take the half minute between
    two looks."""
    made = newer(*there(node("a", taints=[TAINT])), at(1, asking("one")), at(1000, asking("late", cpu="9")))
    times = []
    while (turn := made.next_pod()) is not None:
        times += [made.now] if turn.name == "one" else []
        made.conclude(made.decide(turn))
    assert times[:4] == [1, 330, 660, 990]


def test_a_pod_that_is_gated():
    """A gated pod is recorded as gated when it arrives, never tried, and does not keep a replay from
    ending."""
    made = newer(
        *there(node("a")), at(1, asking("held", schedulingGates=GATES)), at(2, asking("one"), runs=1000)
    )
    records = played(made)
    assert of_event(records, "Arrived") == [
        {"time": 1, "event": "Arrived", "pod": "default/held", "gated": True},
        {"time": 2, "event": "Arrived", "pod": "default/one"},
    ]
    assert (attempts(made, records, "held"), made.cluster.ledger.waiting_pods, made.now) == (0, 1, 1002)


def test_its_gates_go():
    """An update without gates lets it be tried at once."""
    made = newer(
        *there(node("a")), at(1, asking("held", schedulingGates=GATES)), at(500, asking("held"), UPDATE)
    )
    assert told(played(made), "Scheduled") == [(500, "default/held")]


# --- Preemption ---------------------------------------------------------------------------------------------


def test_victims_that_take_their_time():
    """While its victims leave, the preemptor is nominated, does not preempt again, and then gets the
    node."""
    made = newer(
        *there(node("a", cpu="2"), node("b", cpu="2")),
        *(at(0, asking(f"low-{i}", cpu="2")) for i in range(2)),
        at(5, asking("high", cpu="2", priority=9)),
        # Something that brings the preemptor back while its victim is still there.
        at(20, node("c", cpu="1")),
        termination=60.0,
    )
    records = played(made)
    (preempting,) = of_event(records, "Preempting")
    assert (preempting["time"], len(preempting["victims"])) == (5, 1)
    assert told(records, "Scheduled")[2:] == [(65, "default/high")]


def test_a_victim_says_why():
    """With gate PodDisruptionConditions, which is on, a victim that is leaving bears the condition."""
    pods = [at(0, asking("low", cpu="2")), at(5, asking("high", cpu="2", priority=9))]
    made = newer(*there(node("a", cpu="2")), *pods, termination=60.0)
    while made.step() and made.now < 30:
        pass
    victim = made.cluster.pod("default/low")
    assert [(c.type, c.status, c.reason) for c in victim.status.conditions] == [
        ("DisruptionTarget", "True", "PreemptionByScheduler")
    ]


@pytest.mark.parametrize(
    "plugins, reason",
    [({}, "Unschedulable"), ({"preFilter": disabled("NodeResourcesFit")}, "SchedulerError")],
)
def test_a_nomination_that_helps_no_more(plugins, reason):
    """Where nothing can be done for a nominated pod any more, or its cycle fails, its nomination ends, in
    its status too."""
    nominated = asking("high", cpu="2", priority=9, status={"nominatedNodeName": "a"})
    made = of_engine(scheduler(profile={"plugins": plugins}), *there(node("a", cpu="1")), at(1, nominated))
    played(made)
    left = made.cluster.pod("default/high")
    assert (left.status.nominated_node_name, bool(made.engine.nominations)) == ("", False)
    assert [(c.reason, "PreFilterNodeResourcesFit" in c.message) for c in left.status.conditions] == [
        (reason, bool(plugins))
    ]


class Steps(Plugin):
    """Notes when it has its turn, with what an earlier turn left in the cycle, and can refuse."""

    name = "Steps"
    clock = None

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.seen = []
        self.answers = {}
        self.tokens = set()

    def _turn(self, point, cycle):
        self.seen.append((self.clock.seconds, point))
        self.tokens.add(cycle.notes.get(self.name))
        waiting = self.answers.get(point)
        return waiting.pop(0) if waiting else None

    def pre_filter(self, pod, cycle):
        """Leave something in the cycle."""
        cycle.notes[self.name] = cycle.pod.name
        return

    reserve, unreserve, permit, pre_bind, bind, post_bind = binding_methods(_turn)


def with_steps(*events, first=False, release="1.27", **delays):
    """A replay with the plugin, which binds before the default one does; *first*: it stands before all others
    at PreBind too."""
    points = {"multiPoint": enabled("Steps"), "bind": enabled("Steps", "DefaultBinder")} | (
        {"preBind": enabled("Steps")} if first else {}
    )
    engine = scheduler(profile={"plugins": points}, plugins=(Steps,), release=release)
    made = of_engine(engine, *events, **delays)
    (profile,) = engine.flow.profiles.values()
    plugin = profile.plugins()["Steps"]
    assert isinstance(plugin, Steps)
    Steps.clock = made.cluster.clock
    return made, plugin


CLASS = manifest(
    "StorageClass", "late", provisioner="example.com/disk", volumeBindingMode="WaitForFirstConsumer"
)
CLAIM_SPEC = yaml.safe_load("""
storageClassName: late
accessModes: [ReadWriteOnce]
resources:
  requests: {storage: 1Gi}
""")


def claim(name, owner=""):
    """A claim, made for a pod where that is said."""
    owners = owned_by("Pod", owner, f"default/{owner}") if owner else {}
    return obj(manifest("PersistentVolumeClaim", name, namespace="default", metadata=owners, spec=CLAIM_SPEC))


USING = asking("one", volumes=yaml.safe_load("[{name: v, persistentVolumeClaim: {claimName: data}}]"))
DELAYED = (*there(node("a"), obj(CLASS), claim("data")), at(1, USING))


# --- Steps of APlugin ---------------------------------------------------------------------------------------


EVENTS = (*there(node("a", cpu="1")), at(1, asking("one"), runs=100))


@pytest.mark.parametrize("release", ["1.27", "1.34"])
def test_each_at_its_time(release):
    """Reserve and Permit belong to the decision; PreBind, Bind and PostBind come with the binding, in the
    same cycle's state."""
    made, plugin = with_steps(*EVENTS, binding=5.0, release=release)
    records = played(made)
    assert plugin.seen == [(1, "reserve"), (1, "permit"), (6, "pre_bind"), (6, "bind"), (6, "post_bind")]
    assert plugin.tokens == {"one"}
    assert told(records, "Bound") == [(6, "default/one")]
    assert not made.cluster.queue._flights._starts, "events are kept for a pod that is bound"


def test_two_pods_at_once():
    """Each pod's steps see what its own cycle left, though another pod's cycle came between."""
    made, plugin = with_steps(*there(node("a")), at(1, asking("one")), at(2, asking("two")), binding=5.0)
    played(made)
    assert [point for _, point in plugin.seen] == [
        "reserve",
        "permit",
        "reserve",
        "permit",
        "pre_bind",
        "bind",
        "post_bind",
        "pre_bind",
        "bind",
        "post_bind",
    ]
    assert plugin.tokens == {"one", "two"}


@pytest.mark.parametrize("first", [False, True])
def test_volumes_between(first):
    """Where claims get their volumes at PreBind, plugins that stand before VolumeBinding have their turn
    before the wait."""
    made, plugin = with_steps(*DELAYED, first=first, binding=5.0, provisioning=7.0)
    records = played(made)
    assert told(records, "Bound") == [(13, "default/one")]
    assert {point: time for time, point in plugin.seen}["pre_bind"] == (6 if first else 13)


def test_a_refusal_before_the_volumes():
    """A plugin that refuses before VolumeBinding has its turn leaves the claims as they were."""
    made, plugin = with_steps(*DELAYED, first=True, binding=5.0)
    plugin.answers["pre_bind"] = [unschedulable("never")] * 99
    assert told(played(made), "VolumeProvisioned") == []
    assert plugin.seen[2:4] == [(6, "pre_bind"), (6, "unreserve")]


@pytest.mark.parametrize("point", ["permit", "pre_bind", "bind"])
def test_a_refusal_is_undone(point):
    """A pod that is turned down on its way is given back, and waits until something happens."""
    made, plugin = with_steps(*EVENTS, at(50, node("b")), binding=5.0)
    plugin.answers[point] = [unschedulable(f"no at {point}")]
    records = played(made)
    failed = of_event(records, "FailedScheduling")[0]
    assert (failed["message"], failed["time"]) == (f"no at {point}", 1 if point == "permit" else 6)
    assert [name for _, name in plugin.seen].count("unreserve") == 1
    assert told(records, "Bound")[0][0] == 55


@pytest.mark.parametrize("point, seconds", [("reserve", 1), ("permit", 1), ("pre_bind", 6), ("bind", 6)])
def test_what_goes_wrong_is_tried_again(point, seconds):
    """After an error on the way of the binding the pod backs off and is tried again by itself; before, it
    waits for any event."""
    made, plugin = with_steps(*EVENTS, at(50, node("b")), binding=5.0)
    plugin.answers[point] = [error("broken")]
    records = played(made)
    failed = of_event(records, "FailedScheduling")[0]
    shown = {"reserve": "Reserve", "permit": "Permit", "pre_bind": "PreBind", "bind": "Bind"}[point]
    assert (failed["message"], failed["time"]) == (f'running {shown} plugin "Steps": broken', seconds)
    again = told(records, "Scheduled")[-1][0]
    assert again == 50 if seconds == 1 else seconds < again <= seconds + 2


def test_room_that_is_given_back():
    """A pod that lacked the room which another had reserved in vain is tried when that is given back."""
    made, plugin = with_steps(
        *there(node("a", cpu="1")), at(1, asking("one")), at(2, asking("two"), runs=5), binding=5.0
    )
    plugin.answers["bind"] = [unschedulable("no")]
    assert told(played(made), "Scheduled")[:2] == [(1, "default/one"), (6, "default/two")]


def test_a_pod_that_goes_meanwhile():
    """A pod that is deleted while it is being bound is given back too."""
    made, plugin = with_steps(
        *EVENTS[:2], at(3, asking("one"), DELETE), at(4, asking("two"), runs=1), binding=5.0
    )
    records = played(made)
    assert plugin.seen[2] == (3, "unreserve")
    assert (4, "default/two") in told(records, "Scheduled")


# --- Volumes ------------------------------------------------------------------------------------------------


def scratch(**spec):
    """A pod with a generic ephemeral volume; *spec*: of its claim, besides what it asks for."""
    template = {"spec": CLAIM_SPEC | spec}
    return asking("db", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}])


def test_a_generic_ephemeral_volume():
    """A claim is made for a pod's ephemeral volume, gets its volume with the pod, and goes with it, as
    does the volume."""
    made = newer(
        *there(node("a"), obj(CLASS)),
        at(1, scratch(), runs=50),
        at(3, claim("db-scratch", owner="db")),
        provisioning=7.0,
    )
    records = played(made)
    assert told(records, "Scheduled") == [(1, "default/db")]
    assert told(records, "VolumeProvisioned") == [(8, "a")]
    assert told(records, "Bound") == [(8, "default/db")]
    assert told(records, "Finished") == [(58, "default/db")]
    assert (len(made.engine.listings.claims), len(made.engine.listings.volumes)) == (0, 0)


def test_the_default_class():
    """A template without a class gets the default one."""
    marked = CLASS | yaml.safe_load("""
        metadata:
          name: late
          annotations: {storageclass.kubernetes.io/is-default-class: 'true'}
        """)
    made = newer(*there(node("a"), obj(marked)), at(1, scratch(storageClassName=None)))
    played(made)
    (found,) = made.engine.listings.claims
    assert (found.spec.storage_class_name, found.spec.volume_name) == ("late", "pvc-default-db-scratch")


def test_a_claim_of_the_name_that_is_there():
    """A claim that was not made for the pod stays, and keeps the pod waiting."""
    made = newer(*there(node("a"), obj(CLASS), claim("db-scratch")), at(1, scratch()))
    (failed,) = of_event(played(made), "FailedScheduling")
    assert "PVC default/db-scratch was not created for pod default/db (pod is not owner)" in failed["message"]
    assert len(made.engine.listings.claims) == 1


def test_older_releases_know_no_such_volumes():
    """Older releases make no claims for ephemeral volumes, and bind the pod without them."""
    made = replay(*there(node("a"), obj(CLASS)), at(1, scratch()))
    assert told(played(made), "Bound") == [(1, "default/db")]
    assert len(made.engine.listings.claims) == 0


def test_without_volume_binding():
    """A profile without VolumeBinding binds pods whatever their claims lack."""
    engine = scheduler(profile={"plugins": {"multiPoint": disabled("VolumeBinding")}})
    records = played(of_engine(engine, *DELAYED))
    assert told(records, "Bound") == [(1, "default/one")]
    assert told(records, "VolumeProvisioned") == []
