"""Explain: the question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from ...api.objects import Node
from ...api.record import replace
from ...api.view import MapSide, NextStep, NodeMap, PodOutcome, PodOutcomes, Section, Share, View, shortened
from ...core.decision import Decision
from ...simulation.explain.explain import Subject, explain_in, find_subject, missing_in
from ...simulation.explain.values import Explanation, ExplanationDocument, NodeReport
from ...simulation.nodesbyuse import FreeRoom, labels_of, pods_on
from ...simulation.simulate import Outcome, Scenario, Simulation
from ..asking import Input, Observer, Result, asked_by
from .closeup import STATES, close_up_sections
from .options import ExplainOptions
from .view import explanation_sections, node_list, state_of, subject_lines, verdict


@attrs.frozen(eq=False, repr=False)
class ExplainResult(Result):
    """A decision, and every node's part in it."""

    explanation: Explanation
    every: bool
    cluster: tuple[Sequence[Node], FreeRoom, Sequence[Sequence[str]]] | None
    """For a map: the nodes when the pod is decided, how full they are, and their pods."""

    @property
    def decision(self) -> Decision:
        """The decision on the pod."""
        return self.explanation.decision

    @property
    def host(self) -> str | None:
        """The node that the pod gets; None if it gets none."""
        return self.decision.host

    @property
    def nodes(self) -> tuple[NodeReport, ...]:
        """Each node's part: first those that fit, by total."""
        return self.explanation.answer.nodes

    @property
    def ok(self) -> bool:
        """Whether the pod gets a node, as all pods of its workload do; or with *node* that one fits."""
        answer = self.explanation.answer
        if answer.close_up is not None:
            return answer.close_up.fits
        has_node = (self.host or answer.room) is not None and not answer.evicted_by
        return has_node and not answer.workload_waiting

    @property
    def document(self) -> ExplanationDocument:
        close = self.explanation.answer.close_up
        nodes = tuple(node for node in self.nodes if close is None or node.name == close.node)
        return replace(self.explanation.answer, warnings=self.told_warnings(), nodes=nodes)

    def _view(self) -> View:
        answer = self.explanation.answer
        close = answer.close_up
        fit = sum(node.fits for node in self.nodes)
        # What would help, where the pod has no node, or not the one that is asked about.
        ask = ("explain", answer.pod, *(("--what-if",) if close is None else ("--want", close.node)))
        helps = self.host is None or (close is not None and close.node != self.host)
        victims = answer.eviction.victims if answer.eviction is not None and answer.room else ()
        leaving = [PodOutcome(victim.pod, "evicted", f"priority {victim.priority:,}") for victim in victims]
        return View(
            verdict=verdict(answer),
            facts={
                "pod": answer.pod,
                "host": self.host,
                "error": None if answer.error is None else shortened(answer.error),
            },
            shares=[Share("fit", fit, "good"), Share("do not fit", len(self.nodes) - fit, "bad")]
            if self.nodes
            else [],
            lead=list(subject_lines(answer)),
            who=None if close else PodOutcomes("Who would have to leave", leaving, "evictions"),
            next=[NextStep("What would help:", ask)] if helps else [],
            main="nodes",
            sections=list(self.sections()),
        )

    def sections(self) -> Iterator[Section]:
        """The explanation, and the nodes as a list of a page and as data."""
        answer = self.explanation.answer
        close = answer.close_up
        nodes, csv_nodes = node_list(answer)
        the_map = []
        if self.cluster is not None and close is None:
            cluster_nodes, room, pods = self.cluster
            reports = {node.name: node for node in answer.nodes}
            names = [node.name for node in cluster_nodes]
            states = [state_of(answer, reports[name]) if name in reports else "" for name in names]
            notes = ["; ".join(reports[name].reasons) if name in reports else "" for name in names]
            colours = {state: colour for state, colour in STATES.items() if state in states}
            side = MapSide("", room.uses(names), pods, states, notes)
            the_map = [NodeMap(names, [side], labels_of(cluster_nodes), colours)]
        if close is None:
            yield from explanation_sections(self.explanation, self.every)
            yield Section("The nodes", [*the_map, nodes], name="all-nodes", forms="rest")
        else:
            yield from close_up_sections(answer, close)
            yield Section(parts=[nodes], name="all-nodes", forms="data")
        yield Section(parts=[csv_nodes])


@asked_by(ExplainOptions, "cluster", "pod", "scheduler")
def explain(inputs: Input, options: ExplainOptions, observer: Observer) -> ExplainResult:
    """Show for every node of *cluster* why it rejects *pod*, or how it scores; and which resources are short,
    by how much.

    The pods that :func:`~kubeclassic.simulate` tries before it are scheduled first, so that both say the
    same.
    """
    scenario = inputs.scenario
    engine = inputs.engine
    subject = find_subject(scenario, options.name, options.namespace)
    observer.ready(inputs, subject.concerns)
    with observer.telling("explaining") as tell:
        tell(subject.pod.key)
        scenario, subject, alone = with_all_pods(inputs, subject, options.alone)
        simulation = Simulation(scenario, engine, inputs.order)
        question = subject.question(inputs.spec.scheduler_names)
        if question["ignored"] is None:
            explanation = explain_in(simulation, subject.pod, node=options.node, alone=alone)
        else:
            explanation = Explanation.of(Decision(subject.pod), engine.release.version)
        explanation = explanation.with_fields(**question, missing=missing_in(scenario, explanation))
        names = [node.name for node in scenario.nodes]
        cluster = None
        if options.makes("page"):
            cluster = (scenario.nodes, FreeRoom.of(engine), pods_on(engine, names))
        if not alone:
            explanation = with_its_end(scenario, explanation, simulation.finish)
    return ExplainResult(explanation, options.every, cluster, warnings=inputs.warnings)


def with_its_end(
    scenario: Scenario, explanation: Explanation, finish: Callable[[], Mapping[str, Outcome]]
) -> Explanation:
    """*explanation* with the pod that preempts this one, if one does; *finish* runs the whole *scenario*."""
    pod = explanation.decision.pod
    waits = explanation.decision.host is not None and explanation.answer.placed_on is None
    if not waits or all(pending.priority <= pod.priority for pending in scenario.pending):
        return explanation
    end = finish().get(pod.key)
    preemptor = end and end.eviction and end.eviction.by
    return explanation.with_fields(evicted_by=preemptor) if preemptor else explanation


def whole_run(inputs: Input, scenario: Scenario) -> Simulation:
    """A new run of *scenario*, which does not change the one that explains."""
    return Simulation(scenario, inputs.spec.engine(scenario.config_maps), inputs.order)


def with_all_pods(inputs: Input, subject: Subject, alone: bool) -> tuple[Scenario, Subject, bool]:
    """The scenario and the subject to explain; of a workload, its first pod that finds no node. With *alone*,
    other pending pods are not in the scenario of a workload.

    Also returns whether the pods before it are still to be left out.
    """
    scenario = inputs.scenario
    own_keys = {pod.key for pod in subject.pods}
    if subject.workload is None:
        return scenario, subject, alone
    if alone:
        scenario = attrs.evolve(
            scenario, pending=tuple(pod for pod in scenario.pending if pod.key in own_keys)
        )
    return scenario, subject.after(whole_run(inputs, scenario)), False
