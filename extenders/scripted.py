"""Extenders by a script, in process, as conformance cases have them.

A script says for each address and role what the answer to each pod is: which nodes are dropped, in which form
and order the others come back, how they score, which victims are taken; or a status, or the very text of the
answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ..algorithmprovider.extenders import ExtenderConfig
from .overhttp import PostReply

Json = dict[str, Any]
Script = Mapping[str, Mapping[str, Any]]
"""URL prefix without trailing slashes -> role -> pod or ``default`` -> reply."""
FILTER = "filter"
PRIORITIZE = "prioritize"
PREEMPT = "preempt"
BIND = "bind"


@attrs.define(eq=False)
class ScriptedPost:
    """Answers to requests by *script*; the requests are noted. *configs* say which word of a URL has which
    role."""

    script: Script
    configs: Sequence[ExtenderConfig]
    calls: list[tuple[str, str, Json]] = attrs.Factory(list)
    """(role, URL, body) of each request so far."""

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        prefix, role = self._role(url)
        request = json.loads(body)
        self.calls.append((role, url, request))
        replies = self.script.get(prefix, {}).get(role) or {}
        if "PodName" in request:
            name = f"{request['PodNamespace']}/{request['PodName']}"
        else:
            metadata = request["Pod"]["metadata"]
            name = f"{metadata['namespace']}/{metadata['name']}"
        reply = replies.get(name, replies.get("default", {}))
        if "status" in reply:
            return PostReply(reply["status"])
        return PostReply(
            200,
            reply["raw"].encode() if "raw" in reply else json.dumps(_ANSWERS[role](request, reply)).encode(),
        )

    def _role(self, url: str) -> tuple[str, str]:
        for config in self.configs:
            prefix = config.url_prefix.rstrip("/")
            verbs = (config.filter_verb, config.prioritize_verb, config.preempt_verb, config.bind_verb)
            for role, verb in zip((FILTER, PRIORITIZE, PREEMPT, BIND), verbs, strict=True):
                if verb and url == f"{prefix}/{verb}":
                    return prefix, role
        raise KeyError(url)

    def taken_calls(self) -> list[Json]:
        """The requests since this was last asked: those of prioritize by URL after filter's, preempt's
        last."""
        calls = self.calls
        self.calls = []
        made_at_once = sorted((call for call in calls if call[0] == PRIORITIZE), key=lambda call: call[1])
        parts = [
            [call for call in calls if call[0] == FILTER],
            made_at_once,
            [call for call in calls if call[0] == PREEMPT],
        ]
        return [{"url": url, "body": body} for part in parts for _, url, body in part]


# --- filter -------------------------------------------------------------------------------------------------


def _filter_answer(request: Json, reply: Json) -> Json:
    names = _names(request)
    dropped = {name: reason for name, reason in (reply.get("drop") or {}).items() if name in names}
    fits = [name for name in names if name not in dropped]
    if reply.get("order") == "reversed":
        fits.reverse()
    fits += reply.get("extra") or []
    form = reply.get("form", "asked")
    if form == "asked":
        form = "nodes" if request["Nodes"] is not None else "names"
    failed = {**dropped, **(reply.get("alsoFailed") or {})}
    nodes = {"metadata": {}, "items": [_node(request, name) for name in fits]} if form == "nodes" else None
    return {
        "Nodes": nodes,
        "NodeNames": fits if form == "names" else None,
        "FailedNodes": failed,
        "Error": reply.get("error") or "",
    }


def _names(request: Json) -> list[str]:
    if request["Nodes"] is not None:
        return [node["metadata"]["name"] for node in request["Nodes"]["items"]]
    return list(request["NodeNames"])


def _node(request: Json, name: str) -> Json:
    items = request["Nodes"]["items"] if request["Nodes"] is not None else ()
    return next((node for node in items if node["metadata"]["name"] == name), {"metadata": {"name": name}})


# --- prioritize, preempt and bind ---------------------------------------------------------------------------


def _prioritize_answer(request: Json, reply: Json) -> list[Json]:
    scores = reply.get("scores") or {}
    omitted = reply.get("omit") or ()
    otherwise = reply.get("otherwise", 0)
    name_scores = [(name, scores.get(name, otherwise)) for name in _names(request) if name not in omitted]
    name_scores += sorted((reply.get("extra") or {}).items())
    return [{"Host": name, "Score": score} for name, score in name_scores]


def _preempt_answer(request: Json, reply: Json) -> Json:
    candidates = request["NodeNameToMetaVictims"] or request["NodeNameToVictims"] or {}
    dropped = reply.get("drop") or ()
    victims_by_node = reply.get("victims") or {}
    remaining = {}
    for name, victims in candidates.items():
        if name not in dropped:
            uids = [pod["UID"] if "UID" in pod else pod["metadata"]["uid"] for pod in victims["Pods"] or ()]
            remaining[name] = victims_by_node.get(name, uids)
    remaining |= reply.get("extraNodes") or {}
    violations = {name: victims["NumPDBViolations"] for name, victims in candidates.items()}
    return {
        "NodeNameToMetaVictims": {
            name: {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": violations.get(name, 0)}
            for name, uids in remaining.items()
        }
    }


_ANSWERS: Mapping[str, Callable[[Json, Json], Any]] = {
    FILTER: _filter_answer,
    PRIORITIZE: _prioritize_answer,
    PREEMPT: _preempt_answer,
    BIND: lambda request, reply: {"Error": reply.get("error") or ""},
}
