"""What a shadow saw beside a real kube-scheduler, made again from a recording of that scheduler's writes, on
virtual time.

The recording has neither the objects nor the times at which they were made: nodes and pods come from the
generator of the harness that recorded it, pods of a burst at an even pace, none after the first write about
it. A stand-in for kubelets runs and ends pods soon after.
"""

import asyncio
import json
import random
from collections import deque
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from math import inf

import attrs

from kubeclassic.api.reading.decode import decode_kind
from kubeclassic.live.scheduler.events import Recorder
from kubeclassic.live.scheduler.shadow.shadow import Shadow
from kubeclassic.live.scheduler.state import DryApi, LiveState
from kubeclassic.simulation.conform import engine_for
from tests.live.scheduler.recorded import EPOCH
from tests.live.scheduler.recordedpace import exchanges
from tests.support.virtualtime import run_virtually

PRIORITIES = {"low": 100, "mid": 1000, "high": 10000, None: 0}
BURST = 50
PAUSE = 4.0
DECIDING = 0.2
"""Seconds between a decision that finds no node and the first write about it, on a busy machine."""
KUBELET = (0.01, 0.15)
"""Seconds after which a stand-in for a kubelet runs a pod, or ends one: at least, at most."""
STALL = (0.2, 0.8)
"""Seconds for which a busy machine keeps events from the shadow now and then: at least, at most."""
STALLS = 0.2
"""The share of the time in which it does."""


def cluster(nodes, pods):
    """The nodes and the pods of the harness, in the order in which they were made."""
    rand = random.Random(3)
    return [_node(number, rand) for number in range(nodes)], [
        _pod(number, pods, rand) for number in range(pods)
    ]


def _node(number, rand):
    name = f"n{number:03d}"
    zone = f"z{number % 3}"
    room = {
        "cpu": str(rand.choice([4, 6, 8])),
        "memory": rand.choice(["8Gi", "16Gi"]),
        "pods": "110",
        "ephemeral-storage": "100Gi",
    }
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": zone,
        "failure-domain.beta.kubernetes.io/zone": zone,
    }
    labels["disk"] = rand.choice(["ssd", "hdd"])
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": status,
    }


def _pod(number, pods, rand):
    kind = rand.randrange(10)
    priority = rand.choice(["low", "low", "low", "mid", "high", None])
    cpu = rand.choice(["500m", "700m", "1"] if number > pods * 0.5 else ["200m", "300m", "500m"])
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}},
    }
    labels = {"app": "anti" if kind == 0 else f"a{kind}"}
    metadata = {"name": f"s{number:04d}", "namespace": "default", "uid": f"uid-{number}", "labels": labels}
    spec = {
        "containers": [container],
        "priority": PRIORITIES[priority],
        "preemptionPolicy": "PreemptLowerPriority",
    }
    host = "kubernetes.io/hostname"
    zone = "failure-domain.beta.kubernetes.io/zone"
    if kind == 0:
        term = {"labelSelector": {"matchLabels": {"app": "anti"}}, "topologyKey": host}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == 1:
        spec["nodeSelector"] = {"disk": "ssd"}
    elif kind == 2:
        term = {"labelSelector": {"matchLabels": {"app": "a3"}}, "topologyKey": zone}
        weighed = {"weight": 50, "podAffinityTerm": term}
        spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [weighed]}}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def _seconds(text):
    return datetime.fromisoformat(text).timestamp()


@attrs.define(eq=False)
class ShadowReplay:
    """A shadow that is told what happened in the recording.

    A write took effect at some time between its request and its answer; *rand* says when, and what a busy
    machine did besides.
    """

    release: str
    writes: list
    tell: object
    rand: object
    config: dict = attrs.field(factory=dict)
    pods: dict = attrs.field(factory=dict)
    shadow: Shadow = attrs.field(init=False)
    _version: int = 1
    _seen: deque = attrs.field(factory=deque)
    """The events of the watch that the shadow has not yet got."""
    _until: float = 0.0

    def __attrs_post_init__(self):
        loop = asyncio.get_running_loop()
        state = LiveState(
            engine_for(self.release, self.config), DryApi(), Recorder(), lambda: EPOCH + loop.time()
        )
        self.shadow = Shadow(state, self.tell)

    async def play(self):
        """Play all of it, and 10 s more."""
        loop = asyncio.get_running_loop()
        (nodes, pods) = cluster(22, 400)
        for node in nodes:
            self.shadow.put(self._made(node))
        begin = _seconds(self.writes[0]["t"]) - 1.0
        for at, pod in zip(_came(self.writes), pods, strict=True):
            loop.call_at(at - begin, self._put, pod["metadata"]["name"], pod)
        for one in self.writes:
            sent = _seconds(one["t"])
            ended = _seconds(one["end"])
            loop.call_at(self.rand.uniform(sent, ended) - begin, self._written, one)
        with suppress(TimeoutError):
            async with asyncio.timeout(_seconds(self.writes[-1]["end"]) - begin + 10.0):
                await self.shadow.run()

    def _made(self, form):
        self._version += 1
        metadata = {**form["metadata"], "resourceVersion": str(self._version)}
        found = decode_kind(form["kind"], {**form, "metadata": metadata}, keeps_manifest=True)
        assert found is not None
        return found

    def _put(self, name, form):
        self.pods[name] = form
        self._watched(self.shadow.put, self._made(form))

    def _written(self, one):
        name = one["pod"]
        form = self.pods.get(one["pod"])
        if one["code"] >= 300 or form is None:
            return
        if one["sub"] == "binding":
            self._put(
                name,
                {
                    **form,
                    "spec": {**form["spec"], "nodeName": one.get("target") or one["body"]["target"]["name"]},
                },
            )
            asyncio.get_running_loop().call_later(self.rand.uniform(*KUBELET), self._runs, name)
        elif one["verb"] == "delete":
            self._put(
                name, {**form, "metadata": {**form["metadata"], "deletionTimestamp": one["end"][:19] + "Z"}}
            )
            asyncio.get_running_loop().call_later(self.rand.uniform(*KUBELET), self._ends, name)
        else:
            self._put(name, {**form, "status": _patched(form["status"], one)})

    def _runs(self, name):
        form = self.pods.get(name)
        if form is not None and form["status"].get("phase") == "Pending":
            started = datetime.fromtimestamp(1767225600 + int(name[1:])).strftime("%Y-%m-%dT%H:%M:%SZ")
            self._put(name, {**form, "status": {**form["status"], "phase": "Running", "startTime": started}})

    def _ends(self, name):
        form = self.pods.pop(name, None)
        if form is not None:
            self._watched(self.shadow.delete, self._made(form))

    def _watched(self, tell, item):
        """The watch has an event; the shadow is told at once, or after a stall, always in order."""
        loop = asyncio.get_running_loop()
        self._seen.append((tell, item))
        if loop.time() >= self._until and self.rand.random() < STALLS / 10:
            self._until = loop.time() + self.rand.uniform(*STALL)
        loop.call_at(max(loop.time(), self._until), self._told)

    def _told(self):
        if asyncio.get_running_loop().time() >= self._until:
            while self._seen:
                tell, item = self._seen.popleft()
                tell(item)


def _patched(status, one):
    """*status* after a write: a whole one, or a strategic merge patch."""
    if one["verb"] == "update":
        return json.loads(json.dumps(one["status"]))
    patch = one["body"]["status"]
    found = {**status, **{key: value for key, value in patch.items() if not key.startswith("$")}}
    known = {each["type"]: each for each in status.get("conditions", ())}
    for each in patch.get("conditions", ()):
        if each.get("$patch") == "delete":
            known.pop(each["type"], None)
        else:
            known[each["type"]] = {**known.get(each["type"], {}), **each}
    return {
        key: value
        for key, value in {**found, "conditions": list(known.values())}.items()
        if value is not None
    }


def _came(writes):
    """When each pod was made, by its number."""
    first = {}
    victims = inf
    for one in writes:
        sent = _seconds(one["t"])
        if one["verb"] == "delete" or "DisruptionTarget" in str(one.get("body")):
            victims = min(victims, sent)
        elif one["sub"] == "status":
            first.setdefault(
                int(one["pod"][1:]), min(sent, victims) - DECIDING
            )  # victims may go before the status is written
            victims = inf
        else:
            first.setdefault(int(one["pod"][1:]), sent)
    count = max(first) + 1
    begins = [first[number] for number in range(0, count, BURST)]
    paces = [(after - before - PAUSE) / BURST for before, after in pairwise(begins)]
    latest = [0.0] * count
    ends = inf
    for number in reversed(range(count)):
        ends = min(ends, first.get(number, ends))
        latest[number] = ends
    for number in range(count):
        burst, place = divmod(number, BURST)
        evenly = begins[burst] + place * paces[min(burst, len(paces) - 1)]
        yield min(evenly, latest[number]) - 0.004 + number * 1e-6  # timers of one time have no order


def writes_of(file):
    """The writes of the scheduler in a recording, in order."""
    return [one for one in exchanges(file) if "verb" in one]


def replayed(writes, release, seed, config=None):
    """The report of a shadow with *config* on these writes."""
    told = []

    async def work():
        await ShadowReplay(release, writes, told.append, random.Random(seed), config or {}).play()

    run_virtually(work())
    return told
