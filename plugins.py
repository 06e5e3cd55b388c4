"""The names for plugins of your own, from release 1.17 on.

``Plugin`` is the base. Its methods take and return the same values as rules (``kubeclassic.rules``); with
``each_node`` they look at one ``NodeView`` at a time and return ``unschedulable`` or ``unresolvable``.
``wait`` is Permit's answer for a pod that has to wait on its node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .framework.plugin import NodeView as NodeView
    from .framework.plugin import Plugin as Plugin
    from .framework.plugin import Status as Status
    from .framework.plugin import each_node as each_node
    from .framework.plugin import unresolvable as unresolvable
    from .framework.plugin import unschedulable as unschedulable
    from .framework.plugin import wait as wait
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
