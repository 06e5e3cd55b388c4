"""The extender that binds pods in place of the API server."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ...api.objects import Pod
from ...core.decision.extender import Extender
from ...exceptions import ExtenderError
from ...extenders.extender import HttpExtender, binder_of


@attrs.frozen
class ExtenderBinder:
    """A :class:`~..scheduler.bindings.PodBinder` of the extenders with a bind verb."""

    extenders: Sequence[HttpExtender]

    @classmethod
    def of(cls, extenders: Sequence[Extender]) -> ExtenderBinder | None:
        """That of *extenders*; None if none of them binds."""
        found = [extender for extender in extenders if isinstance(extender, HttpExtender) and extender.is_binder]
        return cls(found) if found else None

    def binds(self, pod: Pod) -> bool:
        """Whether one of them is interested in *pod*."""
        return binder_of(self.extenders, pod) is not None

    def bind(self, pod: Pod, node_name: str) -> None:
        """Bind *pod* to a node. Raises :class:`~kubeclassic.exceptions.ExtenderError`."""
        binder = binder_of(self.extenders, pod)
        if binder is None:
            raise ExtenderError(f"pod {pod.key}: got no extender that binds it, wanted one")
        binder.bind(pod, node_name)
