"""Executors of the parts of a sweep or an upgrade: this process, or any of ``concurrent.futures``: processes,
or Dask."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from multiprocessing import get_context
from typing import Any, TypeVar

from ..api.garbage import settled
from ..exceptions import KubeclassicError

SECONDS = 15
"""How long a Dask scheduler may take to answer, and to have a worker."""
T = TypeVar("T")
"""A task."""
D = TypeVar("D")
"""The result of a task."""


def run_on(executor: Executor | None, run: Callable[[T], D], tasks: Sequence[T]) -> Iterator[tuple[int, D]]:
    """The number of each of *tasks* with its result, as they are finished; None: in this process, in order.

    Each process gets a copy of *run* and of the object that it belongs to; errors of tasks are in their
    results.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a task that cannot be handed over, and for a
    process that is lost.
    """
    if executor is None:
        for number, task in enumerate(tasks):
            yield number, run(task)
        return
    try:
        shared = pickle.dumps(run, protocol=5)
        futures = {
            executor.submit(run_packed, shared, pickle.dumps(task, protocol=5)): number
            for number, task in enumerate(tasks)
        }
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise KubeclassicError(
            f"rules cannot be handed to another process ({error}): expected one process"
        ) from None
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except KubeclassicError:
        raise
    except BrokenProcessPool:
        hint = 'in a script of your own, ask below if __name__ == "__main__"'
        raise KubeclassicError(f"jobs: a process ended before its answer; {hint}") from None
    except Exception as error:  # an executor's own: a task has its errors in its result
        raise KubeclassicError(f"{type(executor).__name__}: {type(error).__name__}: {error}") from None
    finally:
        for future in futures:
            future.cancel()


def run_packed(shared: bytes, task: bytes) -> Any:
    """The task of a process: *shared* with *task*, both pickled."""
    run = _unpacked(shared)
    with settled():
        return run(pickle.loads(task))


@lru_cache(maxsize=1)
def _unpacked(shared: bytes) -> Any:
    """The function that runs tasks, unpickled once for all of a process."""
    try:
        return pickle.loads(shared)
    except Exception as error:  # a user's own rules may not be where another process looks for them
        raise KubeclassicError(
            f"rules: another process cannot load them: {type(error).__name__}: {error}"
        ) from None


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def executor_of(jobs: int, dask: str | None = None) -> Iterator[Executor | None]:
    """The executor of ``--jobs`` and ``--dask``: None for this process, a pool of *jobs* processes, or a Dask
    scheduler at the address *dask*.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` where no scheduler answers at that address.
    """
    if dask is not None:
        try:
            distributed = import_module("distributed")
        except ImportError:
            raise KubeclassicError(
                "dask: distributed is not installed: pip install 'kubeclassic[sweep]'"
            ) from None
        client = None
        try:
            addressing = import_module("distributed.comm.addressing")
            registry = import_module("distributed.comm.registry")
            scheme, place = addressing.parse_address(dask)
            registry.get_backend(scheme)
            if scheme in ("tcp", "tls"):
                addressing.parse_host_port(place)  # before a client is started, which would try for ever
            client = distributed.Client(dask, timeout=SECONDS, set_as_default=False)
            client.wait_for_workers(1, timeout=SECONDS)
        except (OSError, ValueError) as error:
            if client is not None:
                client.close()
                if isinstance(error, TimeoutError):
                    raise KubeclassicError(
                        f"dask: expected at least one worker, got {dask} with none"
                    ) from None
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise KubeclassicError(
                f"dask: expected the address of a scheduler, got {dask}: {reason}"
            ) from None
        try:
            yield client.get_executor(pure=False)
        finally:
            client.close()
    elif jobs == 1:
        yield None
    else:
        # A fork of a process with threads may hang; "spawn" is the same on every system.
        # Ctrl-C ends such a process without a traceback: the one that started it reports it.
        with ProcessPoolExecutor(
            jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_DFL)
        ) as pool:
            yield pool
