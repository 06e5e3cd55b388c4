"""The JSON that goes to extenders: pods, nodes and victims, in the original's form and order.

Nodes are the bulk of it, so the bytes of each node are kept until the node changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ..api.objects import Node, Pod
from ..api.wire.goform import go_form, go_json
from ..api.wire.gosyntax import first_value
from ..api.wire.ownfields import current_manifest
from ..core.decision.preemptionplan import Victims

Json = Any
REMEMBERED_PODS = 1 << 10


@attrs.frozen
class Written:
    """A node in Go's form, as bytes and as the value that they are read as."""

    node: Node
    text: bytes
    form: Json


@attrs.define(eq=False)
class Bodies:
    """Writes the bodies of requests in the form of release *version*."""

    version: str
    _nodes: dict[str, Written] = attrs.field(factory=dict)
    _pods: dict[str, tuple[Pod, bytes]] = attrs.field(factory=dict)

    def asked(self, pod: Pod, nodes: Sequence[Node], *, names_only: bool) -> bytes:
        """The body of filter and prioritize."""
        if names_only:
            return b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (self._pod(pod), go_json([node.name for node in nodes]))
        items = b",".join([self.node(node).text for node in nodes])
        return b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (self._pod(pod), items)

    def preempting(self, pod: Pod, candidates: Mapping[str, Victims], *, names_only: bool, violations: bool) -> bytes:
        """The body of preempt; with *names_only* the number of *violations* is only sent where the release does that."""
        write = (lambda victims: _meta(victims, violations)) if names_only else self._victims
        written = b",".join(b"%b:%b" % (go_json(name), write(candidates[name])) for name in sorted(candidates))
        form = b'{"Pod":%b,"NodeNameToVictims":null,"NodeNameToMetaVictims":{%b}}'
        if not names_only:
            form = b'{"Pod":%b,"NodeNameToVictims":{%b},"NodeNameToMetaVictims":null}'
        return form % (self._pod(pod), written)

    def binding(self, pod: Pod, node_name: str) -> bytes:
        """The body of bind."""
        return go_json({"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node_name})

    # --- parts ------------------------------------------------------------------------------------------------------

    def node(self, node: Node) -> Written:
        """*node* in Go's form."""
        found = self._nodes.get(node.name)
        if found is None or found.node is not node:
            text = go_json(go_form("Node", current_manifest(node), self.version))
            found = self._nodes[node.name] = Written(node, text, first_value(text))
        return found

    def sent_node(self, form: Json) -> Written | None:
        """The node that was sent in exactly this form."""
        metadata = form.get("metadata") if isinstance(form, dict) else None
        name = metadata.get("name") if isinstance(metadata, dict) else None
        found = self._nodes.get(name) if isinstance(name, str) else None
        return found if found is not None and found.form == form else None

    def _pod(self, pod: Pod) -> bytes:
        found = self._pods.get(pod.key)
        if found is None or found[0] is not pod:
            if len(self._pods) >= REMEMBERED_PODS:
                self._pods.clear()
            found = self._pods[pod.key] = pod, go_json(go_form("Pod", current_manifest(pod), self.version))
        return found[1]

    def _victims(self, victims: Victims) -> bytes:
        # Upstream: no victims are a null, or an empty list where an extender left none.
        is_null = not victims.pods and not victims.chosen_by
        pods = b"null" if is_null else b"[%b]" % b",".join([self._pod(pod) for pod in victims.pods])
        return b'{"Pods":%b,"NumPDBViolations":%d}' % (pods, victims.violations)


def _meta(victims: Victims, violations: bool) -> bytes:
    pods = [{"UID": pod.uid} for pod in victims.pods]
    return go_json({"Pods": pods, "NumPDBViolations": victims.violations if violations else 0})
