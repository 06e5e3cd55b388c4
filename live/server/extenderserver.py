"""The verbs of an extender: from the body of a request to the body of its answer, on one consistent state of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs
import numpy as np

from ...simulation.explain import Explanation, explain
from .answers import Verdicts, host_priorities, preemption_result, to_json
from .judging import CannotDecide, filter_nodes, find_victims, scaled, score_nodes
from .reading import UNPROCESSABLE, BindingArgs, ExtenderArgs, NodesAsked, RequestError, binding_args, extender_args, preemption_args
from .served import ServedCluster


@attrs.frozen
class Binding:
    """A binding that is asked for, and why it cannot be; None if it can."""

    args: BindingArgs
    error: str | None = None


@attrs.define(eq=False)
class ExtenderService:
    """Answers the calls of a scheduler. Not safe for threads, as its cluster is not."""

    cluster: ServedCluster

    @property
    def verbs(self) -> dict[str, Callable[[bytes], bytes]]:
        """The verbs that only ask, by the path that asks for them."""
        return {"filter": self.filter, "prioritize": self.prioritize, "preemption": self.preempt}

    def filter(self, body: bytes) -> bytes:
        """Which of the nodes fit, and why the others do not. This and the others raise :class:`RequestError`."""
        args = extender_args(body)
        try:
            found = self._verdicts(args)
        except CannotDecide as error:
            found = Verdicts((), error=str(error))
        return to_json(found.result(args.nodes))

    def _verdicts(self, args: ExtenderArgs) -> Verdicts:
        engine, rows = self.cluster.find(args.nodes, _place(args.nodes))
        pod = self.cluster.completed(args.pod)
        if not len(rows):
            return Verdicts(())
        judged = filter_nodes(engine, pod, rows)
        names, failed = args.nodes.names, np.flatnonzero(~judged.fits)
        beyond_help = failed[judged.unresolvable[failed]]
        return Verdicts(
            np.flatnonzero(judged.fits).tolist(),
            {names[i]: judged.texts[i] for i in failed.tolist()},
            {names[i]: judged.texts[i] for i in beyond_help.tolist()},
        )

    def prioritize(self, body: bytes) -> bytes:
        """The scores of the nodes, 0 to 10; see :func:`~.judging.scaled`."""
        args = extender_args(body)
        engine, rows = self.cluster.find(args.nodes, _place(args.nodes))
        pod = self.cluster.completed(args.pod)
        if not len(rows):
            return to_json([])
        try:
            totals = score_nodes(engine, pod, rows)
        except CannotDecide as error:
            # The answer of this verb has no field for an error; a scheduler goes on without these scores.
            raise RequestError("Pod", f"a pod that cannot be scored ({error})", "one that can", UNPROCESSABLE) from None
        return to_json(host_priorities(args.nodes.names, scaled(totals).tolist()))

    def preempt(self, body: bytes) -> bytes:
        """Who has to leave which of the nodes. The victims of the request stay victims, as its scheduler's own rules want them gone."""
        args = preemption_args(body)
        asked = NodesAsked(list(args.victims))
        engine, rows = self.cluster.find(asked, args.form)
        pod = self.cluster.completed(args.pod)
        if not len(rows):
            return to_json(preemption_result({}, {}))
        try:
            candidates = find_victims(engine, pod, rows, {uid for uids in args.victims.values() for uid in uids})
        except CannotDecide as error:
            raise RequestError("Pod", f"a pod that cannot be tried ({error})", "one that can", UNPROCESSABLE) from None
        unknown = {name: [uid for uid in uids if not self._is_on(name, uid)] for name, uids in args.victims.items()}
        return to_json(preemption_result(candidates, unknown))

    def _is_on(self, node: str, uid: str) -> bool:
        return any(pod.uid == uid for pod in self.cluster.engine.pods_on(node))

    def binding(self, body: bytes, *, checks: bool) -> Binding:
        """The binding that a request asks for. With *checks* the pod has to be known and without a node; else an API server judges."""
        args = binding_args(body)
        if self.cluster.engine.node(args.node) is None:
            got = f'"{args.node[:200]}", which the cluster does not have'
            raise RequestError("Node", got, "one of its nodes", UNPROCESSABLE)
        if not checks:
            return Binding(args)
        pod = self.cluster.bindable(args.key, args.uid)
        host = pod.spec.node_name
        return Binding(args, f"pod {pod.key} is already assigned to node {host}" if host else None)

    def bound(self, args: BindingArgs) -> None:
        """The pod is bound: its node counts it from now on, if it is known."""
        with suppress(RequestError):
            pod = self.cluster.bindable(args.key, args.uid)
            if not pod.spec.node_name:
                self.cluster.put(pod.bound_to(args.node))

    def explain(self, name: str) -> Explanation:
        """Why the cluster's waiting pod *name* goes where it would go now; raises :class:`~kubeclassic.exceptions.UnknownNameError`."""
        pod = self.cluster.waiting_pod(name)
        return explain(self.cluster.engine, pod)

    def state(self) -> dict[str, Any]:
        """What the cluster holds, in numbers."""
        pods = self.cluster.pods
        return {"nodes": self.cluster.engine.node_count, "pods": len(pods), "waiting": sum(not pod.spec.node_name for pod in pods)}


def _place(asked: NodesAsked) -> str:
    return "NodeNames" if asked.manifests is None else "Nodes.items"
