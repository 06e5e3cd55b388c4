"""What other components see of a pod that makes room, is evicted, or waits for its volumes: conditions,
nominations and events of each release."""

import asyncio

import attrs
import pytest
import yaml

from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from tests.apiserver import NEWEST_SERVER, NO_FAULT, pod_manifest, refused
from tests.live.scheduler.worlds import World, at

CLASS = yaml.safe_load("""
    metadata: {name: late}
    provisioner: example.com/disks
    volumeBindingMode: WaitForFirstConsumer
    """)
CLAIM = yaml.safe_load("""
    metadata: {name: data, namespace: default}
    spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
    """)
VOLUMES = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
SENTENCE = "default-scheduler: preempting to accommodate a higher priority pod"


async def evicted(release, faults=lambda request: NO_FAULT):
    """The victim, the pod that makes room, the texts of the events about them, and warnings."""
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="1")
        replica = site.start(leader_elect="false", faults=faults)
        site.user.create("priorityclasses", {"metadata": {"name": "high"}, "value": 10})
        for name, more in (("low", {}), ("urgent", {"priorityClassName": "high"})):
            form = pod_manifest(name, cpu="1", **more)
            site.user.create("pods", {**form, "metadata": {**form["metadata"], "generation": 1}})
            await asyncio.sleep(5.0)
        pods = site.store.storage.of("pods")
        texts = {event["reason"]: event["message"] for event in site.store.storage.of("events").values()}
        return pods["default", "low"], pods["default", "urgent"], texts, replica.warned


def condition(pod, kind):
    """A condition of a pod, without its times."""
    found = [one for one in pod["status"].get("conditions", ()) if one["type"] == kind]
    return {name: part for one in found for name, part in one.items() if not name.endswith("Time")}


@pytest.mark.parametrize(
    "release, reason, by",
    [
        ("1.23", "", "default/urgent"),
        ("1.24", "", "a pod"),
        ("1.26", "PreemptionByKubeScheduler", "a pod"),
        ("1.28", "PreemptionByScheduler", "a pod"),
        ("1.29", "PreemptionByScheduler", "pod {uid}"),
        ("1.34", "PreemptionByScheduler", "pod {uid}"),
        ("1.36", "PreemptionByScheduler", "pod {uid}"),
    ],
)
async def test_victims_say_why_they_leave(release, reason, by):
    """A victim has a condition from 1.26 on, and the event names the preemptor as the release does."""
    low, urgent, texts, _ = await evicted(release)
    found = condition(low, "DisruptionTarget")
    assert (found.get("reason", ""), found.get("message")) == (reason, SENTENCE if reason else None)
    assert texts["Preempted"] == f"Preempted by {by.format(uid=urgent['metadata']['uid'])} on node node-0"


@pytest.mark.parametrize("release, noted", [("1.33", None), ("1.34", 1), ("1.36", 1)])
async def test_conditions_note_the_generation(release, noted):
    """From 1.34 on conditions say which generation of the pod they are about."""
    low, urgent, *_ = await evicted(release)
    assert condition(low, "DisruptionTarget").get("observedGeneration") == noted
    assert condition(urgent, "PodScheduled").get("observedGeneration") == noted


@pytest.mark.parametrize(
    "release, method, fails",
    [
        ("1.31", "DELETE", True),
        ("1.32", "DELETE", False),
        ("1.33", "PATCH", True),
        ("1.34", "PATCH", False),
        ("1.36", "PATCH", False),
    ],
)
async def test_a_victim_that_is_gone_is_no_error(release, method, fails):
    """From 1.32 on it is no error if a victim went before it was deleted, from 1.34 on before it was marked.

    It gets no event. In 1.34 the pod is then tried again at once, as after an error from 1.33 on.
    """
    asked = []

    def gone(request):
        leaves = request.method == method and "/pods/low" in request.path
        asked.extend([request] if leaves else [])
        return refused(404, "NotFound", 'pods "low" not found') if leaves else NO_FAULT

    *_, texts, warned = await evicted(release, gone)
    assert ('preemption: pods "low" not found' in f"{texts['FailedScheduling']} {warned}") == fails
    assert "Preempted" not in texts
    assert (len(asked) > 4) == (release in ("1.33", "1.34"))


@pytest.mark.parametrize("release, asked", [("1.25", 1), ("1.26", 2), ("1.35", 2), ("1.36", 1)])
async def test_the_last_victim_stays_after_an_error(release, asked):
    """Where a victim cannot be deleted, 1.36 spares the last one; up to 1.25 they leave one after another."""
    refusal = attrs.evolve(refused(403), delay=1.0)
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="2")
        replica = site.start(
            leader_elect="false", faults=lambda request: refusal if request.method == "DELETE" else NO_FAULT
        )
        for number, (name, cpu) in enumerate({"low": "1", "high": "1", "urgent": "2"}.items()):
            site.user.create("priorityclasses", {"metadata": {"name": name}, "value": number})
            site.add_pod(name, cpu=cpu, priorityClassName=name)
            await asyncio.sleep(5.0)
        paths = {request.path for request in replica.transport.requests if request.method == "DELETE"}
        assert len(paths) == asked


@pytest.mark.parametrize(
    "release, asked",
    [
        ("1.17", "GET PUT status GET PUT status DELETE"),
        ("1.18", "GET PUT status DELETE GET PUT status"),
        ("1.19", "DELETE PATCH status"),
    ],
)
async def test_room_is_made_as_the_release_does(release, asked):
    """1.17 writes statuses whole, before preemption; 1.18 does so after it, later releases patch."""
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="1")
        site.add_pod("low", cpu="1")
        replica = site.start(leader_elect="false")
        await asyncio.sleep(5.0)
        site.add_pod("urgent", cpu="1", priorityClassName="system-node-critical")
        await asyncio.sleep(0.2)
        requests = [request for request in replica.transport.requests if "binding" not in request.path]
    paths = {f"/api/v1/namespaces/default/pods/{name}" for name in ("urgent", "urgent/status", "low")}
    words = [
        f"{request.method}{' status' * request.path.endswith('/status')}"
        for request in requests
        if request.path in paths
    ]
    assert " ".join(words).startswith(asked)


@pytest.mark.parametrize(
    "release, text",
    [
        ("1.26", "1 Insufficient cpu."),
        ("1.27", "1 Insufficient cpu. preemption: made up."),
        ("1.29", "1 Insufficient cpu. preemption: made up"),
    ],
)
async def test_an_error_of_preemption_is_told_as_the_release_does(release, text):
    """The event of the pod, where a victim cannot be deleted."""
    *_, texts, _ = await evicted(
        release, lambda request: refused(403) if request.method == "DELETE" else NO_FAULT
    )
    assert texts["FailedScheduling"] == f"0/1 nodes are available: {text}"


@pytest.mark.parametrize("release, stays", [("1.22", True), ("1.23", False)])
async def test_a_failed_binding_ends_a_nomination(release, stays):
    """From 1.23 on it does."""
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="1")
        site.start(
            leader_elect="false",
            faults=lambda request: refused(403) if request.path.endswith("/urgent/binding") else NO_FAULT,
        )
        for name, more in (("low", {}), ("urgent", {"priorityClassName": "system-node-critical"})):
            site.add_pod(name, cpu="1", **more)
            await asyncio.sleep(5.0)
        site.drop_pod("low")
        await asyncio.sleep(15.0)
        status = site.store.storage.of("pods")["default", "urgent"]["status"]
    assert "made up" in next(one["message"] for one in status["conditions"])
    assert ("nominatedNodeName" in status) == stays


@pytest.mark.parametrize("release, tries", [("1.24", 1), ("1.25", 4)])
async def test_how_often_a_status_is_sent(release, tries):
    """From 1.25 on four times, while the server fails."""
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="1")
        replica = site.start(
            leader_elect="false",
            faults=lambda request: refused(500) if request.path.endswith("/p/status") else NO_FAULT,
        )
        site.add_pod("p", cpu="2")
        await asyncio.sleep(1.0)
    assert replica.called("PATCH", "/p/status") == tries


LATE = "context deadline exceeded"


@pytest.mark.parametrize(
    "release, seconds, text, waits, afterwards",
    [
        ("1.28", 20, "timed out waiting for the condition", None, None),
        ("1.28", 0, "", None, None),
        ("1.29", 0, LATE, None, None),
        ("1.34", 20, LATE, None, None),
        ("1.35", 20, LATE, "node-0", "node-0"),
        ("1.36", 20, LATE, "node-0", None),
    ],
)
async def test_a_pod_waits_for_its_volumes(release, seconds, text, waits, afterwards):
    """The profile says for how long, 0 up to 1.28 for ever; from 1.35 on the pod is nominated meanwhile, and
    1.36 ends that."""
    args = {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": seconds}}
    config = {"profiles": [{"pluginConfig": [args]}]}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    engine = SchedulerSpec.of(options_of({"release": release, "config": {**head, **config}})).engine()
    world = World(release, flavour=NEWEST_SERVER)
    world.add_node("node-0")
    for plural, form in (("storageclasses", CLASS), ("persistentvolumeclaims", CLAIM)):
        world.user.create(plural, form)
    world.schedule(engine=engine)
    world.add_pod("p", volumes=VOLUMES)
    await asyncio.sleep(19.0 if seconds else 0.01)
    told = world.events.told

    def nomination():
        return world.store.storage.of("pods")["default", "p"]["status"].get("nominatedNodeName")

    assert nomination() == waits
    assert seconds == 0 or told == []
    await asyncio.sleep(2.5 if text else 900.0)
    assert [f"binding volumes: {text}" in told[0].text] == [True] if text else told == []
    assert nomination() == afterwards
    await world.stop()


@pytest.mark.parametrize(
    "release, said",
    [
        ("1.16", "Binding rejected: {}"),
        ("1.17", "Binding rejected: {}"),
        ("1.18", 'Binding rejected: plugin "DefaultBinder" failed to bind pod "default/p": {}'),
        ("1.19", 'Binding rejected: plugin "DefaultBinder" failed to bind pod "default/p": {}'),
        ("1.22", 'binding rejected: running Bind plugin "DefaultBinder": {}'),
        ("1.28", 'running Bind plugin "DefaultBinder": {}'),
    ],
)
async def test_a_refused_binding_is_told_as_the_release_does(release, said):
    """The event of a binding that the server refused."""
    site = World(release, lambda request: refused(409) if "/binding" in request.path else NO_FAULT)
    site.add_node("node-0")
    site.add_pod("p")
    site.schedule()
    await asyncio.sleep(0.5)
    assert site.events.told[0].text == said.format("made up")
    (condition,) = site.store.storage.of("pods")["default", "p"]["status"]["conditions"]
    is_first = release in ("1.16", "1.17", "1.18")
    assert condition["message"] == said.format("made up").removeprefix("Binding rejected: " * is_first)
    await site.stop()


@pytest.mark.parametrize("release, stays", [("1.35", False), ("1.36", True)])
async def test_a_victim_that_waits_for_its_volumes(release, stays):
    """Up to 1.35 it is deleted; 1.36 ends its binding, and tries it again."""
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="1")
        for plural, form in (("storageclasses", CLASS), ("persistentvolumeclaims", CLAIM)):
            site.user.create(plural, form)
        site.start(leader_elect="false")
        site.add_pod("low", cpu="1", volumes=VOLUMES)
        await asyncio.sleep(5.0)
        site.user.create("priorityclasses", {"metadata": {"name": "high"}, "value": 10})
        site.add_pod("urgent", cpu="1", priorityClassName="high")
        await asyncio.sleep(10.0)
        events = [event["message"] for event in site.store.storage.of("events").values()]
        assert site.hosts == {"urgent": "node-0", **({"low": ""} if stays else {})}
        assert any(text.endswith("on node node-0 (in kube-scheduler memory).") for text in events) == stays
