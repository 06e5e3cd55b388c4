"""Runs ``kubeclassic``, as its own process from a bare checkout too, or in this one."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from kubeclassic.cli import run

ROOT = Path(__file__).resolve().parent.parent.parent
FIND = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("kubeclassic", {str(ROOT / "__init__.py")!r}, submodule_search_locations=[{str(ROOT)!r}])
sys.modules["kubeclassic"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""
MAIN = """
from kubeclassic.__main__ import main
main()
"""
HEAVY = (
    "numpy", "yaml", "rich", "kubeclassic.core", "kubeclassic.simulation", "kubeclassic.framework.config", "kubeclassic.framework.plugin",
    "kubeclassic.algorithmprovider",
)  # fmt: skip
"""Modules that no help may import; of the framework it has the options alone."""
TELL = f"""
import atexit
atexit.register(lambda: print("HEAVY", *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr))
"""


def command(*arguments: str, before: str = "") -> list[str]:
    """The command line of a process that runs ``kubeclassic`` with *arguments*, after the Python code *before*."""
    return [sys.executable, "-c", FIND + before + MAIN, *arguments]


def program(
    *arguments: str, before: str = "", environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run that process to its end."""
    wanted: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120, "preexec_fn": _as_at_a_terminal} | options
    return subprocess.run(command(*arguments, before=before), env={**os.environ, **(environment or {})}, check=False, **wanted)


def inside(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What :func:`program` answers for *arguments*, from this process: for what needs none of its own."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(arguments)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def _as_at_a_terminal() -> None:
    """Signals do what they do at a terminal, also where the tests run with some of them ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


def heavy_modules(*arguments: str, **environment: str) -> list[str]:
    """Which of :data:`HEAVY` a run with *arguments* has imported when it ends."""
    done = program(*arguments, before=TELL, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()[1:]
