"""What has to be true of devices before a pod is bound, as their drivers say it in the status of a claim.

Upstream: isClaimReadyForBinding in pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

from ...api.objects import Condition, ResourceClaim


class BindingFailed(Exception):
    """A device cannot become ready; *condition* says why."""

    def __init__(self, condition: Condition) -> None:
        super().__init__(condition.message)
        self.condition = condition


def are_true(claim: ResourceClaim) -> bool:
    """Whether all binding conditions of the devices of *claim* are true. Raises BindingFailed."""
    results = claim.status.allocation.results if claim.status.allocation is not None else ()
    said = {(one.driver, one.pool, one.device): one.conditions for one in reversed(claim.status.devices)}
    for one in results:
        if not one.binding_conditions:
            continue
        if one.id not in said:
            return False
        holding = {
            condition.type: condition for condition in reversed(said[one.id]) if condition.status == "True"
        }
        for name in one.binding_failure_conditions:
            if name in holding:
                raise BindingFailed(holding[name])
        if not holding.keys() >= set(one.binding_conditions):
            return False
    return True
