"""Runs of ``kubeclassic``, in this process or in its own, also from a bare checkout."""

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
"""Modules that no help may import; of the framework only the options may be."""
TELL = f"""
import atexit
atexit.register(lambda: print("HEAVY", *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr))
"""


def command(*arguments, before=""):
    """The command line of a process that runs ``kubeclassic`` with *arguments*, after the Python code
    *before*."""
    return [sys.executable, "-c", FIND + before + MAIN, *arguments]


def program(*arguments, before="", environment=None, **options):
    """Run the process of :func:`command` to its end."""
    wanted = {"capture_output": True, "text": True, "timeout": 120, "preexec_fn": _as_at_a_terminal} | options
    return subprocess.run(
        command(*arguments, before=before), env={**os.environ, **(environment or {})}, check=False, **wanted
    )


@contextlib.contextmanager
def started(words, **options):
    """A process that runs beside the test and is killed at its end: a failing test would otherwise wait for
    it for ever."""
    wanted = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": _as_at_a_terminal} | options
    with subprocess.Popen(words, **wanted) as process:
        try:
            yield process
        finally:
            process.kill()


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def inside(*arguments, cwd=ROOT, columns=0):
    """The result of :func:`program` for *arguments*, from a run in this process.

    *columns*: the output is a terminal of this width, without colours; 0: it is no terminal.
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
    """The output of a command line."""

    out: str
    err: str

    @property
    def document(self):
        """The document that ``-o json`` printed, checked by its schema."""
        return checked(json.loads(self.out))


def ran(*words, status=0, columns=0):
    """The output of a run in this process and in the current folder; its exit status must be *status*, or one
    of them."""
    done = inside(*words, cwd=Path(), columns=columns)
    assert done.returncode in ([status] if isinstance(status, int) else status), (
        words,
        done.returncode,
        done.stderr,
    )
    return Printed(done.stdout, done.stderr)


def _as_at_a_terminal():
    """Restore the signals' default handlers, as at a terminal, also where the tests run with some of them
    ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


def heavy_modules(*arguments, **environment):
    """The modules of :data:`HEAVY` that a run with *arguments* has imported when it ends."""
    done = program(*arguments, before=TELL, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()[1:]
