"""What the API server says to copies before the scheduler sees them: LimitRanges and ResourceQuotas of their namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from ...api.controlplane.limitranges import limit_ranges, out_of_bounds
from ...api.controlplane.quotas import counts, exceeded, hard, unspecified, usage
from ...api.objects import KubeObject, Pod, ResourceQuota
from ...api.objects.quantity import ZERO, Quantity

FORBIDDEN = 'pods "{}" is forbidden: {}'
"""The API server's words."""


@attrs.define(eq=False)
class Account:
    """A quota, and what is used of it."""

    quota: ResourceQuota
    used: dict[str, Quantity]

    @classmethod
    def of(cls, quota: ResourceQuota, pods: Iterable[Pod]) -> Account:
        """What the status of *quota* says; what it does not say is counted over *pods*, those of the cluster."""
        names = hard(quota)
        used = dict.fromkeys(names, ZERO) | {name: quantity for name, quantity in quota.used.items() if name in names}
        unknown = [name for name in names if name not in quota.used]
        for pod in pods if unknown else ():
            if pod.namespace == quota.namespace and counts(quota, pod):
                used |= {name: used[name] + quantity for name, quantity in usage(pod).items() if name in unknown}
        return cls(quota, used)

    def add(self, asked: dict[str, Quantity]) -> None:
        """A pod that uses *asked* is there."""
        self.used |= {name: self.used[name] + quantity for name, quantity in asked.items() if name in self.used}

    def give_back(self, asked: dict[str, Quantity]) -> None:
        """A pod that used *asked* is gone."""
        self.add({name: -quantity for name, quantity in asked.items()})


@attrs.frozen(eq=False)
class Charge:
    """What every copy of a template is charged."""

    asked: dict[str, Quantity]
    accounts: Sequence[Account] = ()
    refused: str | None = None
    """Why no copy is admitted, whatever is used."""


@attrs.define(eq=False)
class Gate:
    """Admits copies while the quotas of their namespaces have room."""

    charges: Sequence[Charge]
    """One a template."""
    accounts: Sequence[Account]

    @classmethod
    def of(cls, there: Sequence[KubeObject], pods: Sequence[Pod], templates: Sequence[Pod], refused: Sequence[str | None]) -> Gate:
        """The gate of a cluster with the objects *there* and all its *pods*; *refused*: for each template why the API server refuses it."""
        quotas = sorted((item for item in there if isinstance(item, ResourceQuota)), key=lambda quota: quota.key)
        accounts = [Account.of(quota, pods) for quota in quotas]
        return cls([_charge(pod, why, there, accounts) for pod, why in zip(templates, refused, strict=True)], accounts)

    def refusal(self, at: int, pod: Pod) -> str | None:
        """Why *pod*, a copy of template number *at*, is not admitted now; None if it is."""
        charge = self.charges[at]
        why = charge.refused
        for account in charge.accounts if why is None else ():
            why = why or exceeded(account.quota, account.used, charge.asked)
        return None if why is None else FORBIDDEN.format(pod.name, why)

    def admitted(self, at: int) -> None:
        """A copy of template number *at* is there."""
        charge = self.charges[at]
        for account in charge.accounts:
            account.add(charge.asked)

    def removed(self, pod: Pod) -> None:
        """A pod is gone."""
        for account in self.accounts:
            if account.quota.namespace == pod.namespace and counts(account.quota, pod):
                account.give_back(usage(pod))


def _charge(pod: Pod, refused: str | None, there: Iterable[KubeObject], accounts: Iterable[Account]) -> Charge:
    mine = [account for account in accounts if account.quota.namespace == pod.namespace and counts(account.quota, pod)]
    why = refused or out_of_bounds(pod, limit_ranges(there, pod.namespace))
    for account in mine:
        why = why or unspecified(account.quota, pod)
    return Charge(usage(pod), mine, why)
