"""An extender over HTTP: what the configuration says, the JSON that it is sent, and the calls of a cycle.

Pods and nodes are sent as they came, with what the scheduler itself has changed. Nodes are the bulk of it, so
the bytes of each node are kept until the node changes. Replies are read by their shape: as in Go, names of
fields count in any case, a null is an empty value, and what comes after the first value is not read.
Upstream: HTTPExtender in
pkg/scheduler/core/extender.go; from 1.23 on pkg/scheduler/extender.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import attrs
import msgspec

from ..algorithmprovider.extenders import ExtenderConfig
from ..api.objects import Int64, Node, Pod
from ..api.ownfields import compact_json, current_manifest
from ..api.reading import decode_kind
from ..core.decision import FilterReply, PodsOn, Victims
from ..core.release import Release
from ..exceptions import ExtenderError, ManifestError
from .overhttp import Post

Json = Any
T = TypeVar("T")
FAULT = "reply: got "
"""The beginning of the text of each fault of a reply."""
ENDLESS = 86400.0
"""The most seconds of a call; a configuration may name 292 years, or none."""


class ListMeta(msgspec.Struct):
    """The metadata of a list."""

    selflink: str | None = None
    resourceversion: str | None = None
    next: str | None = msgspec.field(default=None, name="continue")
    remainingitemcount: Int64 | None = None


class NodeItems(msgspec.Struct):
    """A list of nodes, each as JSON."""

    items: list[dict[str, Any] | None] | None = None
    metadata: ListMeta | None = None
    kind: str | None = None
    apiversion: str | None = None


class FilterAnswer(msgspec.Struct):
    """The reply of filter."""

    nodes: NodeItems | None = None
    nodenames: list[str | None] | None = None
    failednodes: dict[str, str | None] | None = None
    failedandunresolvablenodes: dict[str, str | None] | None = None
    error: str | None = None


class ScoreAnswer(msgspec.Struct):
    """A node's score in the reply of prioritize."""

    host: str | None = None
    score: Int64 | None = None


class Named(msgspec.Struct):
    """A victim by its UID."""

    uid: str | None = None


class ChosenVictims(msgspec.Struct):
    """The victims on one node."""

    pods: list[Named | None] | None = None
    numpdbviolations: Int64 | None = None


class PreemptAnswer(msgspec.Struct):
    """The reply of preempt."""

    nodenametometavictims: dict[str, ChosenVictims | None] | None = None


class BindAnswer(msgspec.Struct):
    """The reply of bind."""

    error: str | None = None


def read_reply(body: bytes, kind: type[T]) -> T | None:
    """The first JSON value in *body* as a *kind*; None for a null. Raises
    :class:`~kubeclassic.exceptions.ExtenderError`."""
    try:
        value, _ = _DECODER.raw_decode(body.decode("utf-8", "replace").lstrip(" \t\r\n"))
        return msgspec.convert(_lowered(value), kind | None)
    except RecursionError:
        description = "JSON that is nested too deeply"
    except msgspec.ValidationError as error:
        description = f"another form ({error})"
    except ValueError as error:
        description = f"no JSON ({error})"
    raise ExtenderError(f"{FAULT}{description}, expected an extender's answer")


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refused)


def _lowered(value: Json) -> Json:
    """*value* with the names of fields in lower case. Keys that are node names stay as they are."""
    if isinstance(value, list):
        return [_lowered(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    lowered = {key.lower(): item for key, item in value.items()}
    for name in ("nodes", "metadata", "pods"):
        if name in lowered:
            lowered[name] = _lowered(lowered[name])
    victims = lowered.get("nodenametometavictims")
    if isinstance(victims, Mapping):
        lowered["nodenametometavictims"] = {
            node: _lowered(node_victims) for node, node_victims in victims.items()
        }
    return lowered


REMEMBERED_PODS = 1 << 10


@attrs.frozen
class SentNode:
    """A node as it is sent: the bytes, and the JSON value in them."""

    node: Node
    text: bytes
    form: Json


@attrs.define(eq=False)
class Bodies:
    """Writes the bodies of requests."""

    nodes: dict[str, SentNode] = attrs.Factory(dict)
    _pods: dict[str, tuple[Pod, bytes]] = attrs.Factory(dict)

    def asked(self, pod: Pod, nodes: Sequence[Node], *, names_only: bool) -> bytes:
        """The body of filter and prioritize."""
        if names_only:
            return b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (
                self._pod(pod),
                compact_json([node.name for node in nodes]),
            )
        items = b",".join([self._node(node).text for node in nodes])
        return b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (self._pod(pod), items)

    def preempting(
        self, pod: Pod, candidates: Mapping[str, Victims], *, names_only: bool, violations: bool
    ) -> bytes:
        """The body of preempt. With *names_only* the number of PDB violations is sent only if *violations*,
        which depends on the release."""

        def write(victims: Victims) -> bytes:
            if names_only:
                count = victims.violations if violations else 0
                return compact_json(
                    {"Pods": [{"UID": pod.uid} for pod in victims.pods], "NumPDBViolations": count}
                )
            # Upstream: no victims are a null, or an empty list where an extender left none.
            is_null = not victims.pods and not victims.chosen_by
            pods = b"null" if is_null else b"[%b]" % b",".join([self._pod(pod) for pod in victims.pods])
            return b'{"Pods":%b,"NumPDBViolations":%d}' % (pods, victims.violations)

        victims_json = b",".join(
            b"%b:%b" % (compact_json(name), write(candidates[name])) for name in sorted(candidates)
        )
        form = b'{"Pod":%b,"NodeNameToVictims":null,"NodeNameToMetaVictims":{%b}}'
        if not names_only:
            form = b'{"Pod":%b,"NodeNameToVictims":{%b},"NodeNameToMetaVictims":null}'
        return form % (self._pod(pod), victims_json)

    def binding(self, pod: Pod, node_name: str) -> bytes:
        """The body of bind."""
        return compact_json(
            {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node_name}
        )

    # --- parts ----------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> SentNode:
        written_node = self.nodes.get(node.name)
        if written_node is None or written_node.node is not node:
            text = _sent(node)
            written_node = self.nodes[node.name] = SentNode(node, text, json.loads(text))
        return written_node

    def _pod(self, pod: Pod) -> bytes:
        written_pod = self._pods.get(pod.key)
        if written_pod is None or written_pod[0] is not pod:
            if len(self._pods) >= REMEMBERED_PODS:
                self._pods.clear()
            written_pod = self._pods[pod.key] = pod, _sent(pod)
        return written_pod[1]


def _sent(item: Node | Pod) -> bytes:
    """The object without its kind, which the place says."""
    return compact_json(
        {key: value for key, value in current_manifest(item).items() if key not in ("kind", "apiVersion")}
    )


_VERB = re.compile(r"%(?:%|[-+# 0]*[\d.]*(?P<letter>.?))", re.DOTALL)


@attrs.define(eq=False)
class HttpExtender:
    """One extender of a Policy or a configuration, called by *post*. *bodies* may be shared by all extenders
    of a scheduler."""

    config: ExtenderConfig
    release: Release
    post: Post
    bodies: Bodies
    url: str = attrs.field(init=False)
    is_ignorable: bool = attrs.field(init=False)
    supports_preemption: bool = attrs.field(init=False)
    managed: frozenset[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        config = self.config
        self.url, self.is_ignorable, self.supports_preemption = (
            config.name,
            config.ignorable,
            bool(config.preempt_verb),
        )
        self.managed = frozenset(resource.name for resource in config.managed_resources)

    def is_interested(self, pod: Pod) -> bool:
        """Whether the extender manages a resource of *pod*, or has no managed resources."""
        managed = self.managed
        if not managed:
            return True
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        return any(
            not (managed.isdisjoint(container.requests) and managed.isdisjoint(container.limits))
            for container in containers
        )

    # --- calls ----------------------------------------------------------------------------------------------

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> FilterReply:
        """The *nodes* that remain."""
        config = self.config
        if not config.filter_verb:
            return FilterReply(nodes=nodes)
        body = self.bodies.asked(pod, nodes, names_only=config.node_cache_capable)
        reply = self._send(config.filter_verb, body, FilterAnswer) or FilterAnswer()
        items = None if reply.nodes is None else [self._node(item or {}) for item in reply.nodes.items or ()]
        if reply.error:
            raise ExtenderError(self._written(reply.error))
        failed = texts_of(reply.failednodes)
        unresolvable = (
            texts_of(reply.failedandunresolvablenodes) if self.release.extenders.reads_unresolvable else {}
        )
        if config.node_cache_capable and reply.nodenames is not None:
            return FilterReply([name or "" for name in reply.nodenames], None, failed, unresolvable)
        return FilterReply((), items, failed, unresolvable)

    def _node(self, form: dict[str, Any]) -> Node:
        """The node of a reply: the same object, where it came back as it was sent."""
        metadata = form.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        written_node = self.bodies.nodes.get(name) if isinstance(name, str) else None
        if written_node is not None and written_node.form == form:
            return written_node.node
        try:
            node = decode_kind("Node", form, "Node of the reply", strict=False, keeps_manifest=True)
        except ManifestError as error:
            raise ExtenderError(str(error)) from None
        assert isinstance(node, Node)
        return node

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
        """Node -> the sum of its scores in the reply, times the weight."""
        config = self.config
        totals = dict[str, int]()
        if not config.prioritize_verb:
            return totals
        body = self.bodies.asked(pod, nodes, names_only=config.node_cache_capable)
        for entry in self._send(config.prioritize_verb, body, list[ScoreAnswer | None]) or ():
            name, score = ("", 0) if entry is None else (entry.host or "", entry.score or 0)
            totals[name] = totals.get(name, 0) + score * config.weight
        return totals

    def process_preemption(
        self, pod: Pod, candidates: Mapping[str, Victims], pods_on: PodsOn
    ) -> dict[str, Victims]:
        """The remaining candidates in ascending order of name, each with the victims that the extender
        chose."""
        cells = self.release.extenders
        config = self.config
        body = self.bodies.preempting(
            pod, candidates, names_only=config.node_cache_capable, violations=cells.keeps_violations
        )
        reply = self._send(config.preempt_verb, body, PreemptAnswer) or PreemptAnswer()
        victims_by_node = reply.nodenametometavictims or {}
        remaining = dict[str, Victims]()
        for node in sorted(victims_by_node):
            meta = victims_by_node[node] or ChosenVictims()
            pods_there = pods_on(node)
            if pods_there is None:
                raise ExtenderError(cells.unknown_candidate.format(url=self.url, node=node))
            by_uid = {pod.uid: pod for pod in reversed(pods_there)}
            pods = list[Pod]()
            for item in meta.pods or ():
                uid = "" if item is None else item.uid or ""
                if uid not in by_uid:
                    claim = f"claims to preempt pod (UID: &{{{uid}}}) on node: {node}, but the pod is not found on that node"
                    raise ExtenderError(f"extender: {self.url} {claim}")
                pods.append(by_uid[uid])
            remaining[node] = Victims(
                pods, (meta.numpdbviolations or 0) if cells.keeps_violations else 0, chosen_by=self.url
            )
        return remaining

    def bind(self, pod: Pod, node_name: str) -> None:
        """Bind *pod* to a node; only for an extender with a bind verb. Raises :class:`ExtenderError`."""
        reply = self._send(self.config.bind_verb, self.bodies.binding(pod, node_name), BindAnswer)
        if reply is not None and reply.error:
            raise ExtenderError(self._written(reply.error))

    def _written(self, error: str) -> str:
        """The text of an *error* that the extender answers with."""
        return errorf(error) if self.release.extenders.errors_are_formats else error

    # --- one request ----------------------------------------------------------------------------------------

    def _send(self, verb: str, body: bytes, kind: type[T]) -> T | None:
        """The reply; None for a null."""
        # Upstream: a negative timeout ends no call.
        timeout = min(self.config.timeout, ENDLESS) if self.config.timeout > 0 else ENDLESS
        answer = self.post(f"{self.config.url_prefix.rstrip('/')}/{verb}", body, timeout)
        if answer.status != 200:
            url = f"{self.url.rstrip('/')}/{verb}"
            raise ExtenderError(self.release.extenders.failure.format(verb=verb, url=url, code=answer.status))
        try:
            return read_reply(answer.body, kind)
        except ExtenderError:
            # Upstream: what comes after a whole answer is not read, and an error there is not seen.
            if answer.fault:
                raise ExtenderError(answer.fault) from None
            raise


def binder_of(extenders: Sequence[HttpExtender], pod: Pod) -> HttpExtender | None:
    """The extender that binds *pod*; None: the API server does."""
    return next(
        (extender for extender in extenders if extender.config.bind_verb and extender.is_interested(pod)),
        None,
    )


def texts_of(texts: Mapping[str, str | None] | None) -> dict[str, str]:
    """A map of texts of a reply, a null as an empty text."""
    return {name: text or "" for name, text in (texts or {}).items()}


def errorf(text: str) -> str:
    """*text* as Go's ``fmt.Errorf`` writes it without arguments.

    >>> errorf("disk 90% full"), errorf("100%"), errorf("50%%")
    ('disk 90%!f(MISSING)ull', '100%!(NOVERB)', '50%')
    """

    def unformatted(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        letter = match["letter"]
        return f"%!{letter}(MISSING)" if letter else "%!(NOVERB)"

    # Upstream: an extender's text is used as a format.
    return _VERB.sub(unformatted, text)
