"""Savepoints: something is tried, and taken back.

    with run.savepoint() as point:
        run.put(node)
        run.cycle(pod)
        point.keep()  # else all of it is taken back here, as it is after an error

:class:`~.run.EventFeed` and :class:`~.run.Run` note how each of their steps is undone, and callers note
their own steps with :meth:`~.engine.Engine.on_undo`. The steps are undone in reverse order, each by what the
API's watch would deliver, such as the delete of a pod that was added. So caches see ordinary events, and a
trial costs as much as what it changes. Savepoints nest: what an inner one keeps is taken back with the outer
one.

| what | how it is undone |
|---|---|
| an object was added, updated or deleted | it is deleted or put again; a pod comes to the end of its node's list |
| a node came, went or changed its zone | also the node tree is as it was |
| a pod was assumed | it is deleted, and its volumes and claims to devices are as before |
| a pod waits for a node, or preempted others | what the run knows of it is as before |
| nominations, visiting order, tie-break | as they were when the savepoint was set |

What one decision leaves in notes of plugins and in the equivalence cache stays;
:meth:`~.engine.Engine.preserving_state` drops it too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs


@attrs.define(eq=False, repr=False)
class Savepoint:
    """A moment, and the steps that undo everything since then."""

    _steps: list[Callable[[], object]] = attrs.Factory(list)
    _kept: bool = False

    def note(self, undo: Callable[..., object], *args: Any) -> None:
        """Note how a step, just done or done next, is undone: by calling *undo* with *args*."""
        self._steps.append(partial(undo, *args))

    def keep(self) -> None:
        """Keep everything done so far, and until the context ends without an error."""
        self._kept = True

    def end(self, outer: Savepoint | None, *, failed: bool) -> None:
        """Undo the steps, the last first; if they are kept, the savepoint around this one takes them over."""
        if failed or not self._kept:
            while self._steps:
                self._steps.pop()()
        elif outer is not None:
            outer._steps += self._steps
