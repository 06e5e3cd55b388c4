"""The tasks of a simulation, by time."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import attrs

Task = Callable[[], None]
"""Something to do."""


@attrs.define(eq=False, repr=False)
class Agenda:
    """Tasks by time; tasks of the same time come out in the order in which they were put in.

    >>> agenda = Agenda()
    >>> agenda.put(2.0, print), agenda.put(1.0, repr), agenda.put(0.5, str)
    (1, 2, 3)
    >>> agenda.cancel(3)
    >>> agenda.next_time, agenda.pop_due(0.5), agenda.pop_due(1.0) is repr
    (1.0, None, True)
    """

    _heap: list[tuple[float, int, Task]] = attrs.field(factory=list)
    _count: int = 0
    _cancelled: set[int] = attrs.field(factory=set)
    """The numbers of tasks that are in the heap still, but will not be done."""

    def __len__(self) -> int:
        """How many tasks are left."""
        return len(self._heap) - len(self._cancelled)

    @property
    def next_time(self) -> float | None:
        """When the next task is due; None if there is none."""
        while self._heap and self._heap[0][1] in self._cancelled:
            self._cancelled.remove(heapq.heappop(self._heap)[1])
        return self._heap[0][0] if self._heap else None

    def put(self, time: float, task: Task) -> int:
        """Do *task* at *time*. Returns its number."""
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, task))
        return self._count

    def cancel(self, number: int) -> None:
        """Do not do the task of that number, which was not done yet."""
        self._cancelled.add(number)

    def pop_due(self, now: float) -> Task | None:
        """The next task if its time has come."""
        time = self.next_time
        return None if time is None or time > now else heapq.heappop(self._heap)[2]
