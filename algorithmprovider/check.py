"""The meaning of a Policy on a release: rules, order, weights, and names that never run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from ..api.objects import JsonObject
from ..api.reading import Document
from ..api.record import DocumentRecord, Names, Record, field
from ..core.release import Gates, PolicyCells, Release
from ..exceptions import PolicyError, did_you_mean
from .catalogue import CATALOGUE, Catalogue
from .extenders import names_in_calling_order
from .gates import GivenGates, resolved_gates
from .policy import (
    DEFAULT_PROVIDER,
    NEW_VERSION,
    NEW_VERSION_REFUSED,
    OLD_VERSION,
    Policy,
    Registry,
    Selection,
    decoded,
    faults_of_form,
    in_running_order,
    notes_on_form,
    read_policy,
    select,
)

ALIASES = {"PodFitsPorts": "PodFitsHostPorts"}
SHORTEST_TIMEOUT = 0.001
_NOT_FOUND = re.compile(
    r"""\b(?P<kind>Predicate|Priority) type not found for (?P<quote>"?)(?P<name>.*)(?P=quote)\Z""",
    re.DOTALL | re.IGNORECASE,
)
Attempt = Callable[[Policy], object]
"""A call that raises for a refused Policy."""
REQUESTS_CHECKED_BY = ("GeneralPredicates", "PodFitsResources")


class RunningPredicate(Record):
    """A predicate that runs."""

    name: str
    origin: str = field(name="from")
    """The reason why it runs: the Policy, the provider, a gate, or that it is mandatory."""


class WeightedPriority(Record):
    """A priority that runs."""

    name: str
    weight: int


class PolicyFault(Record):
    """One fault of a Policy."""

    where: str
    """The path of the entry; empty: the whole Policy."""
    what: str
    """The fault, in the original's words."""
    got: str | None = None
    """The faulty value, where the text of the fault does not name it."""


class PolicyCheck(DocumentRecord, kw_only=True):
    """The rules that run under a Policy."""

    KIND = "PolicyCheck"
    release: str
    refused: str | None = None
    """The reason why the release does not start with the Policy, in the original's words; null if it
    starts."""
    faults: tuple[PolicyFault, ...] = ()
    """All faults, of each entry by itself; empty if the release starts."""
    predicates: tuple[RunningPredicate, ...] = ()
    """The predicates that run, in running order."""
    never_run: Names = ()
    """The predicates that are accepted but never run."""
    priorities: tuple[WeightedPriority, ...] = ()
    """The priorities, sorted by name."""
    extenders: Names = ()
    """The URLs of the extenders, in calling order."""
    check_all: bool = field(default=False, name="alwaysCheckAllPredicates")
    hard_pod_affinity_weight: int = field(default=1, name="hardPodAffinitySymmetricWeight")
    warnings: tuple[str, ...] = ()


def check(
    policy: Document | JsonObject | None,
    release: Release,
    gates: GivenGates = None,
    catalogue: Catalogue = CATALOGUE,
    *,
    provider: str | None = None,
    hard_pod_affinity_weight: int = 1,
) -> PolicyCheck:
    """The meaning of *policy* (None: *provider*) on *release*; a refusal is part of the report.

    *provider* and *hard_pod_affinity_weight* are those of the component configuration. Gates that the release
    refuses raise :class:`~kubeclassic.exceptions.PolicyError`, as they are no part of the Policy.
    """
    resolved = resolved_gates(release, gates)
    registry = Registry.of(release, resolved, catalogue)

    def select_from(parsed: Policy | None) -> Selection:
        return select(
            Registry.of(release, resolved, catalogue),
            parsed,
            provider or DEFAULT_PROVIDER,
            hard_pod_affinity_weight,
        )

    try:
        parsed = None if policy is None else read_policy(policy)
        selection = select_from(parsed and decoded(parsed, release))
    except PolicyError as error:
        return refused_check(policy, release, str(error), select_from, resolved)
    effective = parsed or Policy(kind="Policy", api_version="v1")
    ordering = (*release.ordering, *catalogue.added_predicates)
    running = [rule.name for rule in in_running_order(selection.predicates, ordering)]
    never_run = tuple(name for name in selection.predicates if name not in running)
    return PolicyCheck(
        release=release.version,
        predicates=tuple(
            RunningPredicate(name, _origin(name, effective, registry, provider)) for name in running
        ),
        never_run=never_run,
        priorities=tuple(WeightedPriority(rule.name, weight) for rule, weight in selection.priorities),
        extenders=names_in_calling_order(effective.extenders, release),
        check_all=effective.always_check_all,
        hard_pod_affinity_weight=selection.hard_pod_affinity_weight,
        warnings=tuple(_warnings(effective, selection, running, never_run, frozenset(registry.predicates))),
    )


def refused_check(
    policy: Document | JsonObject | None, release: Release, refusal: str, attempt: Attempt, gates: Gates
) -> PolicyCheck:
    """The report on a refused Policy, with the text of its *refusal*; *attempt* as for :func:`faults_of`."""
    faults = faults_of(policy, release, refusal, attempt)
    hints = dict.fromkeys(hint for fault in faults for hint in hints_of(fault.what, release, gates))
    return PolicyCheck(release=release.version, refused=refusal, faults=faults, warnings=tuple(hints))


def faults_of(
    policy: Document | JsonObject | None, release: Release, refusal: str, attempt: Attempt
) -> tuple[PolicyFault, ...]:
    """Every fault of *policy*, refused with *refusal*.

    *attempt* gets each entry by itself, and raises for a faulty one. A refusal that no entry causes alone is
    a fault of the whole.
    """
    try:
        parsed = read_policy(policy or {})
    except PolicyError:
        return (PolicyFault("", refusal),)
    if of_form := tuple(PolicyFault(*fault) for fault in faults_of_form(parsed, release)):
        return of_form
    parts: dict[str, list[Any]] = {name: [] for name in ("predicates", "priorities", "extenders")}
    refused = []
    for part, accepted in parts.items():
        for i, entry in enumerate(getattr(parsed, part) or ()):
            text = _refusal(attempt, replace(parsed, **{**dict.fromkeys(parts, ()), part: (entry,)}))
            if text is None:
                accepted.append(entry)
            else:
                # Names of rules are in the text, too.
                is_weight = "have a positive weight" in text and "Invalid value" not in text
                weight = f"weight {entry.weight}" if is_weight else None
                refused.append(PolicyFault(f"{part}[{i}]", text.removeprefix(f"{part}[0]."), weight))
    rest = _refusal(attempt, replace(parsed, **{name: tuple(entries) for name, entries in parts.items()}))
    bare = _refusal(attempt, replace(parsed, **dict.fromkeys(parts, ())))
    return tuple(refused) if rest is None else (PolicyFault("", rest), *(refused if bare is None else ()))


def _refusal(attempt: Attempt, policy: Policy) -> str | None:
    try:
        attempt(policy)
    except PolicyError as error:
        return str(error)
    return None


def _origin(name: str, policy: Policy, registry: Registry, provider: str | None) -> str:
    entry_by_name = {entry.name: entry for entry in policy.predicates or ()}
    if name in entry_by_name:
        return "Policy" if entry_by_name[name].argument is None else "Policy, with an argument"
    return "mandatory" if name in registry.mandatory else provider or DEFAULT_PROVIDER


def hints_of(refusal: str, release: Release, gates: Gates) -> Iterator[str]:
    """Hints for a name that upstream has and the release does not; *gates*: those that are set."""
    match = _NOT_FOUND.search(refusal)
    gate_by_rule = dict[str | None, str]((release.policies or PolicyCells()).rule_gates.items())
    for effect in release.gate_effects:
        gate_by_rule |= dict.fromkeys(
            (*effect.unregisters, *effect.registers, effect.registers_priority), effect.gate
        )
    if match is not None and (gate := gate_by_rule.get(match["name"])):
        is_on = gates.get(gate, release.gates[gate].default)
        switch = f"--feature-gates {gate}={str(not is_on).lower()}"
        yield f"{match['name']} is not registered while gate {gate} is {'on' if is_on else 'off'}: {switch} registers it"
    hint = hint_of_rules(refusal)
    if hint is not None:
        yield hint


def hint_of_rules(refusal: str) -> str | None:
    """A hint for a rule of no release, or for a Policy of a later version; None for any other refusal.

    >>> hint_of_rules("policy.json: Invalid configuration: Predicate type not found for NetworkMinCost")
    'no release has NetworkMinCost; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it'
    >>> hint_of_rules('predicate type not found for "Odd"')
    'no release has Odd; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it'
    """
    if refusal.endswith(NEW_VERSION_REFUSED):
        return f"apiVersion {NEW_VERSION} came with 1.17: write apiVersion: {OLD_VERSION}, or take --release 1.17 to 1.22"
    match = _NOT_FOUND.search(refusal)
    if match is None:
        return None
    if not match["name"]:
        return f"an entry of the Policy has no name, expected that of a {match['kind'].lower()}"
    names = CATALOGUE.predicates if match["kind"].lower() == "predicate" else CATALOGUE.priorities
    if match["name"] in names:
        return None
    suggestion = did_you_mean(match["name"], names)
    name = " ".join(match["name"].split())
    return f"no release has {name}; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it{suggestion}"


# --- warnings -----------------------------------------------------------------------------------------------


def _warnings(
    policy: Policy, selection: Selection, running: list[str], never_run: Names, upstream: frozenset[str]
) -> Iterator[str]:
    yield from notes_on_form(policy, selection.registry.release)
    entries = policy.predicates or ()
    for name in never_run:
        argument = next(entry.argument for entry in entries if entry.name == name)
        reason = "only names of the release's ordering do; call it CheckNodeLabelPresence"
        if name in ALIASES:
            reason = f"it is an old name; use {ALIASES[name]}"
        elif argument is None:
            reason = "it is not in the release's ordering"
        elif argument.service_affinity is not None:
            reason = "only names of the release's ordering do; call it CheckServiceAffinity"
        yield f"predicate {name}: accepted, but never runs: {reason}"
    for name, times in Counter(entry.name for entry in entries).items():
        if times > 1:
            yield f"predicate {name}: named {times} times; the last one with an argument counts, and it runs once"
    for predicate in entries:
        if predicate.argument is not None and predicate.name in upstream:
            yield f"predicate {predicate.name}: its argument replaces upstream's predicate of that name"
    if not any(name in running for name in REQUESTS_CHECKED_BY):
        yield f"neither {' nor '.join(REQUESTS_CHECKED_BY)} runs: no predicate checks what pods request"
    for name, times in Counter(entry.name for entry in policy.priorities or ()).items():
        if times > 1:
            yield f"priority {name}: named {times} times; the last weight counts"
    reads_resources = selection.registry.release.ratio_reads_resources
    for entry in policy.priorities or ():
        ratio = None if entry.argument is None else entry.argument.ratio
        resources = () if ratio is None else ratio.resources
        if resources and not reads_resources:
            yield f"priority {entry.name}: this release ignores its resources and looks at cpu and memory"
        for resource in resources if reads_resources else ():
            if resource.weight < 0:
                yield f"priority {entry.name}: resource {resource.name}: expected 1 or more, got weight {resource.weight}; upstream only logs it"
    if not selection.priorities and not policy.extenders:
        yield "no priorities and no extenders: every node scores 1"
    for extender in policy.extenders:
        if extender.timeout < SHORTEST_TIMEOUT:
            yield f"extender {extender.name}: httpTimeout is {extender.timeout:.9f} s: it is a whole number of nanoseconds"
