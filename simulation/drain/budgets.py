"""What disruption budgets allow while a drain goes on.

Upstream: the eviction subresource in pkg/registry/core/pod/storage/eviction.go, and pkg/controller/disruption.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated

import attrs

from ...api.meaning.labels import Matcher, SelectorError, compile_selector
from ...api.objects import Pod, PodDisruptionBudget
from ...api.record import Count, Record, says

MOST_DIGITS = 12
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class BudgetUse(Record):
    """A PodDisruptionBudget of pods that leave."""

    budget: str
    allowed: Annotated[Count, says("Disruptions that it allows before the drain.")]
    evictions: Count
    lowest: Annotated[int, says("The fewest that it still allowed; below 0 if pods were preempted.")]
    left: Annotated[int, says("Those that it allows in the end.")]


@attrs.define(eq=False)
class Allowance:
    """One budget: how many more pods it lets go now."""

    key: str
    allowed: int
    """Disruptions that it allows before the drain."""
    left: int
    evictions: int = 0
    lowest: int = attrs.field(init=False)
    """The fewest that it still allowed at any time."""

    def __attrs_post_init__(self) -> None:
        self.lowest = self.left

    @property
    def refusal(self) -> str | None:
        """Why no pod of it may be evicted now; None if one may."""
        if self.left > 0:
            return None
        if not self.allowed:
            return f"PodDisruptionBudget {self.key} allows no disruption"
        return f"PodDisruptionBudget {self.key} allows {self.allowed} at a time, and none any more: pods of it left and are not made again"


def allowed_by_spec(budget: PodDisruptionBudget, expected: int, healthy: int) -> int:
    """How many disruptions *budget* allows with *expected* pods, of which *healthy* run; 0 where it says neither of its two numbers.

    Upstream: getExpectedPodCount and trySync in pkg/controller/disruption/disruption.go, which count the pods that controllers want.
    """
    if budget.max_unavailable is not None:
        wanted = expected - _number(budget.max_unavailable, expected)
    elif budget.min_available is not None:
        wanted = _number(budget.min_available, expected)
    else:
        return 0
    return max(healthy - max(wanted, 0), 0)


def _number(text: str, whole: int) -> int:
    """A number, or a share of *whole*, rounded up; what is neither counts as all."""
    digits = text.removesuffix("%")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < MOST_DIGITS):
        return whole
    return -(-int(digits) * whole // 100) if digits != text else int(digits)


@attrs.define(eq=False)
class Budgets:
    """The budgets of a cluster: an eviction takes one of each that selects the pod; a new pod that is ready gives it back."""

    _by_namespace: dict[str, list[tuple[Matcher, Allowance]]] = attrs.field(factory=dict)
    _found: dict[object, tuple[Allowance, ...]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, budgets: Iterable[PodDisruptionBudget], pods: Collection[Pod], *, empty_selects_all: bool) -> Budgets:
        """Those of *budgets* that can select anything; *empty_selects_all*: so does an empty selector, as in ``policy/v1``.

        Where the status of a budget was never written, as in a manifest, what it allows is worked out from *pods*.
        """
        made = cls()
        for budget in sorted(budgets, key=lambda budget: budget.key):
            selector = budget.selector
            if selector is None or (selector.is_empty and not empty_selects_all):
                continue
            try:
                matches = compile_selector(selector)
            except SelectorError:
                continue
            allowed = max(budget.disruptions_allowed, 0)
            if not allowed and budget.expected_pods is None:
                mine = [pod for pod in pods if pod.namespace == budget.namespace and pod.labels and matches(pod.labels)]
                allowed = allowed_by_spec(budget, len(mine), sum(bool(pod.spec.node_name) for pod in mine))
            made._by_namespace.setdefault(budget.namespace, []).append((matches, Allowance(budget.key, allowed, allowed)))
        return made

    def over(self, pod: Pod) -> tuple[Allowance, ...]:
        """The budgets of *pod*; pods without labels have none."""
        if pod.namespace not in self._by_namespace or not pod.labels:
            return ()
        known = self._found.get((pod.namespace, pod.labels))
        if known is None:
            known = tuple(allowance for matches, allowance in self._by_namespace[pod.namespace] if matches(pod.labels))
            self._found[pod.namespace, pod.labels] = known
        return known

    def blocking(self, pod: Pod) -> str | None:
        """Why *pod* may not be evicted now; None if it may."""
        found = self.over(pod)
        if len(found) > 1:
            return f"{SEVERAL} ({', '.join(one.key for one in found)})"
        return found[0].refusal if found else None

    def take(self, pod: Pod, count: int = 1) -> None:
        """*pod* is disrupted; with *count* -1 that is undone."""
        for found in self.over(pod):
            found.left -= count
            found.evictions += count
            found.lowest = min(found.lowest, found.left)

    def give(self, pod: Pod, count: int = 1) -> None:
        """*pod*, made in place of a disrupted one, is ready; with *count* -1 that is undone."""
        for found in self.over(pod):
            found.left += count

    def used(self) -> tuple[BudgetUse, ...]:
        """Those that the drain asked."""
        everyone = (allowance for found in self._by_namespace.values() for _, allowance in found)
        return tuple(BudgetUse(one.key, one.allowed, one.evictions, one.lowest, one.left) for one in everyone if one.evictions)
