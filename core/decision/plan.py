"""Who would have to leave a node."""

from __future__ import annotations

import attrs

from ...api.objects import Pod


@attrs.define(eq=False)
class Victims:
    """The pods that would have to leave a node, those protected by a disruption budget first, and how many those are."""

    pods: list[Pod]
    violations: int
