"""What the API server says to copies before the scheduler sees them: LimitRanges and ResourceQuotas of their namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from ...api.controlplane.limitranges import limit_ranges, out_of_bounds
from ...api.controlplane.quotas import CLAIMS, claim_usage, counts, counts_claim, exceeded, hard, unspecified, usage
from ...api.objects import KubeObject, PersistentVolumeClaim, Pod, ResourceQuota
from ...api.objects.quantity import ZERO, Quantity
from .templates import PodTemplate

FORBIDDEN = '{} "{}" is forbidden: {}'
"""The API server's words."""


@attrs.define(eq=False, repr=False)
class Account:
    """A quota, and what is used of it."""

    quota: ResourceQuota
    used: dict[str, Quantity]

    @classmethod
    def of(cls, quota: ResourceQuota, objects: Iterable[KubeObject]) -> Account:
        """What the status of *quota* says; what it does not say is counted over the pods and claims among *objects*."""
        names = hard(quota)
        used = dict.fromkeys(names, ZERO) | {name: quantity for name, quantity in quota.used.items() if name in names}
        unknown = [name for name in names if name not in quota.used]
        for item in objects if unknown else ():
            asked = _asked(quota, item) if item.namespace == quota.namespace else {}
            used |= {name: used[name] + quantity for name, quantity in asked.items() if name in unknown}
        return cls(quota, used)

    def add(self, asked: dict[str, Quantity]) -> None:
        """A pod that uses *asked* is there."""
        self.used |= {name: self.used[name] + quantity for name, quantity in asked.items() if name in self.used}

    def give_back(self, asked: dict[str, Quantity]) -> None:
        """A pod that used *asked* is gone."""
        self.add({name: -quantity for name, quantity in asked.items()})


def _asked(quota: ResourceQuota, item: KubeObject) -> dict[str, Quantity]:
    """What *item* uses of a quota of its namespace; nothing if the quota does not count it."""
    if isinstance(item, Pod):
        return usage(item) if counts(quota, item) else {}
    return claim_usage(item) if isinstance(item, PersistentVolumeClaim) and counts_claim(quota, item) else {}


@attrs.frozen(eq=False, repr=False)
class Charge:
    """What every copy of a template is charged: itself, or one of its claims."""

    asked: dict[str, Quantity]
    accounts: Sequence[Account] = ()
    claim: str | None = None
    """The claim, by the name of its template."""
    refused: str | None = None
    """Why each copy is refused, whatever is used."""


@attrs.define(eq=False, repr=False)
class Gate:
    """Admits copies while the quotas of their namespaces have room."""

    charges: Sequence[Sequence[Charge]] = ()
    """For each template those of its claims, and last that of its pod; empty where every copy is admitted."""
    accounts: Sequence[Account] = ()

    @classmethod
    def of(cls, there: Sequence[KubeObject], templates: Sequence[PodTemplate], refused: Sequence[str | None]) -> Gate:
        """The gate of a cluster with the objects *there*; *refused*: for each template why the API server refuses it."""
        quotas = sorted((item for item in there if isinstance(item, ResourceQuota)), key=lambda quota: quota.key)
        accounts = [Account.of(quota, there) for quota in quotas]
        charges = [list(_charges(template, why, there, accounts)) for template, why in zip(templates, refused, strict=True)]
        return cls(charges, accounts)

    def refusal(self, at: int, pod: Pod) -> str | None:
        """Why *pod*, a copy of template number *at*, is refused now; None if it is not."""
        for charge in self.charges[at] if self.charges else ():
            why = charge.refused
            for account in charge.accounts if why is None else ():
                why = why or exceeded(account.quota, account.used, charge.asked)
            if why is not None:
                what, name = ("pods", pod.name) if charge.claim is None else (CLAIMS, f"{charge.claim}-{pod.name}")
                return FORBIDDEN.format(what, name, why)
        return None

    def admitted(self, at: int) -> None:
        """A copy of template number *at* is there."""
        for charge in self.charges[at] if self.charges else ():
            for account in charge.accounts:
                account.add(charge.asked)

    def removed(self, pod: Pod) -> None:
        """A pod is gone; claims stay."""
        for account in self.accounts:
            if account.quota.namespace == pod.namespace:
                account.give_back(_asked(account.quota, pod))


def _charges(template: PodTemplate, refused: str | None, there: Iterable[KubeObject], accounts: Sequence[Account]) -> Iterator[Charge]:
    pod = template.pod
    mine = [account for account in accounts if account.quota.namespace == pod.namespace]
    for claim in template.claims:
        yield Charge(claim_usage(claim), [account for account in mine if counts_claim(account.quota, claim)], claim.name)
    counting = [account for account in mine if counts(account.quota, pod)]
    why = refused or out_of_bounds(pod, limit_ranges(there, pod.namespace))
    for account in counting:
        why = why or unspecified(account.quota, pod)
    yield Charge(usage(pod), counting, refused=why)
