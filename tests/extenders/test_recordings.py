"""Requests to extenders and what comes of the replies, against the traffic of the original scheduler."""

import gzip
import json

import attrs
import pytest
from msgspec.structs import replace

from kubeclassic.algorithmprovider.extenders import ExtenderConfig
from kubeclassic.api.objects import KubeObject
from kubeclassic.api.reading.decode import decode_kind
from kubeclassic.core.decision.preemptionplan import Victims
from kubeclassic.exceptions import ExtenderError
from kubeclassic.extenders.extender import FAULT, Bodies, HttpExtender
from kubeclassic.extenders.overhttp import PostReply
from kubeclassic.framework.releases import find_any_release
from kubeclassic.simulation.conform import as_decoded

RELEASES = {"1.15.5": "1.15", "1.28.7": "1.27"}
"""Recorded version -> the release that stands for it."""
SCENARIOS = (
    "f1-extender-nocache",
    "f2-extender-cache",
    "f3-extender-preempt-nocache",
    "f4-extender-preempt-cache",
    "f5-extender-bind",
    "f6-extender-managed",
    "f7-extender-ignorable",
    "f8-extender-unreachable",
    "f9-extender-odd-cache",
    "f9-extender-odd-nocache",
)
each_recording = pytest.mark.parametrize("version, scenario", [(v, s) for v in RELEASES for s in SCENARIOS])


@attrs.define
class Recording:
    """The exchanges of one scenario."""

    release: str
    exchanges: list

    @classmethod
    def read(cls, shared, version, scenario):
        """The recording of *scenario*."""
        with gzip.open(shared / "recordings" / version / f"{scenario}.jsonl.gz", "rt") as lines:
            return cls(RELEASES[version], [found for found in map(json.loads, lines) if "method" in found])

    def calls(self):
        """The requests to extenders."""
        return (found for found in self.exchanges if found["who"] == "kube-scheduler->extender")

    def objects(self):
        """(kind, name, resourceVersion) -> the pods and nodes that the API server sent the scheduler."""
        found = {}
        for exchange in self.exchanges:
            path = exchange["path"].rsplit("/", 1)[-1]
            if (
                exchange["who"] == "kube-scheduler"
                and path in ("pods", "nodes")
                and exchange["method"] == "GET"
            ):
                for item in _items(exchange["response_body"]):
                    metadata = item["metadata"]
                    found[path[:-1].capitalize(), metadata["name"], metadata["resourceVersion"]] = item
        return found

    def told(self, pod):
        """The texts of events about *pod*."""
        bodies = [
            found["request_body"]
            for found in self.exchanges
            if "event" in found["path"] and found["request_body"]
        ]
        about = (
            body
            for body in bodies
            if (body.get("involvedObject") or body.get("regarding") or {}).get("name") == pod
        )
        return {body.get("message") or body.get("note") for body in about}


def _items(body):
    if isinstance(body, dict):
        yield from body.get("items") or ()
    for line in body if isinstance(body, list) else ():
        if line["event"]["type"] in ("ADDED", "MODIFIED"):
            yield line["event"]["object"]


def decoded(kind, manifest):
    """The object with its manifest."""
    found = decode_kind(kind, manifest, strict=False, keeps_manifest=True)
    assert isinstance(found, KubeObject)
    return found


def original(objects, kind, sent):
    """The object of which *sent* is what an extender saw, with what the scheduler itself had changed
    since."""
    metadata = sent["metadata"]
    found = decoded(kind, objects[kind, metadata["name"], metadata["resourceVersion"]])
    if kind == "Pod":
        found = replace(found, spec=replace(found.spec, node_name=sent["spec"].get("nodeName", "")))
    return found


def written(body, objects):
    """Our request in place of *body*, from what the API server had sent."""
    bodies = Bodies()
    if "PodName" in body:
        metadata = {"name": body["PodName"], "namespace": body["PodNamespace"], "uid": body["PodUID"]}
        return bodies.binding(decoded("Pod", {"metadata": metadata}), body["Node"])
    pod = original(objects, "Pod", body["Pod"])
    if "NodeNameToVictims" not in body:
        if body["Nodes"] is None:
            names = [{"metadata": {"name": name}} for name in body["NodeNames"]]
            return bodies.asked(pod, [decoded("Node", node) for node in names], names_only=True)
        return bodies.asked(
            pod, [original(objects, "Node", node) for node in body["Nodes"]["items"]], names_only=False
        )
    meta = body["NodeNameToMetaVictims"]
    whole = body["NodeNameToVictims"]
    if meta is None:
        victims = {
            name: [original(objects, "Pod", item) for item in found["Pods"]] for name, found in whole.items()
        }
    else:
        victims = {
            name: [decoded("Pod", {"metadata": {"uid": item["UID"]}}) for item in found["Pods"]]
            for name, found in meta.items()
        }
    candidates = {name: Victims(pods, 0) for name, pods in victims.items()}
    return bodies.preempting(pod, candidates, names_only=meta is not None, violations=True)


@each_recording
def test_requests_are_the_originals(version, scenario, shared):
    """Each request, written from the objects that the API server had sent, says the same to Go as the
    original's."""
    recording = Recording.read(shared, version, scenario)
    objects = recording.objects()
    for call in recording.calls():
        ours = json.loads(written(call["request_body"], objects))
        assert as_decoded(ours) == as_decoded(call["request_body"])


def test_there_are_requests(shared):
    """The scenarios have filter, prioritize, preempt and bind calls of both versions."""
    paths = [
        call["path"].rsplit("/", 1)[-1]
        for v in RELEASES
        for s in SCENARIOS
        for call in Recording.read(shared, v, s).calls()
    ]
    assert {
        verb: paths.count(verb) > 3 for verb in ("filter", "prioritize", "preempt", "bind")
    } == dict.fromkeys(("filter", "prioritize", "preempt", "bind"), True)


def reply_of(call):
    """The recorded reply."""
    body = call["response_body"]
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    return PostReply(call["status"], text.encode())


def outcome(recording, call):
    """Our client's result for the reply to a filter call, or the text of its error."""
    body = call["request_body"]
    port = 25279 if recording.release == "1.27" else 15271
    prefix, verb = call["path"].rsplit("/", 1)
    config = ExtenderConfig(
        f"http://127.0.0.1:{port}{prefix}", filter_verb=verb, node_cache_capable=body["Nodes"] is None
    )
    answer = reply_of(call)
    extender = HttpExtender(
        config, find_any_release(recording.release), lambda url, body, timeout: answer, Bodies()
    )
    nodes = [decoded("Node", item) for item in (body["Nodes"] or {"items": []})["items"]]
    pod = decoded("Pod", body["Pod"])
    try:
        return extender.filter(pod, nodes)
    except ExtenderError as error:
        return str(error)


@each_recording
def test_errors_are_those_of_the_events(version, scenario, shared):
    """An error of a filter call has the text of the event FailedScheduling."""
    recording = Recording.read(shared, version, scenario)
    for call in recording.calls():
        if call["path"].endswith("/filter") and call["t_end"] - call["t"] < 3:
            found = outcome(recording, call)
            if isinstance(found, str) and not found.startswith(FAULT):
                assert found in recording.told(call["request_body"]["Pod"]["metadata"]["name"])


def test_the_errors_are_there(shared):
    """A status, an error of the extender's own, cut off JSON and an empty body were each answered to both
    versions."""
    for version in RELEASES:
        recordings = [Recording.read(shared, version, scenario) for scenario in SCENARIOS]
        calls = (
            (recording, call)
            for recording in recordings
            for call in recording.calls()
            if call["path"].endswith("/filter")
        )
        texts = {found for found in (outcome(*one) for one in calls) if isinstance(found, str)}
        assert "extender says no" in texts
        assert any(text.startswith(FAULT) for text in texts)
        assert any(text.lower().startswith("failed filter with extender at url") for text in texts)
