"""The question, the count and the records of its answer: how many copies fit, their nodes, what stops the
next one, and what stays free there but cannot be used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Literal

import attrs
from msgspec.structs import replace

from ...api.controlplane import (
    ADMISSION_KINDS,
    CLAIMS,
    Account,
    NewVolumes,
    accounts_of,
    admit,
    claims_made_for,
    claims_of_volumes,
    exceeded,
    target_node,
    templates_in,
    unspecified,
)
from ...api.garbage import no_garbage_collection
from ...api.load import Loaded
from ...api.meaning import SelectorError, ServerRules, parse_selector
from ...api.objects import KubeObject, Node, PersistentVolumeClaim, Pod, Quantity, ResourceQuota, of_kind
from ...api.reading import ResultDocument
from ...api.record import Amounts, Count, Counts, Names, Record, field
from ...core.decision import Decision
from ...core.engine import Engine
from ...core.run import Run
from ...exceptions import KubeclassicError, UnknownNameError, did_you_mean
from ...simulation.input import Input
from ...simulation.nodesbyuse import FreeRoom, Unit, short_of
from ...simulation.simulate import Scenario, in_order
from ..drain.trial import SteadyState, after_loss
from .options import CapacityOptions, NewNodesOptions
from .podtemplates import PodTemplate, numbers_for, template_of

# --- the question -------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class QuotaGate:
    """The admission of copies while the quotas of their namespaces have room."""

    accounts: Sequence[Account]
    refused: Sequence[str | None]
    """For each template the reason why each copy is refused, whatever the usage."""
    charges: Sequence[Sequence[tuple[Account, dict[str, Quantity]]]]
    """For each template the quotas that count its pods, and the usage by one."""

    def refusal(self, at: int, pod: Pod, claims: Iterable[KubeObject]) -> str | None:
        """The refusal of *pod*, a copy of template number *at*, or of its new *claims*; None if they are
        admitted, and counted from now on."""
        if (reason := self.refused[at]) is not None:
            return f'pods "{pod.name}" is forbidden: {reason}'
        charges = [
            (f'{CLAIMS} "{claim.name}"', account, account.usage_of(claim))
            for claim in claims
            for account in self.accounts
        ]
        charges += ((f'pods "{pod.name}"', *charge) for charge in self.charges[at])
        for refused, account, amounts in charges:
            if (reason := exceeded(account.quota, account.used, amounts)) is not None:
                return f"{refused} is forbidden: {reason}"
            account.add(amounts)
        return None

    def removed(self, pod: Pod) -> None:
        """Take a deleted *pod* off the quotas; its claims stay."""
        for account in self.accounts:
            account.add({name: -quantity for name, quantity in account.usage_of(pod).items()})


_SELECTS = re.compile(r"[=!()\s]")
"""Characters of a selector that no list of names has."""


class QuestionError(KubeclassicError):
    """A question about capacity that has no answer; the text says what was expected and what was given."""


@attrs.frozen(kw_only=True, repr=False)
class CapacityQuestion:
    """A cluster without the excluded nodes, and the templates as the API server would admit them."""

    scenario: Scenario
    templates: tuple[PodTemplate, ...]
    refused: tuple[str | None, ...]
    """For each template the reason why the API server refuses all of its pods; None: it does not."""
    ratio: tuple[int, ...]
    limit: int | None
    excluded: Names
    """The excluded nodes."""
    pending_first: bool
    order: str
    admits: bool
    """Whether the API server's admission counts."""
    existing: tuple[KubeObject, ...]
    """All objects of the API server, also pods on excluded nodes and pods that have finished."""

    @property
    def pods(self) -> list[Pod]:
        """The pods whose copies are counted."""
        return [template.pod for template in self.templates]

    @property
    def objects(self) -> tuple[KubeObject, ...]:
        """The objects before any copy: the cluster, and what comes with the templates."""
        return (*self.scenario.objects, *(item for template in self.templates for item in template.objects))

    def gate(self) -> QuotaGate:
        """The API server's admission of copies."""
        objects = (*self.existing, *(item for template in self.templates for item in template.objects))
        accounts = accounts_of(of_kind(ResourceQuota, objects) if self.admits else (), objects)
        refused = []
        charges = []
        for template, reason in zip(self.templates, self.refused, strict=True):
            pod = template.pod
            charged = [(account, amounts) for account in accounts if (amounts := account.usage_of(pod))]
            for account, _ in charged:
                reason = reason or unspecified(account.quota, pod)
            refused.append(reason)
            charges.append(charged)
        return QuotaGate(accounts, refused, charges)

    def copies(self) -> Iterator[tuple[int, Pod, Sequence[KubeObject]]]:
        """Copies without end, in turn: the number of the template, the copy, and the new claims that are made
        for it; a claim that is there is kept."""
        objects = self.objects
        pods = {item.key for item in of_kind(Pod, (*self.scenario.objects, *self.scenario.pending))}
        kept = {item.key for item in of_kind(PersistentVolumeClaim, objects)}
        made_from = templates_in(objects)
        rules = [item for item in objects if isinstance(item, ADMISSION_KINDS)]
        new_volumes = NewVolumes.beside(objects)
        numbers = [numbers_for(template, pods) for template in self.templates]
        for at in cycle(at for at, times in enumerate(self.ratio) for _ in range(times)):
            copied, claims = self.templates[at].copy(next(numbers[at]))
            pod, devices = claims_made_for(copied, made_from)
            own = admit(claims_of_volumes(pod), rules).objects if pod.spec.volumes else ()
            new = of_kind(PersistentVolumeClaim, (*claims, *own))
            bound = (item for claim in new if claim.key not in kept for item in new_volumes.of(claim))
            yield at, pod, [*bound, *devices]


def asked(inputs: Input, options: CapacityOptions, loaded: Sequence[tuple[str, Loaded]]) -> CapacityQuestion:
    """The question about *inputs* for the *loaded* templates, each with words for its source.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for templates and options that make no question.
    """
    scenario = inputs.scenario
    spec = inputs.spec
    excluded = _excluded(scenario.nodes, options.exclude_nodes)
    objects = (
        item
        for item in scenario.objects
        if not (isinstance(item, Node) and item.name in excluded)
        and not (isinstance(item, Pod) and item.spec.node_name in excluded)
    )
    pending = tuple(pod for pod in scenario.pending if target_node(pod) not in excluded)
    remaining = attrs.evolve(scenario, objects=tuple(objects), pending=pending) if excluded else scenario
    if isinstance(options, NewNodesOptions) and options.gone:
        steady = SteadyState(
            scenario.objects,
            (),
            0,
            lambda: spec.engine(scenario.config_maps),
            spec.scheduler_names,
            jobs=scenario.jobs,
        )
        remaining = after_loss(steady, scenario, excluded)
    templates = {}
    refused = []
    for where, part in loaded:
        template = template_of(part, where, remaining.objects, strict=inputs.defaults)
        reason = None
        identity = (template.pod.namespace, template.name)
        pod = template.pod
        if identity in templates:
            raise QuestionError(
                f"pod: expected different names, got {'/'.join(identity)} twice: copies are named after them"
            )
        if pod.spec.scheduler_name not in spec.scheduler_names:
            # Copies are for the scheduler of the question, whatever the template says.
            pod = replace(pod, spec=replace(pod.spec, scheduler_name=min(spec.scheduler_names)))
            template = attrs.evolve(template, pod=pod)
        if inputs.defaults:
            template, reason = _admitted(template, remaining.objects, spec.server)
        templates[identity] = template
        refused.append(reason)
    ratio = options.ratio or (1,) * len(templates)
    if len(ratio) != len(templates) or min(ratio, default=1) < 1:
        written = ":".join(map(str, ratio))
        raise QuestionError(
            f"ratio: expected {len(templates)} numbers of 1 or more, one for each pod, got {written}"
        )
    if options.max_limit and options.max_limit < (options.pods or 0):
        raise QuestionError(
            f"max-limit: expected as many as pods {options.pods} at least, or none, got {options.max_limit}"
        )
    return CapacityQuestion(
        scenario=remaining,
        templates=tuple(templates.values()),
        refused=tuple(refused),
        ratio=tuple(ratio),
        excluded=excluded,
        limit=options.pods if options.pods is not None else options.max_limit or None,
        admits=inputs.defaults,
        pending_first=options.pending_first,
        order=inputs.order,
        existing=(*scenario.objects, *scenario.pending, *scenario.set_aside),
    )


# --- nodes --------------------------------------------------------------------------------------------------


def _excluded(nodes: Sequence[Node], texts: Iterable[str]) -> Names:
    """The nodes that *texts* exclude, each of them names with commas between them or a label selector."""
    names = [node.name for node in nodes]
    excluded = set[str]()
    for text in texts:
        if _SELECTS.search(text.replace(", ", ",").strip()):
            try:
                matches = parse_selector(text)
            except SelectorError as error:
                raise UnknownNameError(f"exclude-nodes: {error}") from None
            chosen = dict.fromkeys(node.name for node in nodes if matches(node.labels))
            if not chosen:
                raise UnknownNameError(f'exclude-nodes: got "{text}", which chooses no node')
        else:
            chosen = dict.fromkeys(name for part in text.split(",") if (name := part.strip()))
            if not chosen:
                raise UnknownNameError(f'exclude-nodes: expected names of nodes or a selector, got "{text}"')
            for name in chosen:
                if name not in names:
                    expected = "the name of a node or a selector"
                    hint = did_you_mean(name, names)
                    raise UnknownNameError(f'exclude-nodes: expected {expected}, got "{name}"{hint}')
        excluded.update(chosen)
    if names and len(excluded) == len(names):
        raise QuestionError(
            f"exclude-nodes: expected to keep at least one node, got {', '.join(texts)}, which is every node"
        )
    return tuple(name for name in names if name in excluded)


# --- the API server -----------------------------------------------------------------------------------------


def _admitted(
    template: PodTemplate, objects: Sequence[KubeObject], server: ServerRules
) -> tuple[PodTemplate, str | None]:
    """*template* with its priority and with defaults of LimitRanges; and why its pods are refused, or
    None."""
    admission = admit([template.pod, *template.objects, *template.claims], objects, server=server)
    if admission.refused:
        return template, admission.refused[0][1]
    ready = of_kind(Pod, admission.objects)[0]
    claims = tuple(of_kind(PersistentVolumeClaim, admission.objects[1 + len(template.objects) :]))
    return attrs.evolve(
        template, pod=ready, objects=admission.objects[1 : 1 + len(template.objects)], claims=claims
    ), None


MOST = 500_000
"""The most copies that are placed if nothing else ends the count, as with a policy without predicates on
resources."""
STEP = 500
"""Copies between two calls of ``on_progress``."""


@attrs.frozen(kw_only=True, repr=False)
class CopyCount:
    """The result of a count: copies by template, what stopped it, and the nodes before and after."""

    placed: tuple[PlacedTemplate, ...]
    stop: Stop
    before: FreeRoom
    after: FreeRoom
    barred: frozenset[str]
    """The nodes that rejected the first copy for a reason other than a shortage."""
    pending: int
    """Pending pods of the cluster that were placed before all copies."""
    still_waiting: int
    """Pending pods of the cluster that were left out, or found no node."""
    evicted: Mapping[str, str]
    """Evicted pod -> the pod that evicted it."""


@attrs.define(eq=False, repr=False)
class Counting:
    """A count under way, by a new *engine*; *on_progress* is called with the number of placed copies."""

    question: CapacityQuestion
    engine: Engine
    on_progress: Callable[[int], None] | None = None
    _run: Run = attrs.field(init=False)
    _gate: QuotaGate = attrs.field(init=False)
    _hosts: dict[str, tuple[int, str]] = attrs.Factory(dict)
    """Key of a copy -> the number of its template, and its node."""
    _barred: frozenset[str] = frozenset()
    _pods: dict[str, Pod] = attrs.Factory(dict)
    """The pods of the cluster by key, from the first eviction on."""
    _charged: int = 0
    """The number of evictions that the gate knows of."""

    def __attrs_post_init__(self) -> None:
        self._run, self._gate = Run(self.engine, details=False), self.question.gate()

    def count(self) -> CopyCount:
        """Place copies until no more fit, or the limit is reached."""
        run = self._run
        question = self.question
        engine = self.engine
        pending = question.scenario.pending
        with no_garbage_collection():
            for item in question.objects:
                run.put(item)
        still_waiting = len(pending)
        if question.pending_first:
            # As ``simulate`` does it.
            for pod in pending:
                run.put(pod)
            for pod in in_order(pending, question.order, engine):
                run.cycle(pod)
            for pod in run.retries():
                run.cycle(pod, retry=True)
            self._note_evictions()
            still_waiting = sum(engine.pod_state(pod) is None for pod in pending)
        before = FreeRoom.of(engine)
        with no_garbage_collection():
            stop = self._place_copies()
        # The copies that have a node and need not wait there for Permit plugins.
        failed = {decision.pod.key for decision, failure in run.take_ended() if failure is not None}
        unplaced = failed.union(pod.key for pod in run.held)
        placed = []
        for number, template in enumerate(question.templates):
            hosts = (host for key, (at, host) in self._hosts.items() if at == number and key not in unplaced)
            nodes = Counter(hosts)
            pod = template.pod
            requests = {name: amount for name, amount in engine.template_of(pod).requests.items() if amount}
            by_node = dict(nodes.most_common())
            placed.append(
                PlacedTemplate(template.name, nodes.total(), template.kind, pod.namespace, requests, by_node)
            )
        return CopyCount(
            placed=tuple(placed),
            stop=stop,
            before=before,
            after=FreeRoom.of(engine),
            barred=self._barred,
            still_waiting=still_waiting,
            pending=len(pending) - still_waiting,
            evicted=dict(run.evicted),
        )

    def _place_copies(self) -> Stop:
        run = self._run
        limit = MOST if self.question.limit is None else self.question.limit
        for done, (at, pod, claims) in enumerate(self.question.copies()):
            if done == limit:
                break
            # The claims of a copy exist before it is scheduled.
            for claim in claims:
                run.put(claim)
            name = self.question.templates[at].name
            if (refusal := self._gate.refusal(at, pod, claims)) is not None:
                return Stop(kind="Forbidden", message=refusal, template=name)
            if not self._hosts:
                self._barred = frozenset(
                    node for node, reasons in run.ask(pod).failed.items() if not short_of(reasons)
                )
            decision = run.cycle(pod)
            for retried in run.retries():
                decision = run.cycle(retried, retry=True)
            self._note_evictions()
            if decision.host is None:
                failed = run.ask(decision.pod).failed if decision.is_fit_error else {}
                return after(decision, failed, name, FreeRoom.of(self.engine))
            self._hosts[pod.key] = at, decision.host
            if self.on_progress is not None and done % STEP == 0:
                self.on_progress(done)
        return Stop(kind="LimitReached", message=f"Maximum number of pods simulated: {limit}")

    def _note_evictions(self) -> None:
        """Take evicted pods off the quotas, and evicted copies off the count."""
        evicted = self._run.evicted
        if evicted and not self._pods:
            scenario = self.question.scenario
            self._pods = {pod.key: pod for pod in of_kind(Pod, (*scenario.objects, *scenario.pending))}
        for key in islice(evicted, self._charged, None):
            at = self._hosts.pop(key, None)
            pod = self.question.templates[at[0]].pod if at is not None else self._pods.get(key)
            if pod is not None:
                self._gate.removed(pod)
        self._charged = len(evicted)


# --- the count ----------------------------------------------------------------------------------------------


MOST_NAMED = 3


class CopyShortage(Record):
    """A resource of which nodes have too little for one more copy."""

    resource: str
    nodes: Count
    """Nodes that have too little of it, and reject the copy only because of shortages."""
    examples: Names
    """The first of these nodes."""
    left: int
    """The total free amount on these nodes."""


class Stop(Record, kw_only=True):
    """The reason why no more copies were placed."""

    message: str
    """The message of the scheduler, or of the API server, for the first copy that does not fit."""
    reasons: Counts = field(default_factory=dict)
    """Reason -> number of nodes that reject this copy for it, most frequent first. A node can have
    several."""
    kind: Literal["Unschedulable", "LimitReached", "Forbidden", "SchedulingGated", "SchedulerError"]
    """Forbidden: the API server refuses the copy. SchedulerError: the decision failed."""
    template: str | None = None
    """The template of that copy; null: the limit was reached."""
    shortages: tuple[CopyShortage, ...] = ()
    """Resources that ran out, most nodes first."""
    stranded: Amounts = field(default_factory=dict)
    """Resource -> free amount on nodes that lack something else."""
    out_of_reach: Amounts = field(default_factory=dict)
    """Resource -> free amount on nodes that reject the copy for a reason other than a shortage."""


def after(decision: Decision, failed: Mapping[str, list[str]], template: str, room: FreeRoom) -> Stop:
    """The stop at *decision*, on a copy without a node; *failed*: node -> reasons; *room*: the nodes at that
    moment."""
    reasons = Counter(reason for texts in failed.values() for reason in texts)
    short = {name: missing for name, texts in failed.items() if (missing := short_of(texts))}
    nodes = dict[str, list[str]]()
    for name, missing in short.items():
        for resource in missing:
            nodes.setdefault(resource, []).append(name)
    free = dict(zip(room.resources, room.free, strict=True))
    shortages = []
    for resource, names in nodes.items():
        remaining = sum(free[resource][room.at(set(names))].tolist()) if resource in free else 0
        shortages.append(CopyShortage(resource, len(names), tuple(names[:MOST_NAMED]), remaining))
    beyond = room.at(failed) & ~room.at(short)
    stranded = {}
    out_of_reach = {}
    for resource, amounts in free.items():
        others = room.at({name: missing for name, missing in short.items() if resource not in missing})
        if amount := sum(amounts[others].tolist()):
            stranded[resource] = amount
        if amount := sum(amounts[beyond].tolist()):
            out_of_reach[resource] = amount
    error: Literal["SchedulingGated", "SchedulerError"] = (
        "SchedulingGated" if decision.is_gated else "SchedulerError"
    )
    return Stop(
        kind="Unschedulable" if decision.is_fit_error else error,
        message=decision.error or "",
        template=template,
        reasons=dict(reasons.most_common()),
        stranded=stranded,
        shortages=tuple(sorted(shortages, key=lambda shortage: -shortage.nodes)),
        out_of_reach=out_of_reach,
    )


# --- the whole answer ---------------------------------------------------------------------------------------


class PlacedTemplate(Record):
    """A template, and the nodes of its copies."""

    name: str
    """The name of the pod or workload."""
    fits: Count
    kind: str
    """The kind in the file, such as Pod or Deployment."""
    namespace: str
    requests: Amounts
    """The requests of one copy, as counted by the release."""
    nodes: Counts


class Headroom(Record):
    """A resource over all nodes."""

    resource: str
    unit: Unit
    allocatable: int
    requested_before: int
    requested: int
    """With the copies."""
    free: Count
    copies: int | None
    """How many copies would fit if only this resource counted, without nodes that reject them for other
    reasons. null: copies do not request it, or are of several templates."""


class PendingPods(Record):
    """Pods that were pending in the cluster."""

    placed_first: Count
    """Pods that --pending-first placed."""
    waiting: Count
    """Pods that were left out or found no node."""


class CapacityDocument(ResultDocument, kw_only=True):
    """The copies of pods that still fit into a cluster, their nodes, and what stops the next one."""

    KIND = "Capacity"
    release: str
    fits: Count
    """How many copies fit, of all templates together."""
    wanted: int | None
    """How many copies were asked for (--pods); null: as many as fit."""
    templates: tuple[PlacedTemplate, ...]
    nodes: Counts
    """Node -> copies on it; nodes without any are left out. Most copies come first."""
    zones: Counts
    """Zone -> copies on its nodes; empty if no node has a zone."""
    stop: Stop
    headroom: tuple[Headroom, ...]
    """Each resource over all nodes, pods last."""
    excluded_nodes: Names
    pending: PendingPods
    evicted: Mapping[str, str]
    """--preemption: evicted pod -> the pod that evicted it."""
