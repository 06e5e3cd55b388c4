"""Entry points of fuzzing for what a live cluster gives: kubeconfigs, watches and requests to the extender server.

Where a document has a secret in its place, no message may have a part of it.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import attrs
import yaml

from kubeclassic.api.reading.documents import parsed
from kubeclassic.exceptions import KubeclassicError, ManifestError
from kubeclassic.live.client.api import Api, read_object
from kubeclassic.live.client.credentials import VERSIONS as EXEC_VERSIONS
from kubeclassic.live.client.credentials import ExecPlugin
from kubeclassic.live.client.http import tls_context
from kubeclassic.live.client.kubeconfig import read_kubeconfig
from kubeclassic.live.client.resources import VERSIONS
from kubeclassic.live.client.resources import resource as resource_of
from kubeclassic.live.client.transport import Request, Stream
from kubeclassic.live.scheduler.scheduler import LiveScheduler
from kubeclassic.live.scheduler.shadow.shadow import Shadow
from kubeclassic.live.scheduler.writes import DryApi, WireApi
from tests.apiserver.transport import StoreTransport
from tests.live.scheduler.worlds import World, live
from tests.support.questionfuzzing import EXAMPLES, Entry, file_with
from tests.support.serverbuild import Caller, node_json, pod_json, three_nodes

Json = dict[str, Any]
RELEASES = ("1.12", "1.15", "1.16", "1.20", "1.27", "1.34")
"""Those that follow the frames of a watch, in turn."""
SECRET = "s3cr3t"
"""In every secret of a seed."""
SECRET_PLACES = frozenset(
    {"token", "password", "value", "clientCertificateData", "clientKeyData", "client-key-data", "server", "proxy-url"}
)
"""Keys of values that may be secrets."""
VERBS = (b"filter", b"prioritize", b"preemption", b"bind")
WATCHED = 40.0
"""Virtual seconds in which the frames of a try are worked on."""


class SaidASecretError(AssertionError):
    """A message has a part of a secret."""


def _silent(content: bytes, work: Callable[[], object]) -> None:
    """Do *work*; its error must not have a secret that *content* has where secrets belong."""
    try:
        work()
    except KubeclassicError as error:
        if SECRET in str(error) and not _is_elsewhere(content):
            raise SaidASecretError(str(error)) from error
        raise


def _is_elsewhere(content: bytes) -> bool:
    """Whether a secret stands at a place for something else."""
    try:
        found = parsed(content, "")
    except ManifestError:
        return False
    return any(SECRET in str(key) or (SECRET in text and holder not in SECRET_PLACES) for key, holder, text in _texts(found, "", ""))


def _texts(value: Any, key: object, holder: object) -> Iterator[tuple[object, object, str]]:
    """(key, the nearest key above, text) of each value below *value*."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, name, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key, holder)
    else:
        yield key, holder, str(value)


# --- credentials ----------------------------------------------------------------------------------------------------


def _kubeconfig(content: bytes) -> None:
    def read() -> None:
        access = read_kubeconfig(file_with(content, "kubeconfig"))
        if access.ca is not None or access.certificate is not None:
            tls_context(access, access.certificate)
        if not isinstance(access.credentials, ExecPlugin):  # no program runs here
            asyncio.run(access.credentials.grant(0.0))

    _silent(content, read)


# --- answers --------------------------------------------------------------------------------------------------------


@attrs.define
class Framed(StoreTransport):
    """A server whose first watch of a path has frames of its own instead."""

    frames: dict[str, list[bytes]] = attrs.field(factory=dict)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """The frames, else the watch of the server."""
        lines = self.frames.pop(request.path, None)
        if lines is not None:
            yield Stream(200, {}, _sent(lines))
            return
        async with StoreTransport.stream(self, request) as stream:
            yield stream


async def _sent(lines: list[bytes]) -> AsyncIterator[bytes]:
    for line in lines:
        await asyncio.sleep(0.5)
        yield line


def _watch(content: bytes) -> None:
    """The frames go to a scheduler that binds, to one that writes nothing, or to a shadow."""
    release = RELEASES[len(content) % len(RELEASES)]
    follower = len(content) // len(RELEASES) % 3

    async def play(world: World) -> None:
        for number in range(3):
            world.add_node(f"node-{number}")
        transport = Framed(world.store, frames=_by_path(content))
        if follower == 0:
            shadow = Shadow(world.state(DryApi()), lambda judgement: None)
            world.follow(transport, shadow, shadow.run)
        else:
            api = WireApi(Api(transport), release) if follower == 1 else DryApi()
            scheduler = LiveScheduler(world.state(api))
            world.follow(transport, scheduler.state, scheduler.run)
        for number in range(3):
            world.add_pod(f"pod-{number}", cpu="2")
        await asyncio.sleep(WATCHED)
        broken = [text for text in world.reports if "\n" in text]
        assert not broken, broken

    live(release, play)


def _by_path(content: bytes) -> dict[str, list[bytes]]:
    """The frames by the path of their kinds, in all versions; what has no kind that is known is a frame of the pods."""
    found = defaultdict[str, list[bytes]](list)
    for line in content.split(b"\n"):
        for path in _paths(_kind(line)):
            found[path].append(line)
    return dict(found)


def _kind(line: bytes) -> str:
    frame = read_object(line) or {}
    item = frame.get("object")
    kind = item.get("kind") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) and kind in VERSIONS else "Pod"


def _paths(kind: str) -> list[str]:
    return [resource_of(kind, version).path() for version in VERSIONS[kind]]


# --- requests -------------------------------------------------------------------------------------------------------


@cache
def callers() -> list[Caller]:
    """Servers of three releases, which all tries ask."""
    found = [Caller.of(three_nodes(release=release)) for release in ("1.12", "1.16", "1.27")]
    for caller in found:
        caller.app.service.cluster.defaults = True
    return found


def _request(content: bytes) -> None:
    """The first line is the verb, the rest the body. Each is answered with 2xx or 4xx, in JSON."""
    verb, _, body = content.partition(b"\n")
    for caller in callers():
        found = caller.post(f"/{verb.decode()}" if verb in VERBS else "/filter", body)
        assert 200 <= found.status_code < 300 or 400 <= found.status_code < 500, found.text
        assert isinstance(found.json(), dict | list)


# --- seeds ----------------------------------------------------------------------------------------------------------


def _kubeconfigs() -> list[bytes]:
    """One of each kind of user."""
    users: list[Json] = [
        {"token": f"{SECRET}-token"}, {"username": "u", "password": f"{SECRET}-password"}, {}, {"token": f"{SECRET}", "as": "someone"},
        {"exec": {
            "apiVersion": EXEC_VERSIONS[0], "command": "login", "args": ["--quiet"], "env": [{"name": "A", "value": SECRET}],
            "provideClusterInfo": True, "interactiveMode": "Never", "installHint": "install it",
        }},
    ]  # fmt: skip
    clusters: list[Json] = [
        {"server": "https://10.0.0.1:6443", "insecure-skip-tls-verify": True, "proxy-url": f"http://u:{SECRET}@proxy:3128"},
        {"server": f"https://u:{SECRET}@[::1]:6443/path", "tls-server-name": "api", "extensions": [
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
        ]},
        {"server": "http://127.0.0.1:8080"},
    ]  # fmt: skip
    documents = [_document(cluster, user) for cluster in clusters for user in users]
    return [*(json.dumps(document).encode() for document in documents), *(yaml.safe_dump(document).encode() for document in documents)]


def _document(cluster: Json, user: Json) -> Json:
    return {
        "apiVersion": "v1", "kind": "Config", "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}], "current-context": "there",
    }  # fmt: skip


def _requests() -> list[bytes]:
    """A request of each verb, about a pod with all fields that rules read."""
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
    expression = {"key": "disk", "operator": "In", "values": ["ssd"]}
    pod = pod_json(
        "x", priority=9, nodeSelector={"zone": "z"}, preemptionPolicy="Never", schedulingGates=[{"name": "g"}], overhead={"cpu": "1"},
        affinity={
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
            },
        },
        tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}],
        topologySpreadConstraints=[{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **term}],
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "d", "gcePersistentDisk": {"pdName": "p"}}],
        initContainers=[{"name": "i", "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}],
    )  # fmt: skip
    nodes = [{"metadata": {}, "items": [node_json(name, labels={"zone": "z"}) for name in names]} for names in ("ab", "bc", "")]
    about: list[Json] = [*({"Nodes": several, "NodeNames": None} for several in nodes), {}]
    about += [{"NodeNames": names, "Nodes": None} for names in (["a", "b", "z"], [])]
    victims = {"b": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 0}}
    bodies: dict[str, list[Json]] = {
        "filter": about, "prioritize": about,
        "preemption": [
            {"NodeNameToMetaVictims": victims}, {"NodeNameToMetaVictims": {}}, {"NodeNameToVictims": {"b": {"Pods": [pod_json("low")]}}},
        ],
        "bind": [{"PodName": "w", "PodNamespace": "default", "PodUID": "uid-w", "Node": "a"}],
    }  # fmt: skip
    of_pods = [pod, pod_json("x", cpu="100m"), pod_json("w", cpu="64")]
    found = [(verb, {"Pod": one, **body}) for verb, each in bodies.items() for body in each for one in of_pods]
    found += [(verb, {key.lower(): value for key, value in body.items()}) for verb, body in found[::3]]
    return [f"{verb}\n{json.dumps(body)}".encode() for verb, body in found]


def _items() -> list[Json]:
    """An object of each kind, as an API server has them."""
    found = []
    for path in sorted((EXAMPLES / "cluster").glob("*.yaml")):
        found += [item for item in yaml.safe_load_all(path.read_text()) if item]
    flat = [each for item in found for each in (item["items"] if item.get("kind") == "List" else [item])]
    by_kind = {kind: [item for item in flat if item["kind"] == kind][:3] for kind in VERSIONS}
    odd = {kind: [{"kind": kind, "apiVersion": VERSIONS[kind][0], "metadata": {"name": f"a-{kind.lower()}"}}] for kind in VERSIONS}
    return [item for kind in VERSIONS for item in by_kind[kind] or odd[kind]]


def _watched() -> list[bytes]:
    """Frames about objects of each kind, and those that are about the watch itself."""
    items = _items()
    pod, node = (next(item for item in items if item["kind"] == kind) for kind in ("Pod", "Node"))
    for number, item in enumerate(items):
        item["metadata"] |= {"resourceVersion": str(1000 + number), "uid": f"uid-{number}"}
    bound = {**pod, "spec": {**pod["spec"], "nodeName": "node-0"}}
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old", "details": {"retryAfterSeconds": 1}}
    added = [{"type": "ADDED", "object": item} for item in items]
    later = [{"type": "MODIFIED", "object": bound}, {"type": "MODIFIED", "object": node}, {"type": "DELETED", "object": bound}]
    ends = [{"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "1300"}}}, {"type": "ERROR", "object": gone}]
    return ["\n".join(json.dumps(frame) for frame in frames).encode() for frames in (added + later + ends, added[:4] + later, later + ends)]


LIVE: Mapping[str, Entry] = {
    "kubeconfig": Entry(_kubeconfig, _kubeconfigs), "watch": Entry(_watch, _watched), "requests": Entry(_request, _requests),
}  # fmt: skip
