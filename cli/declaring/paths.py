"""Where a command's cluster comes from: PATHS, a live cluster that ``--kubeconfig`` names, or both."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..console.output import note, warn
from ..console.progress import telling
from .commands import INPUT, SECTIONS
from .paramtypes import FILE

if TYPE_CHECKING:
    from ...live.snapshot import ClusterSnapshot

Declared = Callable[..., Any]
"""A command that click still gets options for."""
KUBECONFIG_HELP = "Read the cluster from the API server that this kubeconfig names; it is one more path. Without PATHS KUBECONFIG counts."
CONTEXT_HELP = "With --kubeconfig: the context to use, in place of the current one."
MISSING_HELP = "With --kubeconfig: if KIND may not be listed, go on as if there were none. May be given again."


class LiveCluster(NamedTuple):
    """The API server that a command line names, and of which kinds an answer may do without."""

    kubeconfig: Path | None = None
    context: str | None = None
    allowed: tuple[str, ...] = ()
    """Kinds that may be missing, where they may not be listed."""


def takes_cluster(*needs: str, falls_back: bool = False) -> Callable[[Declared], Declared]:
    """A decorator that gives a command the options of :func:`with_kubeconfig`. A live cluster is the first of its *paths*, as a file that
    is there while the command runs. *needs*: kinds that it has to read, whatever else the cluster has. *falls_back*: without paths the
    kubeconfig that KUBECONFIG names counts.
    """

    def taking(command: Declared) -> Declared:
        @functools.wraps(command)
        def reading(live: LiveCluster, **values: Any) -> Any:
            if falls_back and live.kubeconfig is None and not values["paths"]:
                live = live._replace(kubeconfig=_from_environment(values.get("pod")))
            with live_paths(live, needs) as found:
                return command(**{**values, "paths": (*found, *values["paths"])})

        return with_kubeconfig(reading)

    return taking


def takes_paths(*needs: str) -> Callable[[Declared], Declared]:
    """As :func:`takes_cluster`, with the argument PATHS; a live cluster is another way to say what they hold, and one of them is needed."""
    return lambda command: click.argument("paths", nargs=-1, type=FILE)(takes_cluster(*needs, falls_back=True)(_needing_paths(command)))


def with_kubeconfig(command: Declared) -> Declared:
    """*command* with the options that name a live cluster; it gets them as one :class:`LiveCluster`, named *live*."""
    SECTIONS.update(dict.fromkeys(("--kubeconfig", "--context", "--allow-missing"), INPUT))

    @functools.wraps(command)
    def taking(kubeconfig: Path | None, context: str | None, allow_missing: tuple[str, ...], **values: Any) -> Any:
        return command(live=LiveCluster(kubeconfig, context, allow_missing), **values)

    taking = click.option("--allow-missing", multiple=True, metavar="KIND", help=MISSING_HELP)(taking)
    taking = click.option("--context", metavar="NAME", help=CONTEXT_HELP)(taking)
    return click.option("--kubeconfig", type=FILE, help=KUBECONFIG_HELP)(taking)


def _needing_paths(command: Declared) -> Declared:
    @functools.wraps(command)
    def needing(**values: Any) -> Any:
        if not values["paths"]:
            raise click.UsageError("Missing argument 'PATHS...', or --kubeconfig FILE, or KUBECONFIG in the environment.")
        return command(**values)

    return needing


def _from_environment(last: str | None) -> Path | None:
    """The first file that KUBECONFIG names; None if it names none. Raises UsageError if *last*, the pod's name, is a path."""
    if last is not None and Path(last).exists():
        raise click.UsageError(f"Missing argument 'POD': got {last} alone, which is a path.")
    named = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    found = next((path for path in named if path.is_file()), None)
    if found is not None:
        note(f"KUBECONFIG: the cluster that {found} names")
    return found


@contextmanager
def live_paths(live: LiveCluster, needs: Collection[str] = ()) -> Iterator[tuple[Path, ...]]:
    """The paths that a live cluster is for the block: a file for this user alone, or none without a kubeconfig."""
    if live.kubeconfig is None:
        if live.context is not None:
            raise click.UsageError("--context: wanted --kubeconfig FILE too")
        if live.allowed:
            raise click.UsageError("--allow-missing needs --kubeconfig")
        yield ()
        return
    from tempfile import TemporaryDirectory

    found = fetched(live, needs)
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        path = Path(folder, "cluster.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(found.document(), stream)
        yield (path,)


def fetched(live: LiveCluster, needs: Collection[str] = ()) -> ClusterSnapshot:
    """The snapshot of the cluster that a kubeconfig names, or of the one that this is a pod of; a warning for each kind that is missing.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError`.
    """
    import asyncio

    from ...live.client.kubeconfig import access_to
    from ...live.rights import check_kinds
    from ...live.snapshot import snapshot_of

    check_kinds(live.allowed)
    access = access_to(live.kubeconfig, live.context)
    with telling("reading", access.server):
        found = asyncio.run(snapshot_of(access, needs, live.allowed))
    for text in found.notes:
        warn(text)
    return found
