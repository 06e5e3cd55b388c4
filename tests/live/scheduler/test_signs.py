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


@pytest.mark.parametrize("release, fails", [("1.34", True), ("1.35", False)])
async def test_a_victim_that_is_gone_is_no_error(release, fails):
    """From 1.35 on it is no error if a victim went by itself; it gets no event."""

    def gone(request):
        leaves = request.method == "PATCH" and request.path.endswith("/pods/low/status")
        return refused(404, "NotFound", 'pods "low" not found') if leaves else NO_FAULT

    *_, texts, warned = await evicted(release, gone)
    assert ('pod default/urgent: preemption: pods "low" not found' in warned) == fails
    assert "Preempted" not in texts


@pytest.mark.parametrize("release, asked", [("1.34", 2), ("1.35", 1)])
async def test_the_last_victim_stays_after_an_error(release, asked):
    """From 1.35 on the last victim is not deleted in vain, where another one cannot be."""
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
    "release, waits, afterwards",
    [("1.34", None, None), ("1.35", "node-0", "node-0"), ("1.36", "node-0", None)],
)
async def test_a_pod_waits_for_its_volumes(release, waits, afterwards):
    """The profile says for how long; from 1.35 on the pod is nominated meanwhile, and 1.36 ends that."""
    config = yaml.safe_load("""
        profiles:
        - pluginConfig:
          - {name: VolumeBinding, args: {bindTimeoutSeconds: 20}}
        """)
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    engine = SchedulerSpec.of(options_of({"release": release, "config": {**head, **config}})).engine()
    world = World(release, flavour=NEWEST_SERVER)
    world.add_node("node-0")
    for plural, form in (("storageclasses", CLASS), ("persistentvolumeclaims", CLAIM)):
        world.user.create(plural, form)
    world.schedule(engine=engine)
    world.add_pod("p", volumes=VOLUMES)
    await asyncio.sleep(19.0)
    told = world.events.told

    def nomination():
        return world.store.storage.of("pods")["default", "p"]["status"].get("nominatedNodeName")

    assert (nomination(), told) == (waits, [])
    await asyncio.sleep(2.5)
    assert "binding volumes: timed out waiting for the condition" in told[0].text
    assert nomination() == afterwards
    await world.stop()


@pytest.mark.parametrize(
    "release, said",
    [
        ("1.16", "Binding rejected: {}"),
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
