"""What runs tasks: this process, or several of this machine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import attrs

from ...exceptions import KubeclassicError, wrong_type
from ..gcpause import settled
from .worker import D, T, TaskRunner, packed, read_bytes

TRIES = 3
"""How often a task is begun that loses its process."""
ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = """
import importlib.util, sys
sys.path[:] = {path!r}
spec = importlib.util.spec_from_file_location({name!r}, {init!r}, submodule_search_locations=[{root!r}])
sys.modules[{name!r}] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from {name}.simulation.processes.worker import main
main()
"""
"""What a process runs: this package from where it is, also where it is not installed."""


class Executor(Protocol):
    """Runs tasks, wherever that is."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    def run(self, tasks: Iterable[T], shared: TaskRunner[T, D]) -> Iterator[tuple[T, D]]:
        """Run *tasks*; yields each as it is finished. *shared* is the same in each call."""
        ...


class InThisProcess:
    """One task after the other."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left behind."""

    def run(self, tasks: Iterable[T], shared: TaskRunner[T, D]) -> Iterator[tuple[T, D]]:
        """Run *tasks* in order."""
        for task in tasks:
            with settled():
                done = shared.run(task)
            yield task, done


@attrs.define(eq=False, repr=False)
class InProcesses:
    """*jobs* processes, each of which gets what tasks share once. A process that is lost is replaced, and its task begins again."""

    jobs: int
    _threads: ThreadPoolExecutor = attrs.field(init=False)
    _mine: threading.local = attrs.field(factory=threading.local)
    """Of each thread, its process."""
    _all: list[subprocess.Popen[bytes]] = attrs.field(factory=list)
    _ready: set[subprocess.Popen[bytes]] = attrs.field(factory=set)
    """Those that have what tasks share."""
    _shared: bytes = b""
    _is_over: bool = False

    def __enter__(self) -> Self:
        self._threads = ThreadPoolExecutor(self.jobs, "tasks")
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            _end(process)
        self._threads.shutdown()

    def run(self, tasks: Iterable[T], shared: TaskRunner[T, D]) -> Iterator[tuple[T, D]]:
        """Run *tasks*. Raises :class:`~kubeclassic.exceptions.KubeclassicError` if rules cannot be handed to another process."""
        try:
            self._shared = self._shared or packed(shared)
            asked = [(task, packed(task)) for task in tasks]
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise KubeclassicError(f"jobs: got {self.jobs}, wanted 1: rules cannot be handed to another process ({error})") from None
        futures = {self._threads.submit(self._answer, data, shared): task for task, data in asked}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def _answer(self, asked: bytes, shared: TaskRunner[Any, D]) -> D:
        status: int | None = None
        for _ in range(TRIES):
            process = self._process()
            try:
                found: D = _asked(process, asked if process in self._ready else self._shared + asked)
                return found
            except (EOFError, OSError, ValueError):
                self._mine.process, status = None, _end(process)
                if self._is_over:
                    break
            finally:
                self._ready.add(process)
        return shared.lost(f"the process that ran it was lost {TRIES} times, the last time with status {status}")

    def _process(self) -> subprocess.Popen[bytes]:
        found: subprocess.Popen[bytes] | None = getattr(self._mine, "process", None)
        if found is None:
            found = self._mine.process = self._started()
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        name = __name__.partition(".")[0]
        script = SCRIPT.format(path=sys.path, name=name, init=str(ROOT / "__init__.py"), root=str(ROOT))
        # The arrays are small: threads of the numerical libraries would only take the other processes' cores.
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._all.append(process)
        return process


def _asked(process: subprocess.Popen[bytes], asked: bytes) -> Any:
    """What *process* answers. Raises EOFError or OSError if it is lost."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(asked)
    process.stdin.flush()
    return pickle.loads(read_bytes(process.stdout))


def _end(process: subprocess.Popen[bytes]) -> int:
    """End *process*, which may have ended by itself; its exit status."""
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # what was still to be written has no reader any more
                stream.close()
    return process.wait()


def executor_of(jobs: object, dask: str | None, tasks: int | None = None) -> Executor:
    """What runs that many *tasks* (None: unknown): *jobs* processes, or the Dask scheduler at the address *dask*."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise wrong_type("jobs", jobs, "a whole number above 0")
    if dask is not None:
        from .ondask import OnDask  # an extra that few have

        return OnDask(dask)
    several = jobs if tasks is None else min(jobs, tasks)
    return InThisProcess() if several == 1 else InProcesses(several)
