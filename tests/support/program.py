"""Runs ``kubeclassic``, as its own process from a bare checkout too, or in this one."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from kubeclassic.cli import run
from tests.support.schemas import checked

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
    "numpy",
    "yaml",
    "rich",
    "kubeclassic.core",
    "kubeclassic.simulation",
    "kubeclassic.framework.config",
    "kubeclassic.framework.plugin",
    "kubeclassic.algorithmprovider",
)
"""Modules that no help may import; of the framework it has the options alone."""
TELL = f"""
import atexit
atexit.register(lambda: print("HEAVY", *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr))
"""


def command(*arguments, before=""):
    """The command line of a process that runs ``kubeclassic`` with *arguments*, after the Python code
    *before*."""
    return [sys.executable, "-c", FIND + before + MAIN, *arguments]


def program(*arguments, before="", environment=None, **options):
    """Run that process to its end."""
    wanted = {"capture_output": True, "text": True, "timeout": 120, "preexec_fn": _as_at_a_terminal} | options
    return subprocess.run(
        command(*arguments, before=before), env={**os.environ, **(environment or {})}, check=False, **wanted
    )


@contextlib.contextmanager
def started(words, **options):
    """A process that runs beside the test, and ends with it: a test that fails would otherwise wait for it
    for ever."""
    wanted = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": _as_at_a_terminal} | options
    with subprocess.Popen(words, **wanted) as process:
        try:
            yield process
        finally:
            process.kill()


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self):
        return True


def inside(*arguments, cwd=ROOT, columns=0):
    """What :func:`program` answers for *arguments*, from this process: for what needs none of its own.

    *columns*: its output is a terminal of that width, without colours; 0: it is none.
    """
    out, err = (Terminal(), Terminal()) if columns else (io.StringIO(), io.StringIO())
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1"} if columns else {}
    with (
        patch.dict(os.environ, environment),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = run(arguments)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


class Printed(NamedTuple):
    """What a command line printed."""

    out: str
    err: str

    @property
    def document(self):
        """What ``-o json`` printed, which is as its schema says."""
        return checked(json.loads(self.out))


def ran(*words, status=0, columns=0):
    """As :func:`inside`, in the present folder; it must end with *status*, or one of several."""
    done = inside(*words, cwd=Path(), columns=columns)
    assert done.returncode in ([status] if isinstance(status, int) else status), (
        words,
        done.returncode,
        done.stderr,
    )
    return Printed(done.stdout, done.stderr)


def _as_at_a_terminal():
    """Signals do what they do at a terminal, also where the tests run with some of them ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


def heavy_modules(*arguments, **environment):
    """Which of :data:`HEAVY` a run with *arguments* has imported when it ends."""
    done = program(*arguments, before=TELL, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()[1:]
