"""The explanation of a decision: each node's part in it, what decided among those that fit, and what evicting
pods would do; and the pod that a name means."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np
from attrs import Factory, define, evolve, field, frozen

from ...api.controlplane import HASH_LABEL, missing_for
from ...api.load import REFUSED
from ...api.objects import ON_A_NODE, Pod, PriorityClass, ReplicaSet, ResourceClaim, of_kind, why_not_waiting
from ...api.record import UNSET, replace
from ...core.arrays import Batch, Rows
from ...core.cluster.listings import extended_owner
from ...core.cycle import Cycle
from ...core.decision import Decision, Details, FilterPass, NodeFailure, Ranking, ScoreError, reasons_in
from ...core.engine import Engine
from ...core.run import Run
from ...exceptions import UnknownNameError, did_you_mean
from ...framework.plugins.dynamicresources import DynamicResources
from ...framework.plugins.volumelimits import AzureDiskLimits, CinderLimits, EBSLimits, GCEPDLimits
from ...predicates.maxcsivolumecount import csi_excess
from ...predicates.maxvolumecount import Count as DiskCount
from ...predicates.maxvolumecount import disk_count
from ...predicates.rule import MAX_VOLUME_COUNT_EXCEEDED
from ..evictions import MIRROR, is_daemon, is_mirror
from ..reasons import shortage_of
from ..simulate import Scenario, Simulation
from .faileddemands import Causes, node_terms, plugin_of
from .values import (
    CloseUp,
    EvictionOutcome,
    Explanation,
    NodeCounts,
    NodeReport,
    NodeScore,
    NodeShortage,
    Objection,
    RequestedResource,
    RuleConcerned,
    RuleVerdict,
    Verdict,
    Victim,
    VolumeExcess,
    choice_among,
    eviction_for,
    in_groups,
    leads,
    why_no_room,
)

# --- each node ----------------------------------------------------------------------------------------------


DISKS = {
    name: plugin.disk
    for plugin in (EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits)
    for name in (plugin.name, plugin.disk.name)
}
"""The rules about disks of one type, predicates and plugins -> the type."""


@define(eq=False)
class JudgedNodes:
    """The maker of reports on the rows of a *decision*; *cycle*: one for the same pod on the same
    snapshot."""

    engine: Engine
    cycle: Cycle
    decision: Decision
    details: Details = field(init=False)
    visited: frozenset[int] = field(init=False)
    weights: dict[str, int] = field(init=False)
    _objection_by_key: dict[tuple[int, int, bool], Objection] = Factory(dict)
    """(findings, code, counted) -> the objection, which many nodes share."""

    def __attrs_post_init__(self) -> None:
        self.details = self.decision.details
        self.visited = frozenset(self.details.visited)
        self.weights = {priority.name: weight for priority, weight in self.cycle.algorithm.priorities}

    # --- reports --------------------------------------------------------------------------------------------

    def scored(self, rows: Sequence[int], ranking: Ranking | None) -> dict[int, NodeReport]:
        """The reports of *rows*, which fit, best first; *ranking*: their scores."""
        if ranking is None:
            return {row: self._report(row) for row in rows}
        totals = ranking.totals.tolist()
        return {
            rows[at]: self._report(rows[at], scores=self.scores(ranking, at), total=totals[at])
            for at in sorted(range(len(rows)), key=lambda at: -totals[at])
        }

    def scores(self, ranking: Ranking, at: int) -> dict[str, NodeScore]:
        """The scores of the node at index *at* of a ranking."""
        return {
            name: NodeScore(int(ranking.raw[name][at]), int(reduced[at]), self.weights[name])
            for name, reduced in ranking.by_priority.items()
        }

    def unscored(self, rows: Sequence[int]) -> list[NodeReport]:
        """The reports of other rows: those that fit but were not reached, then those that do not fit, the
        nearest to fitting first."""
        reports = []
        for row in rows:
            refusal = self.details.refusal(row)
            if refusal is None:
                reports.append(self._report(row))
                continue
            objections = self.objections(row)
            reasons = dict.fromkeys(
                [*refusal.reasons, *(reason for objection in objections for reason in objection.reasons)]
            )
            short = []
            for name in map(shortage_of, reasons):
                if name is not None and self.details.search is not None:
                    requested, free, allocatable = self.room(name, row)
                    short.append(NodeShortage(name, requested, free, has_none=not allocatable))
            accounts = ()
            if any(objection.rule == DynamicResources.name for objection in objections):
                plugin = plugin_of(self.engine, self.decision.pod, DynamicResources)
                accounts = tuple(plugin.accounts(self.cycle, row))
            reports.append(
                self._report(
                    row,
                    refusal,
                    reasons=refusal.reasons,
                    objections=objections,
                    shortages=tuple(short),
                    devices=accounts or UNSET,
                    volumes=tuple(self._volume_excess(row, objections)) or UNSET,
                )
            )
        return sorted(reports, key=lambda node: (not node.fits, node.nearness))

    def _report(self, row: int, refusal: NodeFailure | None = None, **fields: Any) -> NodeReport:
        rules, code = ((), None) if refusal is None else (refusal.rules, refusal.code)
        by = {"plugins": rules, "code": code} if self.decision.plugins is not None else {"predicates": rules}
        return NodeReport(self.details.names[row], refusal is None, row in self.visited, **by, **fields)

    def _volume_excess(self, row: int, objections: Iterable[Objection]) -> Iterator[VolumeExcess]:
        """The volumes that exceed a limit on *row*."""
        pod = self.cycle.template
        for objection in objections:
            if MAX_VOLUME_COUNT_EXCEEDED.text not in objection.reasons:
                continue
            rule = objection.rule
            judgement, at = self.judged(row)
            node = judgement.nodes.some(np.array([at]))
            if rule not in DISKS:
                yield from (VolumeExcess(*excess) for excess in csi_excess(pod, node, self.cycle, 0))
            elif isinstance(count := disk_count(pod, DISKS[rule], node, self.cycle), DiskCount):
                yield VolumeExcess(
                    DISKS[rule].plugin, int(count.attached[0]), int(count.new[0]), int(count.limit[0])
                )

    # --- one row --------------------------------------------------------------------------------------------

    def judged(self, row: int) -> tuple[FilterPass, int]:
        """The filter pass that counts for a row, where a search ran, and the row's place in it. It is the
        pass with nominated pods if the node fails with them, else the one without."""
        assert self.details.search is not None
        verdict = self.details.search.verdict
        place = verdict.place.get(row)
        trial = verdict.with_nominated
        if trial is not None and place is not None and not trial.fits[place]:
            return trial, place
        return verdict.plain, row

    def objections(self, row: int) -> tuple[Objection, ...]:
        """The objections of every predicate or plugin to a row, in running order."""
        if self.details.search is None:
            return ()
        judgement, at = self.judged(row)
        objections = tuple(self._objections(judgement, at))
        plain = self.details.search.verdict.plain
        if judgement is plain:
            return objections
        before = {objection.rule: objection.reasons for objection in self._objections(plain, row)}
        added = tuple(edit.entry.pod.key for edit in judgement.nodes.edits_at(at))
        return tuple(
            replace(objection, nominated=added)
            if before.get(objection.rule) != objection.reasons
            else objection
            for objection in objections
        )

    def _objections(self, judgement: FilterPass, at: int) -> Iterator[Objection]:
        counted = True
        for predicate, failures in judgement.findings:
            code = int(failures.codes[at])
            if code:
                key = id(failures), code, counted
                objection = self._objection_by_key.get(key)
                if objection is None:
                    reasons = failures.sequences[code]
                    objection = self._objection_by_key[key] = Objection(
                        predicate.name,
                        tuple(reason.text for reason in reasons),
                        all(reason.resolvable for reason in reasons),
                        counted,
                    )
                yield objection
                counted &= judgement.check_all
            elif failures.errors is not None and failures.errors[at]:
                errors = predicate.errors_of(failures, self.cycle.pod.name)
                yield Objection(predicate.name, (errors[int(failures.errors[at]) - 1],), False, counted)
                counted = False

    def room(self, name: str, row: int) -> tuple[int, int, int]:
        """The amounts of the resource *name*: requested by the pod, free on a row, and allocatable there."""
        nodes, at = Batch.everywhere(self.cycle.table), row
        if self.details.search is not None:
            judgement, at = self.judged(row)
            nodes = judgement.nodes
        if name == "pods":
            places = int(nodes.max_pods[at])
            return 1, places - int(nodes.pod_count[at]), places
        allocatable = int(nodes.allocatable(name)[at])
        return (
            self.cycle.template.requests.get(name, 0),
            allocatable - int(nodes.requested(name)[at]),
            allocatable,
        )

    def explanation(self, node: str | None) -> Explanation:
        """The whole explanation, with a close-up of *node*."""
        details = self.details
        engine = self.engine
        pod = self.decision.pod
        search = details.search
        algorithm = engine.algorithm_of(pod)
        rows = details.feasible_rows.tolist()
        scored = self.scored(rows, details.ranking or self._scores_for_people(details.feasible_rows))
        rules = []
        if algorithm is not None and search is not None:
            concerned = {predicate.name for predicate in search.verdict.plain.predicates}
            rules = [RuleConcerned(rule.name, rule.name in concerned) for rule in algorithm.predicates]
        order = dict.fromkeys([*details.visited, *engine.flow.node_list()])
        others = self.unscored([row for row in order if row not in scored])
        with_totals = [report for report in scored.values() if report.total is not None]
        eviction = eviction_for(self.cycle, self.decision, others)
        nodes = (*scored.values(), *others)
        close_up = None
        if node is not None:
            report = next(report for report in nodes if report.name == node)
            close_up = self._close_up(report, with_totals, eviction)
        choice = choice_among(engine, self.decision.host, with_totals, list(dict.fromkeys(details.feasible)))
        reports, causes = Causes(engine, pod, partial(_objections, engine)).of(nodes)
        visited = [report for report in nodes if report.visited]
        fit = sum(report.fits for report in visited)
        return Explanation.of(
            self.decision,
            engine.release.version,
            algorithm is not None and algorithm.check_all,
            scored=details.ranking is not None,
            rules=tuple(rules),
            counts=NodeCounts(len(nodes), len(visited), fit, len(visited) - fit),
            choice=choice,
            reasons=in_groups(nodes),
            causes=causes,
            eviction=eviction,
            close_up=close_up,
            nodes=reports,
        )

    # --- one node -------------------------------------------------------------------------------------------

    def _close_up(
        self, report: NodeReport, scored: Sequence[NodeReport], eviction: EvictionOutcome | None
    ) -> CloseUp:
        name = report.name
        row = self.engine.table.row_of[name]
        algorithm = self.engine.algorithm_of(self.decision.pod)
        candidates = {} if self.decision.preemption is None else self.decision.preemption.candidates
        # The reasons that no rule has given when it was asked about the node.
        reasons_of_rules = {
            reason for objection in report.objections for reason in objection.reasons if objection.counted
        }
        whole_pod = tuple(reason for reason in report.reasons if reason not in reasons_of_rules)
        verdicts = []
        if self.details.search is not None and algorithm is not None:
            objection_by_rule = {objection.rule: objection for objection in report.objections}
            is_asked = not whole_pod
            concerned = {predicate.name for predicate in self.judged(row)[0].predicates}
            for rule in [predicate.name for predicate in algorithm.predicates]:
                objection = objection_by_rule.get(rule)
                outcome: Verdict = "not asked" if not is_asked else "passes" if objection is None else "fails"
                reasons = () if objection is None else objection.reasons
                verdicts.append(RuleVerdict(rule, outcome, reasons, rule in concerned))
                is_asked &= objection is None or algorithm.check_all
        names = [name for name, amount in self.cycle.template.requests.items() if amount]
        return CloseUp(
            name,
            report.fits,
            whole_pod=whole_pod,
            verdicts=tuple(verdicts),
            devices=report.devices,
            room=tuple(
                RequestedResource(resource, *self.room(resource, row)) for resource in (*names, "pods")
            ),
            victims=tuple(Victim(pod.key, pod.priority) for pod in candidates[name].pods)
            if name in candidates
            else None,
            no_room=None if name in candidates or eviction is None else why_no_room(self.cycle, report),
            **self._score_fields(row, report, scored),
        )

    def _scores_for_people(self, rows: Rows) -> Ranking | None:
        """The scores of *rows* for people, where the scheduler did not need them."""
        if not len(rows):
            return None
        try:
            ranking = self.engine.flow.score(self.cycle, rows)
        except ScoreError:
            return None
        assert isinstance(ranking, Ranking)  # only those who compare leave scores for later
        return ranking

    def _score_fields(self, row: int, report: NodeReport, scored: Sequence[NodeReport]) -> dict[str, Any]:
        """The node's scores, or those that it would have beside the nodes that fit; and how it differs from
        the host."""
        host = self.decision.host
        fields: dict[str, Any] = {"out_of": len(scored)}
        if report.total is not None:
            rival = next((node for node in scored if (node.name == host) != (report.name == host)), None)
            fields |= {"place": [node.total for node in scored].index(report.total) + 1}
        else:
            ranking = self._scores_for_people(np.array([*self.details.feasible_rows.tolist(), row], np.intp))
            if ranking is None:
                return fields
            report = replace(report, scores=self.scores(ranking, -1), total=int(ranking.totals[-1]))
            rival = None
            fields |= {"would_score": True}
            if host is not None:
                at = self.details.feasible.index(host)
                rival = NodeReport(
                    host, True, True, scores=self.scores(ranking, at), total=int(ranking.totals[at])
                )
        fields |= {"scores": report.scores, "total": report.total}
        return fields if rival is None else {**fields, "against": rival.name, "leads": leads(report, rival)}


# --- the whole ----------------------------------------------------------------------------------------------


_NEEDED = re.compile("volume|claim|class", re.IGNORECASE)
"""Words in a refusal for a missing object."""
_DEVICES = re.compile("ResourceClaim|device class")


def missing_in(scenario: Scenario, explanation: Explanation) -> tuple[str, ...]:
    """The needs of the pod of *explanation* that *scenario* lacks, if it finds no node for that."""
    decision = explanation.decision
    if decision.host is not None or not _NEEDED.search(decision.error or ""):
        return ()
    devices = _DEVICES.search(decision.error or "") is not None
    return tuple(missing_for(decision.pod, scenario.objects, devices=devices))


def explain_in(
    simulation: Simulation, pod: Pod, *, node: str | None = None, alone: bool = False
) -> Explanation:
    """Explain *pod* when it is its turn in a new *simulation*: see :func:`explain`.

    The pods that come before it are scheduled first, unless *alone*. A pod on a node is explained as if it
    had none: it is taken off its node first, and no pod is scheduled.
    """
    run = begun_without_node(simulation, pod)
    host = pod.node_name
    for prior in () if alone or host else takewhile(lambda prior: prior.key != pod.key, simulation.pods()):
        simulation.note(run.cycle(prior))
    return explain(run.engine, freed(pod) if host else pod, node=node).with_fields(placed_on=host or None)


def begun_without_node(simulation: Simulation, pod: Pod) -> Run:
    """The run of a new *simulation*, which has begun, as if *pod* had no node, and no claim for its extended
    resources yet."""
    scenario = simulation.scenario
    if pod.node_name:
        others = tuple(
            item
            for item in scenario.objects
            if item.identity != pod.identity
            and not (isinstance(item, ResourceClaim) and extended_owner(item) == pod.uid)
        )
        simulation = evolve(simulation, scenario=evolve(scenario, objects=others))
    return simulation.begin()


def refused(
    scenario: Scenario, engine: Engine, pods: Callable[[Pod], bool]
) -> Iterator[tuple[Pod, tuple[str, ...]]]:
    """The running *pods* that *engine*, a new one, would not put on their nodes now, and why. Static pods are
    left out, as no scheduler places them."""
    run = Run(engine)
    run.feed.put_all(scenario.objects)
    for waiting in scenario.pending:  # their nominations count
        run.put(waiting)
    for pod in [pod for pod in engine.pods() if pods(pod) and not is_mirror(pod)]:
        extended = engine.listings.resource_claims.extended_of(pod)
        with run.savepoint():
            run.delete(pod)
            if extended is not None:
                run.delete(extended)
            decision = engine.schedule(freed(pod))
            row = engine.row_of(pod.node_name)
            failure = None if row is None else decision.details.refusal(row)
            if failure:
                reasons = failure.reasons
            elif decision.has_details:
                reasons = ()
            else:
                reasons = tuple(reasons_in(decision.error or ""))
        if reasons:
            yield pod, reasons


def freed(pod: Pod) -> Pod:
    """*pod* as if it had no node."""
    return replace(pod.bound_to(""), status=replace(pod.status, nominated_node_name=""))


def explain(engine: Engine, pod: Pod, *, node: str | None = None) -> Explanation:
    """The decision of *engine* on *pod* now, and its reasons; visiting order and round robin do not move.

    With *node* the explanation has a close-up of that node. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError` if there is no such node.
    """
    engine.fresh_table()
    names = engine.node_names()
    if node is not None and node not in names:
        raise UnknownNameError(
            f'node: expected a node of the cluster, got "{node}"{did_you_mean(node, sorted(names))}'
        )
    with engine.preserving_state(pod):
        decision = engine.schedule(pod)
    if not decision.has_details:
        causes = () if decision.is_gated else Causes(engine, pod, partial(_objections, engine)).of(())[1]
        return Explanation.of(decision, engine.release.version, causes=causes)
    return JudgedNodes(engine, engine.begin(pod), decision).explanation(node)


def _objections(engine: Engine, pod: Pod) -> dict[str, tuple[Objection, ...]]:
    """Node -> the objections of each rule to it for *pod*; the decision leaves no trace."""
    with engine.preserving_state(pod):
        decision = engine.schedule(pod)
    if not decision.has_details or decision.details.search is None:
        return {}
    judged_nodes = JudgedNodes(engine, engine.begin(pod), decision)
    return {name: judged_nodes.objections(row) for row, name in enumerate(decision.details.names)}


# --- the pod behind a name ----------------------------------------------------------------------------------


_WORDS = {
    "Pod": "po pod pods",
    "Deployment": "deploy deployment deployments",
    "ReplicaSet": "rs replicaset replicasets",
    "StatefulSet": "sts statefulset statefulsets",
    "DaemonSet": "ds daemonset daemonsets",
    "Job": "job jobs",
    "CronJob": "cj cronjob cronjobs",
    "ReplicationController": "rc replicationcontroller replicationcontrollers",
}
KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
"""kubectl's names of kinds -> kind."""

_WHY = {
    "finished": "it has finished (phase {phase}), so no scheduler considers it",
    "being deleted": "it is being deleted, so it gets no node",
    "for another scheduler": 'its schedulerName is "{scheduler}", and this run schedules for {names}',
}


@frozen
class Subject:
    """The pod that a question is about."""

    pod: Pod
    workload: str | None = None
    """The given workload, as ``Deployment shop/web``; None if a pod was given."""
    pods: tuple[Pod, ...] = ()
    """All pods of that workload."""
    refused: str | None = None
    """Why the API server would refuse the pod."""
    waiting: tuple[Pod, ...] = ()
    """Pods of the workload that find no node when all have had their turn, the first one first."""

    @property
    def concerns(self) -> frozenset[str]:
        """The objects that bear on the pod besides the cluster as a whole: itself, its owners and its claims,
        by kind and key."""
        pod = self.pod
        claims = (
            f"PersistentVolumeClaim {pod.namespace}/{volume.persistent_volume_claim}"
            for volume in pod.spec.volumes
        )
        resources = (
            f"ResourceClaim {pod.namespace}/{claim.resource_claim_name}" for claim in pod.spec.resource_claims
        )
        owners = (f"{kind} {pod.namespace}/{name}" for kind, name in _owners(pod, {}))
        return frozenset(
            [f"Pod {pod.key}", *owners, *([self.workload] if self.workload else ()), *claims, *resources]
        )

    def question(self, scheduler_names: Collection[str]) -> dict[str, Any]:
        """The fields of the answer about the question itself; *scheduler_names*: the schedulers whose pods
        are scheduled."""
        pod = self.pod
        node = pod.node_name
        name = pod.scheduler_name
        reason = why_not_waiting(pod, scheduler_names)
        if reason == ON_A_NODE:
            reason = "for another scheduler" if name not in scheduler_names else None
        ignored = None
        if node and MIRROR in pod.annotations:
            ignored = (
                f"it is a static pod of node {node}: the node itself runs it, and no scheduler placed it"
            )
        elif self.refused is not None:
            ignored = f"{REFUSED}: {self.refused}"
        elif reason is not None:
            names = ", ".join(sorted(scheduler_names))
            ignored = _WHY[reason].format(phase=pod.status.phase, scheduler=name, names=names)
            ignored = f"it is on node {node}; {ignored}" if node else ignored
        # The nodes that a DaemonSet made its pods for.
        nodes = (
            name
            for pod in filter(is_daemon, self.waiting)
            for term in node_terms(pod)
            for requirement in term.match_fields
            if requirement.key == "metadata.name"
            for name in requirement.values
        )
        return {
            "placed_on": node or None,
            "ignored": ignored,
            "workload": self.workload,
            "workload_pods": tuple(pod.key for pod in self.pods),
            "workload_waiting": tuple(pod.key for pod in self.waiting) or UNSET,
            "waiting_nodes": tuple(nodes) or UNSET,
        }

    def after(self, simulation: Simulation) -> Subject:
        """The subject with the first pod of its workload that finds no node, if there is one; *simulation*: a
        new one of the whole input."""
        alive = [pod for pod in self.pods if _rank(pod) < OVER]
        if len(alive) < 2 or all(pod.node_name for pod in alive):
            return self
        outcomes = simulation.finish()
        refused = {pod.key: reason for pod, reason in refusals(simulation.scenario)}
        unplaced = {
            key: outcome.word
            for key, outcome in outcomes.items()
            if not (outcome.has_successor or outcome.word in ("placed", "waiting"))
        } | dict.fromkeys(refused, "refused")
        by_key = {pod.key: pod for pod in alive}
        in_turn = sorted(unplaced, key=lambda key: unplaced[key] == "evicted")
        waiting = [by_key[key] for key in in_turn if key in by_key]
        if not waiting:
            return self
        pod = waiting[0]
        return evolve(self, pod=pod, pods=tuple(alive), waiting=tuple(waiting), refused=refused.get(pod.key))


def find_subject(scenario: Scenario, name: str, namespace: str | None = None) -> Subject:
    """The pod that *name* means: ``name``, ``namespace/name``, ``kind/name`` or ``kind/namespace/name``, with
    kubectl's names of kinds.

    Of several pods of one name, and of a workload's, a pending one is meant. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError` for a name that nothing has, or several.
    """
    existing = of_kind(Pod, scenario.objects)
    everyone = [*scenario.pending, *existing, *scenario.set_aside, *(pod for pod, _ in scenario.refused_pods)]
    head, slash, tail = name.partition("/")
    exact = [pod for pod in everyone if pod.key == name] if slash and namespace is None else []
    kind = KINDS.get(head.lower(), "") if slash else "Pod"
    if exact:
        subject = Subject(exact[0])
    elif not kind:
        kinds = () if any(pod.namespace == head for pod in everyone) else KINDS
        raise _unknown(name, everyone, [f"{word}/{tail}" for word in kinds])
    else:
        if namespace is None and "/" in tail:
            namespace, _, tail = tail.partition("/")
        inside = [pod for pod in everyone if namespace is None or pod.namespace == namespace]
        pod_subject = Subject(_pod_named(name, tail or head, inside, namespace)) if kind == "Pod" else None
        subject = pod_subject or _of_workload(name, kind, tail, inside, scenario)
    return evolve(
        subject, refused=next((reason for pod, reason in refusals(scenario) if pod is subject.pod), None)
    )


def refusals(scenario: Scenario) -> Iterator[tuple[Pod, str]]:
    """The pods that the API server would refuse, and why."""
    classes = [item.name for item in of_kind(PriorityClass, scenario.objects)]
    for pod, reason in scenario.refused_pods:
        lacks = "no PriorityClass with name" in reason
        hint = did_you_mean(pod.spec.priority_class_name, classes) if lacks else ""
        yield pod, f"{reason}; create it, or add it to the input{hint}" if lacks else reason


def _pod_named(query: str, name: str, everyone: Sequence[Pod], namespace: str | None) -> Pod:
    named = [pod for pod in everyone if pod.name == name]
    candidates = [pod for pod in named if not pod.node_name and not pod.is_terminal] or named
    if not candidates:
        where = "" if namespace is None else f" in namespace {namespace}"
        raise _unknown(query, everyone, where=where)
    if len(candidates) > 1:
        raise UnknownNameError(
            f'pod: expected one of {", ".join(pod.key for pod in candidates)}, got "{query}"'
        )
    return candidates[0]


def _unknown(name: str, pods: Iterable[Pod], more: Iterable[str] = (), where: str = "") -> UnknownNameError:
    names = [*more]
    hint = ""
    for pod in pods:
        names += [pod.key, pod.name]
        for kind, owner in _owners(pod, {}):
            if kind in _WORDS:
                names.append(f"{_WORDS[kind].split()[0]}/{owner}")
                if owner == name.rpartition("/")[2]:  # near names might not have it, as it is so short
                    hint = f'; did you mean "{names[-1]}"?'
    hint = hint or did_you_mean(name, [other for other in names if other != name])
    return UnknownNameError(f'pod: expected a pod of the input{where}, got "{name}"{hint}')


# --- workloads ----------------------------------------------------------------------------------------------


def _of_workload(query: str, kind: str, name: str, pods: list[Pod], scenario: Scenario) -> Subject:
    deployments = {
        item.key: item.controller.name
        for item in of_kind(ReplicaSet, scenario.objects)
        if item.controller is not None
    }
    owners = {pod.key: dict(_owners(pod, deployments)) for pod in pods}
    members = [pod for pod in pods if owners[pod.key].get(kind) == name]
    namespaces = sorted({pod.namespace for pod in members})
    if not members:
        word = query.partition("/")[0]
        hint = did_you_mean(
            query, sorted({f"{word}/{names[kind]}" for names in owners.values() if kind in names})
        )
        raise UnknownNameError(
            f'{kind}: expected a {kind} that has one, got "{query}", which has no pod in the input{hint}'
        )
    if len(namespaces) > 1:
        raise UnknownNameError(
            f'{kind}: expected -n with one of them, got "{query}", which namespaces {", ".join(namespaces)} have'
        )
    ranked = sorted(members, key=_rank)
    return Subject(ranked[0], f"{kind} {namespaces[0]}/{name}", tuple(ranked))


OVER = 2


def _rank(pod: Pod) -> int:
    """The rank of a pod: 0 for a pending one, 1 on a node, :data:`OVER` if finished or being deleted."""
    if pod.is_terminal or pod.is_terminating:
        return OVER
    return 1 if pod.node_name else 0


def _owners(pod: Pod, deployments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Kind and name of the pod's controller, and of the Deployment or CronJob behind it."""
    owner = pod.controller
    if owner is None:
        return
    yield owner.kind, owner.name
    if owner.kind == "ReplicaSet":
        key = f"{pod.namespace}/{owner.name}"
        ending = f"-{pod.labels.get(HASH_LABEL)}"
        parent = deployments.get(key, owner.name.removesuffix(ending) if owner.name.endswith(ending) else "")
        if parent:
            yield "Deployment", parent
    elif owner.kind == "Job":
        yield "CronJob", owner.name.rpartition("-")[0]
