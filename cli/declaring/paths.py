"""Where a command's cluster comes from: PATHS, a live cluster that ``--kubeconfig`` names, or both."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..console.output import warn
from ..console.progress import telling
from .commands import INPUT, SECTIONS
from .paramtypes import FILE

if TYPE_CHECKING:
    from ...live.snapshot import ClusterSnapshot

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
    """The paths that a live cluster is for the block: a file for this user alone, or none without *kubeconfig*."""
    if kubeconfig is None:
        if context is not None:
            raise click.UsageError("--context: wanted --kubeconfig FILE too")
        yield ()
        return
    from tempfile import TemporaryDirectory

    found = fetched(kubeconfig, context)
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        path = Path(folder, "cluster.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(found.document(), stream)
        yield (path,)


def fetched(kubeconfig: Path | None, context: str | None) -> ClusterSnapshot:
    """The snapshot of the cluster that *kubeconfig* names, or of the one that this is a pod of; a warning for each kind that is missing.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError`.
    """
    import asyncio

    from ...live.client.kubeconfig import access_to
    from ...live.snapshot import snapshot_of

    access = access_to(kubeconfig, context)
    with telling("reading", access.server):
        found = asyncio.run(snapshot_of(access))
    for text in found.notes:
        warn(text)
    return found
