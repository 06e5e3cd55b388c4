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
    _events_by_profile: dict[str, dict[str, tuple[ClusterEvent, ...]]] = attrs.field(init=False)
    _is_wanted_by_event: dict[ClusterEvent, bool] = attrs.field(init=False, factory=dict)
    _matching: dict[tuple[str, ClusterEvent], dict[str, tuple[ClusterEvent, ...]]] = attrs.field(
        init=False, factory=dict
    )
    """(schedulerName, event) -> plugin -> its registrations that cover the event."""

    def __attrs_post_init__(self) -> None:
        defaults = tuple(ClusterEvent(kind, Action.ALL) for kind in self.cells.default_kinds)
        self._events_by_profile = {}
        for scheduler_name, profile in self.profiles.items():
            events_by_plugin = self._events_by_profile[scheduler_name] = {}
            for name, plugin in profile.plugins().items():
                registers = not self.cells.registering or name in self.cells.registering
                ask = getattr(plugin, "events_to_register", None) if registers else None
                rejects = any(hasattr(plugin, method) for method in REJECTING)
                if ask is not None:
                    events = ask()
                else:
                    events = defaults if rejects or not self.cells.only_rejecting_plugins else ()
                has_hints = self.gives_hints and name not in self.cells.without_hints
                events_by_plugin[name] = tuple(
                    events if has_hints else (attrs.evolve(event, hint=None) for event in events)
                )
                # With changed taints, where the release adds these.
                nodes = [event.action for event in events_by_plugin[name] if event.resource == "Node"]
                has_taints = any(Action.UPDATE_NODE_TAINT in action for action in nodes)
                if self.cells.taints_wake and not has_taints and any(Action.ADD in act for act in nodes):
                    events_by_plugin[name] += (ClusterEvent("Node", Action.UPDATE_NODE_TAINT),)
            if self.has_extenders:
                events_by_plugin[EXTENDER] = defaults

    # --- questions ------------------------------------------------------------------------------------------

    def is_wanted(self, event: ClusterEvent) -> bool:
        """Whether any plugin waits for *event*."""
        if event not in self._is_wanted_by_event:
            registered = (
                registered_event
                for plugins in self._events_by_profile.values()
                for events in plugins.values()
                for registered_event in events
            )
            self._is_wanted_by_event[event] = event.is_wildcard or any(
                registered_event.matches(event) for registered_event in registered
            )
        return self._is_wanted_by_event[event]

    def actions(self, kind: str) -> Action:
        """The actions on objects of *kind* that plugins wait for."""
        actions = Action(0)
        for plugins in self._events_by_profile.values():
            for events in plugins.values():
                for event in events:
                    if event.resource == kind:
                        actions |= event.action
        return actions

    def waits_for(self, scheduler_name: str, plugin: str, event: ClusterEvent) -> bool:
        """Whether *plugin* waits for *event*. For an event that means all, only a plugin that registered such
        an event does."""
        registered = self._events_by_profile.get(scheduler_name, {}).get(plugin, ())
        return any(
            registered_event.is_wildcard or (not event.is_wildcard and registered_event.matches(event))
            for registered_event in registered
        )

    def helps(
        self,
        scheduler_name: str,
        pod: Pod,
        plugins: Collection[str],
        event: ClusterEvent,
        old: KubeObject | None,
        new: KubeObject | None,
    ) -> bool:
        """Whether *event*, which changed *old* to *new*, may help *pod*, which *plugins* of its profile
        rejected."""
        by_plugin = self._matching.get((scheduler_name, event))
        if by_plugin is None:
            by_plugin = self._matching[scheduler_name, event] = {
                name: matching
                for name, events in self._events_by_profile.get(scheduler_name, {}).items()
                if (
                    matching := tuple(
                        registered_event for registered_event in events if registered_event.matches(event)
                    )
                )
            }
        return any(
            _helps(registered_event, pod, old, new)
            for name in plugins
            if name in by_plugin
            for registered_event in by_plugin[name]
        )


def _helps(registered: ClusterEvent, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> bool:
    if registered.hint is None:
        return True
    try:
        return bool(registered.hint(pod, old, new))
    except Exception:
        # Upstream: the pod is moved, so that an error does not leave it parked.
        return True
