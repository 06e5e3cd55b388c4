"""A scheduler of Dask and its workers, each a process of its own, on the loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.program import FIND

SECONDS = 60
WORKER = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1")


def _program(command: str, *arguments: str) -> list[str]:
    """The command line of ``dask scheduler`` or ``dask worker``, in a process that finds kubeclassic, in a bare checkout too."""
    run = f"import sys\nfrom distributed.cli.dask_{command} import main\nsys.argv[1:] = {list(arguments)!r}\nmain()\n"
    return [sys.executable, "-c", FIND + run]


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The scheduler's address, and the processes of the workers; *folder* gets their files and logs."""
    file = folder / "scheduler.json"
    with ExitStack() as stack:

        def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{name}.log").open("w"))
            process = subprocess.Popen(_program(*arguments), stdout=log, stderr=log)
            stack.callback(process.wait, SECONDS)
            stack.callback(process.kill)
            return process

        start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        deadline = time.monotonic() + SECONDS
        while not (file.exists() and file.read_text().strip()):
            assert time.monotonic() < deadline, (folder / "scheduler.log").read_text()
            time.sleep(0.02)
        address = str(json.loads(file.read_text())["address"])
        places = ((f"worker{at}", str(folder / str(at))) for at in range(workers))
        yield address, [start(name, "worker", address, *WORKER, "--local-directory", place) for name, place in places]
