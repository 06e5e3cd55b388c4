"""Where a command's cluster comes from: PATHS, a live cluster that ``--kubeconfig`` names, or both."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from .commands import INPUT, SECTIONS
from .paramtypes import FILE

F = TypeVar("F", bound=Callable[..., Any])

KUBECONFIG_HELP = "Read the cluster from the API server that this kubeconfig names; it is one more path."
CONTEXT_HELP = "With --kubeconfig: the context to use, in place of the current one."


def takes_cluster(command: F) -> F:
    """Give *command* the options ``--kubeconfig`` and ``--context``. A live cluster is the first of its *paths*, as a file that is there
    while the command runs.
    """

    @functools.wraps(command)
    def reading(**values: Any) -> Any:
        with live_paths(values.pop("kubeconfig"), values.pop("context")) as found:
            return command(**{**values, "paths": (*found, *values["paths"])})

    return with_kubeconfig(reading)  # type: ignore[return-value]  # click looks at the wrapper only


def takes_paths(command: F) -> F:
    """Give *command* the argument PATHS, and a live cluster as another way to say what they hold; one of them is needed."""
    reading = takes_cluster(_needing_paths(command))
    return click.argument("paths", nargs=-1, type=FILE)(reading)


def with_kubeconfig(command: F) -> F:
    """*command* with the options ``--kubeconfig`` and ``--context``."""
    SECTIONS.update(dict.fromkeys(("--kubeconfig", "--context"), INPUT))
    command = click.option("--context", metavar="NAME", help=CONTEXT_HELP)(command)
    return click.option("--kubeconfig", type=FILE, help=KUBECONFIG_HELP)(command)


def _needing_paths(command: F) -> F:
    @functools.wraps(command)
    def needing(**values: Any) -> Any:
        if not values["paths"]:
            raise click.UsageError("Missing argument 'PATHS...', or --kubeconfig FILE.")
        return command(**values)

    return needing  # type: ignore[return-value]  # click looks at the wrapper only


@contextmanager
def live_paths(kubeconfig: Path | None, context: str | None) -> Iterator[tuple[Path, ...]]:
    """The paths that a live cluster is for the block: one, or none without *kubeconfig*."""
    if kubeconfig is None:
        if context is not None:
            raise click.UsageError("--context: wanted --kubeconfig FILE too")
        yield ()
        return
    from ..running.snapshot import downloaded

    with downloaded(kubeconfig, context) as path:
        yield (path,)
