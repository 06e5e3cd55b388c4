"""Runs the runs of a sweep on a Dask cluster: any scheduler whose workers have kubeclassic installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Self

import attrs

from ....exceptions import KubeclassicError
from ..tasks import Done, Shared, Task

SECONDS = 15
"""How long a scheduler may take to answer."""
RETRIES = 2


@attrs.define(eq=False)
class OnDask:
    """The scheduler at *address*, such as ``tcp://10.0.0.1:8786``. What runs share is sent to each worker once."""

    address: str
    _client: Any = None
    _shared: Any = None

    def __enter__(self) -> Self:
        try:
            distributed = import_module("distributed")
        except ImportError:
            raise KubeclassicError("dask: distributed is not installed: pip install 'kubeclassic[sweep]'") from None
        try:
            self._client = distributed.Client(self.address, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            told = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise KubeclassicError(f"dask: got {self.address}, wanted the address of a scheduler: {told}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, tasks: Iterable[Task], shared: Shared) -> Iterator[tuple[Task, Done]]:
        """Run *tasks*. A worker that is lost is Dask's affair, which runs the task elsewhere."""
        if self._shared is None:
            self._shared = self._client.scatter(shared, broadcast=True)
        futures = {self._client.submit(run_task, self._shared, task, pure=False, retries=RETRIES): task for task in tasks}
        finished = import_module("distributed").as_completed(list(futures))
        for future in finished:
            error = future.exception()
            yield futures[future], future.result() if error is None else Done(error=f"{type(error).__name__}: {error}", is_final=False)


def run_task(shared: Shared, task: Task) -> Done:
    """What a worker does."""
    return shared.run(task)
