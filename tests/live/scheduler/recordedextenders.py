"""Extenders that answer as recorded, in process and on virtual time."""

import asyncio
import json
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

import attrs

from kubeclassic.extenders.overhttp import HEADER_TIMEOUT, PostError, PostReply, http_post

UNREACHABLE = "http://127.0.0.1:9/"
"""There is no extender here; the connection is refused for real."""


def pod_of(body):
    """The pod that a call is about."""
    return str(body["PodName"] if "PodName" in body else body["Pod"]["metadata"]["name"])


@attrs.define(eq=False)
class RecordedExtenders:
    """The extenders of a scenario. A call gets the next recorded answer for its path and pod; after the last
    one, that again."""

    recorded: tuple
    store: object = None
    asked: list = attrs.field(factory=list)
    """Path and body of each call, in order."""
    elapsed: float = 0.0
    """Seconds that calls took since :meth:`take_elapsed`."""
    _answered: dict = attrs.field(factory=dict)

    @classmethod
    def of(cls, recorded):
        """The extenders of a recording."""
        return cls([one for one in recorded if one.get("who") in ("kube-scheduler->extender", "extender")])

    @property
    def calls(self):
        """Path and body of each recorded call."""
        return ((one["path"], one["request_body"]) for one in self.recorded if one["who"] != "extender")

    def open(self, config):
        """The client of the extender of *config*."""
        return http_post(config) if config.url_prefix.startswith(UNREACHABLE) else self

    def __call__(self, url, body, timeout):
        path = urlsplit(url).path
        sent = json.loads(body)
        self.asked.append((path, sent))
        call = self._next(path, pod_of(sent))
        took = call["t_end"] - call["t"]
        self.elapsed += min(took, timeout)
        if took >= timeout:
            raise PostError(f'Post "{url}": {HEADER_TIMEOUT}')
        if path.endswith("/bind") and not call["response_body"]["Error"]:
            self._bind(call, sent)
        return PostReply(
            call["status"], _text(translated(call["response_body"], call["request_body"], sent)).encode()
        )

    def take_elapsed(self):
        """The seconds that calls took since the last time that this was asked."""
        took = self.elapsed
        self.elapsed = 0.0
        return took

    def _next(self, path, pod):
        same = [one for one in self.recorded if one["path"] == path and pod_of(one["request_body"]) == pod]
        assert same, f"{path}: expected none, got a call for {pod}"
        number = self._answered.get((path, pod), 0)
        self._answered[path, pod] = number + 1
        return same[min(number, len(same) - 1)]

    def _bind(self, call, sent):
        """Repeat the extender's own requests to the API server during *call*."""
        own = [
            one
            for one in self.recorded
            if one["who"] == "extender" and call["t"] <= one["t"] <= call["t_end"]
        ]
        for one in own:
            text = json.dumps(one["request_body"]).replace(call["request_body"]["PodUID"], sent["PodUID"])
            answer = self.store.handle(
                one["method"],
                one["path"],
                one["query"] or "",
                text.encode(),
                {"content-type": "application/json"},
            )
            assert answer.status == one["status"]


def _text(body):
    """A body as it was sent: what is no JSON was recorded as text."""
    return "" if body is None else body if isinstance(body, str) else json.dumps(body)


def translated(answer, recorded, sent):
    """*answer* to the *recorded* call as one to the call that was *sent*: with its nodes, and the UIDs of its
    pods."""
    if not isinstance(answer, dict):
        return answer
    nodes = {node["metadata"]["name"]: node for node in ((sent.get("Nodes") or {}).get("items") or ())}
    answer = json.loads(_with_uids(json.dumps(answer), recorded, sent))
    if answer.get("Nodes"):
        answer["Nodes"]["items"] = [
            nodes.get(node["metadata"]["name"], node) for node in answer["Nodes"]["items"]
        ]
    return answer


def _with_uids(text, recorded, sent):
    for theirs, ours in zip(_victims(recorded), _victims(sent), strict=False):
        text = text.replace(theirs, ours)
    return text


def _victims(body):
    """The UIDs of all victims of a preempt call, by node."""
    whole = body.get("NodeNameToVictims") or {}
    meta = body.get("NodeNameToMetaVictims") or {}
    pods = [pod["metadata"]["uid"] for name in sorted(whole) for pod in whole[name]["Pods"] or ()]
    return pods + [pod["UID"] for name in sorted(meta) for pod in meta[name]["Pods"] or ()]


class VirtualWorker(ThreadPoolExecutor):
    """Does work at once; its result comes when the calls that were made for it would have ended, on virtual
    time."""

    def __init__(self, elapsed):
        super().__init__(1)
        self.elapsed = elapsed

    def submit(self, work, /, *args, **options):
        """The future result of *work*."""
        future = Future()
        try:
            found = work(*args, **options)
        except Exception as error:  # it belongs to the one who waits
            tell = future.set_exception
            told = error
        else:
            tell = future.set_result
            told = found
        asyncio.get_running_loop().call_later(self.elapsed(), tell, told)
        return future
