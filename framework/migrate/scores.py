"""The priorities of a Policy as score plugins: which share a plugin, which have none, and with which weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import attrs

from ...algorithmprovider.policy import LabelPreference, PriorityArgument, RatioArguments
from ...api.meaning.label_syntax import is_valid_label_key
from ...priorities.requestedtocapacity import DEFAULT_SHAPE
from .equivalents import (
    DOUBLE_BALANCE,
    HEAVIER_SPREAD,
    NODE_LABEL,
    OLDER_RULES,
    ONE_STRATEGY,
    OWN_CONSTRAINTS,
    PEER_SPREADING,
    RATIO_RESOURCES,
    RULES,
    SELECTOR_SPREAD,
    SERVICE_AFFINITY,
    Note,
    left_out,
)

Point = tuple[int, int]
FALLING: tuple[Point, ...] = ((0, 10), (100, 0))
RISING: tuple[Point, ...] = ((0, 0), (100, 10))
CPU_AND_MEMORY = {"cpu": 1, "memory": 1}
LINES: dict[tuple[Point, ...], str] = {FALLING: "LeastAllocated", RISING: "MostAllocated"}
MAX_SCORE, MAX_RESOURCE_WEIGHT = 10, 100


@attrs.frozen(repr=False)
class ResourceStrategy:
    """A priority that scores a node's use of resources: ``shape`` is a broken line from utilization, 0 to 100, to a score, 0 to 10."""

    name: str
    weight: int
    shape: tuple[Point, ...]
    resources: Mapping[str, int] = attrs.field(factory=lambda: CPU_AND_MEMORY)

    def at(self, utilization: int) -> Fraction:
        """The score at *utilization*."""
        left = self.shape[0]
        for right in self.shape:
            if utilization <= right[0]:
                along = Fraction(utilization - left[0], (right[0] - left[0]) or 1)
                return left[1] + along * (right[1] - left[1]) if right != left else Fraction(left[1])
            left = right
        return Fraction(left[1])


@attrs.frozen(repr=False)
class Strategy:
    """``scoringStrategy`` and its weight; ``document`` is None if the priorities cancel out."""

    document: dict[str, Any] | None
    weight: Fraction
    is_exact: bool
    dropped: tuple[str, ...]
    """The names of priorities over other resources, which weigh less and are left out."""


def merged(usages: Sequence[ResourceStrategy]) -> Strategy:
    """*usages*, at least one, as one strategy: lines over the same resources are added up, those with the most weight remain."""
    groups: dict[object, list[ResourceStrategy]] = {}
    for usage in usages:
        groups.setdefault(tuple(sorted(usage.resources.items())), []).append(usage)
    kept = max(groups.values(), key=lambda group: sum(usage.weight for usage in group))
    dropped = tuple(usage.name for usage in usages if usage not in kept)
    if len(kept) == 1:
        return Strategy(_document(kept[0].shape, kept[0].resources), Fraction(kept[0].weight), True, dropped)
    points = sorted({0, 100, *(utilization for usage in kept for utilization, _ in usage.shape)})
    line = {point: sum((usage.weight * usage.at(point) for usage in kept), Fraction(0)) for point in points}
    low, high = min(line.values()), max(line.values())
    if low == high:
        return Strategy(None, Fraction(0), True, dropped)
    stretched = {utilization: (score - low) * MAX_SCORE / (high - low) for utilization, score in line.items()}
    shape = tuple((utilization, round(score)) for utilization, score in stretched.items())
    is_exact = all(score.denominator == 1 for score in stretched.values())
    for plain in LINES:
        straight = ResourceStrategy("", 1, plain)
        if all(straight.at(utilization) == score for utilization, score in shape):
            shape = plain
    return Strategy(_document(shape, kept[0].resources), Fraction(high - low) / MAX_SCORE, is_exact, dropped)


def _document(shape: tuple[Point, ...], resources: Mapping[str, int]) -> dict[str, Any]:
    listed = [{"name": name, "weight": weight} for name, weight in resources.items()]
    if shape in LINES and resources == CPU_AND_MEMORY:
        return {"type": LINES[shape], "resources": listed}
    points = [{"utilization": utilization, "score": score} for utilization, score in shape]
    return {"type": "RequestedToCapacityRatio", "resources": listed, "requestedToCapacityRatio": {"shape": points}}


def fitted_resources(resources: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """Weights of resources scaled to 1 to 100, with their ratios kept where possible; and whether any had to change."""
    positive = {name: weight for name, weight in resources.items() if weight > 0}
    top = max(positive.values(), default=0)
    if top > MAX_RESOURCE_WEIGHT:
        positive = {name: max(1, round(Fraction(weight * MAX_RESOURCE_WEIGHT, top))) for name, weight in positive.items()}
    return positive or dict(CPU_AND_MEMORY), positive != dict(resources)


MAX_WEIGHT = 2**31 - 1


def fitted(weights: Mapping[str, Fraction]) -> tuple[dict[str, int], dict[str, str]]:
    """*weights*, each above 0, as whole numbers of 32 bits; and name -> a text for each weight that was rounded.

    All are multiplied by their common denominator. If that makes them too large they are divided by their common divisor, and only if they
    are still too large they are scaled and rounded.
    """
    if not weights:
        return {}, {}
    common = lcm(*(weight.denominator for weight in weights.values()))
    whole = {name: int(weight * common) for name, weight in weights.items()}
    if max(whole.values()) > MAX_WEIGHT:
        shared = gcd(*whole.values())
        whole = {name: weight // shared for name, weight in whole.items()}
    top = max(whole.values())
    if top <= MAX_WEIGHT:
        return whole, {}
    exact = {name: Fraction(weight * MAX_WEIGHT, top) for name, weight in whole.items()}
    rounded = {name: max(1, round(weight)) for name, weight in exact.items()}
    text = "weight {} clipped to {} as all were scaled to fit 32 bits"
    return rounded, {name: text.format(weights[name], rounded[name]) for name in whole if rounded[name] != exact[name]}


HOSTNAME = "kubernetes.io/hostname"
BALANCED = "NodeResourcesBalancedAllocation"
MAX_TERM = 100
USAGES = {"LeastRequestedPriority": FALLING, "MostRequestedPriority": RISING, "RequestedToCapacityRatioPriority": DEFAULT_SHAPE}


@attrs.define(repr=False)
class Scoring:
    """Takes priorities one by one, in order; after :meth:`finish` the result is in ``weights``, ``args`` and ``preferred``."""

    notes: list[Note]
    reads_resources: bool
    """Whether the release reads the resources of requestedToCapacityRatioArguments."""
    selector_spread: bool = False
    """Whether plugin SelectorSpread replaces the priorities that prefer few peers."""
    weights: dict[str, Fraction] = attrs.field(factory=dict)
    args: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    preferred: list[dict[str, Any]] = attrs.field(factory=list)
    """Preferred terms of addedAffinity."""
    _usages: list[ResourceStrategy] = attrs.field(factory=list)
    _labels: list[tuple[str, LabelPreference, int]] = attrs.field(factory=list)
    _spread: dict[str, int] = attrs.field(factory=dict)
    """Priority that prefers few peers, or label to spread over -> weight."""
    _domains: list[str] = attrs.field(factory=list)

    def note(self, subject: str, text: str, upstream: str = "") -> None:
        """Add a note on something that is not the same as before."""
        self.notes.append(Note(subject, text, upstream))

    # --- one by one -------------------------------------------------------------------------------------------------

    def take(self, name: str, weight: int, argument: PriorityArgument | None) -> None:
        """Take the priority called *name*, with its argument in the Policy."""
        if argument is not None:
            if argument.ratio is not None:
                self._take_ratio(name, weight, argument.ratio)
            elif argument.label_preference is not None:
                self._labels.append((name, argument.label_preference, weight))
            elif argument.service_anti_affinity is not None:
                self._take_domain(name, weight, argument.service_anti_affinity.label)
            return
        rule = RULES[name]
        if not rule.plugins:
            self.note(name, left_out(name), OLDER_RULES if rule.is_refused else "")
            return
        if rule.is_noted and not (name in PEER_SPREADING and self.selector_spread):
            self.note(name, rule.sentence)
        if name in USAGES:
            if name == "RequestedToCapacityRatioPriority":
                self.note(name, "its line without an argument falls from 10 to 0, as LeastAllocated does", OLDER_RULES)
            self._usages.append(ResourceStrategy(name, weight, USAGES[name]))
        elif name in (*PEER_SPREADING, OWN_CONSTRAINTS):
            self._spread[name] = weight
        else:
            self.weights[rule.plugins[0]] = Fraction(weight)

    def _take_ratio(self, name: str, weight: int, ratio: RatioArguments) -> None:
        written = {resource.name: resource.weight or 1 for resource in ratio.resources}
        if written and not self.reads_resources:
            self.note(name, "its resources are left out, as the release ignores them", RATIO_RESOURCES)
            written = {}
        resources, changed = fitted_resources(written or CPU_AND_MEMORY)
        if changed:
            self.note(name, f"weights of resources are 1 to 100: {written} became {resources}")
        self.note(name, "utilization is rounded down instead of up, and a resource that a node does not have is left out")
        self._usages.append(ResourceStrategy(name, weight, tuple((point.utilization, point.score) for point in ratio.shape), resources))

    def _take_domain(self, name: str, weight: int, label: str) -> None:
        if is_valid_label_key(label):
            self.note(name, f"left out: no node can have label {label}")
            return
        text = (
            f"replaced by a default constraint of PodTopologySpread, ScheduleAnyway over {label}: pods with constraints of their own"
            " do not have it, and other pods count by number, not by share"
        )
        self.note(name, text, SERVICE_AFFINITY)
        self._spread[name] = weight
        self._domains += [label] if label not in self._domains else []

    # --- those that share a plugin ----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Combine the priorities that share a plugin."""
        if self._usages:
            strategy = merged(self._usages)
            names = ", ".join(usage.name for usage in self._usages if usage.name not in strategy.dropped)
            for name in strategy.dropped:
                self.note(name, "left out: a profile has one scoring strategy, and another one weighs more")
            if len(self._usages) - len(strategy.dropped) > 1:
                how = "added up to one line" if strategy.is_exact else "added up to one line, rounded to whole scores"
                self.note(names, how if strategy.document else "left out: they cancel out", ONE_STRATEGY)
            if strategy.document is not None:
                self.args["NodeResourcesFit"] = {"scoringStrategy": strategy.document}
                self.weights["NodeResourcesFit"] = strategy.weight
        if self._spread:
            if self.selector_spread:
                self._keep_selector_spread()
            if self._spread:
                self._spread_by_topology()
        if self._labels:
            self._combine_labels()
        if BALANCED in self.weights:
            text = "its scores range over 50 to 100 only, and pods without requests count as asking for nothing"
            self.weights[BALANCED] *= 2
            self.note("BalancedResourceAllocation", f"weight doubled: {text}", DOUBLE_BALANCE)

    def _keep_selector_spread(self) -> None:
        weight = sum(self._spread.pop(name, 0) for name in PEER_SPREADING)
        if weight:
            self.weights[SELECTOR_SPREAD] = Fraction(weight)
            text = "plugin SelectorSpread has the old formula, but is taken under multiPoint only; do not count on it in later releases"
            self.note(SELECTOR_SPREAD, f"{text}; pods with constraints of their own are not spread")

    def _spread_by_topology(self) -> None:
        own = self._spread.get(OWN_CONSTRAINTS, 0)
        peers = sum(weight for name, weight in self._spread.items() if name != OWN_CONSTRAINTS)
        heavier = max(own, peers)
        self.weights["PodTopologySpread"] = Fraction(heavier)
        if own and peers and own < heavier:
            text = f"weight {own} became {peers}: it shares PodTopologySpread with what spreads pods without constraints"
            self.note(OWN_CONSTRAINTS, text, HEAVIER_SPREAD)
        elif own and peers != own and peers:
            self.note("PodTopologySpread", f"weight {own} also where pods have no constraints of their own, which had {peers}")
        if not own:
            self.note("PodTopologySpread", "the pods' own constraints with ScheduleAnyway count too, which were ignored before")
        self._default_constraints()

    def _default_constraints(self) -> None:
        has_peers = any(name in self._spread for name in PEER_SPREADING)
        if has_peers and not self._domains:
            return  # the System defaults: hosts and zones
        keys = dict.fromkeys([HOSTNAME, *self._domains] if has_peers else self._domains)
        if has_peers:
            text = "beside constraints over labels only hosts are spread over, as a node without a label of any constraint would score 0"
            self.note("SelectorSpreadPriority", f"{text}; add topology.kubernetes.io/zone if every node has it")
        constraints = [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"} for key in keys]
        self.args["PodTopologySpread"] = {"defaultingType": "List", "defaultConstraints": constraints}

    def _combine_labels(self) -> None:
        own = int(self.weights.get("NodeAffinity", 0))
        known = [(name, label, weight) for name, label, weight in self._labels if not is_valid_label_key(label.label)]
        top = max([own, *(weight for _, _, weight in known)])
        for name, label, weight in known:
            term = max(1, round(Fraction(MAX_TERM * weight, top)))
            operator = "Exists" if label.presence else "DoesNotExist"
            self.preferred.append({"weight": term, "preference": {"matchExpressions": [{"key": label.label, "operator": operator}]}})
            text = (
                f"replaced by a preferred term of addedAffinity, {label.label} {operator} with weight {term} of 100:"
                " it is summed with the pod's own preferences before these are scaled to 0 to 100"
            )
            self.note(name, text, NODE_LABEL)
        for name, label, _ in self._labels:
            if is_valid_label_key(label.label):
                self.note(name, f"left out: no node can have label {label.label}")
        if known and not own:
            self.note("NodeAffinity", "preferred node affinity of pods counts too, which was ignored before")
        if known:
            self.weights["NodeAffinity"] = Fraction(max(own, sum(weight for _, _, weight in known)))
