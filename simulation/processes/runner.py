"""What tasks have in common, wherever they run."""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")
"""A task."""
D = TypeVar("D")
"""What a task comes to."""
T_contra = TypeVar("T_contra", contravariant=True)
D_co = TypeVar("D_co", covariant=True)


class TaskRunner(Protocol[T_contra, D_co]):
    """Runs tasks. Each process gets a copy of it, once."""

    def run(self, task: T_contra) -> D_co:
        """Run *task*; whatever goes wrong is in its result."""
        ...

    def lost(self, error: str) -> D_co:
        """What a task comes to that could not run, or whose process was lost."""
        ...
