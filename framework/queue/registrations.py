"""The registrations of plugins: events that may help a pod that they rejected.

Upstream: buildQueueingHintMap in pkg/scheduler/scheduler.go, isPodWorthRequeuing in the queue, and
fillEnqueueExtensions in pkg/scheduler/framework/runtime/framework.go (1.27: clusterEventMap).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import attrs

from ...api.objects import KubeObject, Pod
from ...core.release import QueueingCells
from ..cycle.feasible import EXTENDER
from .events import Action, ClusterEvent

REJECTING = ("pre_enqueue", "pre_filter", "filter", "reserve", "permit")
"""The methods by which a plugin can reject a pod."""


@attrs.define(eq=False, repr=False)
class Registrations:
    """The events that plugins of all *profiles* registered, by schedulerName and plugin."""

    profiles: Mapping[str, Any]
    cells: QueueingCells
    gives_hints: bool = False
    has_extenders: bool = False
    _by_profile: dict[str, dict[str, tuple[ClusterEvent, ...]]] = attrs.field(init=False)
    _wanted: dict[ClusterEvent, bool] = attrs.field(init=False, factory=dict)
    _matching: dict[tuple[str, ClusterEvent], dict[str, tuple[ClusterEvent, ...]]] = attrs.field(
        init=False, factory=dict
    )
    """(schedulerName, event) -> plugin -> what it registered that is such an event."""

    def __attrs_post_init__(self) -> None:
        defaults = tuple(ClusterEvent(kind, Action.ALL) for kind in self.cells.default_kinds)
        self._by_profile = {}
        for scheduler_name, profile in self.profiles.items():
            found = self._by_profile[scheduler_name] = {}
            for name, plugin in profile.plugins().items():
                says = not self.cells.registering or name in self.cells.registering
                ask = getattr(plugin, "events_to_register", None) if says else None
                rejects = any(hasattr(plugin, method) for method in REJECTING)
                if ask is not None:
                    events = ask()
                else:
                    events = defaults if rejects or not self.cells.only_rejecting_plugins else ()
                has_hints = self.gives_hints and name not in self.cells.without_hints
                found[name] = tuple(events if has_hints else (attrs.evolve(one, hint=None) for one in events))
                # With changed taints where the release adds them.
                nodes = [event.action for event in found[name] if event.resource == "Node"]
                has_taints = any(Action.UPDATE_NODE_TAINT in action for action in nodes)
                if self.cells.taints_wake and not has_taints and any(Action.ADD in one for one in nodes):
                    found[name] += (ClusterEvent("Node", Action.UPDATE_NODE_TAINT),)
            if self.has_extenders:
                found[EXTENDER] = defaults

    # --- questions ------------------------------------------------------------------------------------------

    def is_wanted(self, event: ClusterEvent) -> bool:
        """Whether any plugin waits for such an event."""
        if event not in self._wanted:
            registered = (
                one for plugins in self._by_profile.values() for found in plugins.values() for one in found
            )
            self._wanted[event] = event.is_wildcard or any(one.matches(event) for one in registered)
        return self._wanted[event]

    def actions(self, kind: str) -> Action:
        """The actions on objects of *kind* that plugins wait for."""
        found = Action(0)
        for plugins in self._by_profile.values():
            for events in plugins.values():
                for event in events:
                    if event.resource == kind:
                        found |= event.action
        return found

    def waits_for(self, scheduler_name: str, plugin: str, event: ClusterEvent) -> bool:
        """Whether *plugin* waits for such an *event*. For one that means all only a plugin does that
        registered such a one."""
        registered = self._by_profile.get(scheduler_name, {}).get(plugin, ())
        return any(one.is_wildcard or (not event.is_wildcard and one.matches(event)) for one in registered)

    def helps(
        self,
        scheduler_name: str,
        pod: Pod,
        plugins: Collection[str],
        event: ClusterEvent,
        old: KubeObject | None,
        new: KubeObject | None,
    ) -> bool:
        """Whether *event*, which changed the object *old* to *new*, may help *pod* of a profile, which
        *plugins* rejected."""
        found = self._matching.get((scheduler_name, event))
        if found is None:
            found = self._matching[scheduler_name, event] = {
                name: kept
                for name, events in self._by_profile.get(scheduler_name, {}).items()
                if (kept := tuple(one for one in events if one.matches(event)))
            }
        return any(_helps(one, pod, old, new) for name in plugins if name in found for one in found[name])


def _helps(registered: ClusterEvent, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> bool:
    if registered.hint is None:
        return True
    try:
        return bool(registered.hint(pod, old, new))
    except Exception:
        # Upstream: the pod is moved, so that an error does not leave it parked.
        return True
