"""Runs tasks on a Dask cluster: any scheduler whose workers have kubeclassic installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Self

import attrs

from ...exceptions import KubeclassicError
from .worker import D, T, TaskRunner

SECONDS = 15
"""How long a scheduler may take to answer."""
TRIES = 3
"""How often a task is handed over that Dask lost."""
WITH_PORT = ("tcp", "tls")
FINISHED, ERROR = "finished", "error"


@attrs.frozen
class _Loss:
    why: str


@attrs.define(eq=False)
class OnDask:
    """The scheduler at *address*, such as ``tcp://10.0.0.1:8786``. What tasks share is sent to each worker once."""

    address: str
    _client: Any = None

    def __enter__(self) -> Self:
        try:
            distributed = import_module("distributed")
        except ImportError:
            raise KubeclassicError("dask: distributed is not installed: pip install 'kubeclassic[sweep]'") from None
        try:
            _check(self.address)
            self._client = distributed.Client(self.address, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            told = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise KubeclassicError(f"dask: got {self.address}, wanted the address of a scheduler: {told}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, tasks: Iterable[T], shared: TaskRunner[T, D]) -> Iterator[tuple[T, D]]:
        """Run *tasks*. Dask runs elsewhere what a lost worker had; what it lost itself is handed over again.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if the scheduler has no workers.
        """
        left = list(tasks)
        for number in range(TRIES):
            lost: list[T] = []
            for task, answer in self._finished(left, shared):
                if not isinstance(answer, _Loss):
                    yield task, answer
                elif number < TRIES - 1:
                    lost.append(task)
                else:
                    yield task, shared.lost(f"dask: {answer.why}")
            left = lost

    def _finished(self, tasks: Sequence[T], shared: TaskRunner[T, D]) -> Iterator[tuple[T, D | _Loss]]:
        """Each task as it is finished, or why Dask failed, not the task."""
        if not tasks:
            return
        try:
            handed = self._client.scatter(shared, broadcast=True, hash=False, timeout=SECONDS)
        except TimeoutError:
            raise KubeclassicError(f"dask: got {self.address}, which has no workers, wanted one at least") from None
        futures = {self._client.submit(run_task, handed, task, pure=False): task for task in tasks}
        for future in import_module("distributed").as_completed(list(futures), loop=self._client.loop):
            yield futures[future], future.result() if future.status == FINISHED else _Loss(_why(future))


def _check(address: str) -> None:
    """Raise ValueError unless *address* is one, before anything is started for it."""
    addressing, registry = import_module("distributed.comm.addressing"), import_module("distributed.comm.registry")
    scheme, place = addressing.parse_address(address)
    registry.get_backend(scheme)
    if scheme in WITH_PORT:
        addressing.parse_host_port(place)


def _why(future: Any) -> str:
    """Why *future* has no result: an error of the worker, or it was lost."""
    error = future.exception() if future.status == ERROR else None
    return f"{future.status} {TRIES} times" if error is None else f"{type(error).__name__}: {error}"


def run_task(shared: TaskRunner[T, D], task: T) -> D:
    """What a worker does."""
    return shared.run(task)
