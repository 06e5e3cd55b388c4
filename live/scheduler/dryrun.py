"""What informers tell in a dry run: what happens to pods ends their bindings."""

from __future__ import annotations

import attrs

from ...api.objects import KubeObject, Pod
from ..informers.store import Handler
from .state import LiveState
from .writes.api import DryApi


@attrs.define(eq=False)
class DryRun:
    """The handler of informers in a dry run: what happens to pods ends their bindings."""

    state: LiveState
    api: DryApi

    def put(self, item: KubeObject) -> None:
        """An object was added or updated."""
        self.state.put(item)
        if isinstance(item, Pod) and item.spec.node_name:
            self.api.settle(item.key, is_bound=True)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self.state.delete(item)
        if isinstance(item, Pod):
            self.api.settle(item.key, is_bound=False)


def handler_of(state: LiveState) -> Handler:
    """What informers tell of objects: *state*, or in a dry run what ends bindings, too."""
    if not isinstance(state.api, DryApi):
        return state
    state.api.known = state.router.pods
    return DryRun(state, state.api)
