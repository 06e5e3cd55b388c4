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
from .commands import INPUT, CommonOption
from .flags import packed
from .paramtypes import FILE

if TYPE_CHECKING:
    from ...live.snapshot import ClusterSnapshot

Declared = Callable[..., Any]
"""A command that click still gets options for."""
CONTEXT_HELP = "The context to use instead of the current one; without --kubeconfig, from the files in KUBECONFIG."
OPTIONS = (
    click.option(
        "--kubeconfig", cls=CommonOption, type=FILE,
        help="Read a live cluster through this kubeconfig, in addition to PATHS.",
    ),
    click.option("--context", metavar="NAME", help=CONTEXT_HELP),
    click.option(
        "--allow-missing", multiple=True, metavar="KIND",
        help="With --kubeconfig or --context: if KIND cannot be listed, assume there is none. Can be repeated.",
    ),
    click.option(
        "--all-namespaces", "-A", is_flag=True, hidden=True, expose_value=False, help="Always on: all namespaces are read.",
    ),
)  # fmt: skip
SERVER_VERSION = "kubeclassic.server_version"
"""Where click's context keeps the version of the API server, if the nodes of a live cluster say none."""
DEFAULT_ACCESS = "the files in KUBECONFIG, or the pod's service account"
"""Of commands that always look at a live cluster."""


class LiveCluster(NamedTuple):
    """The API server that a command line names, and of which kinds an answer may do without."""

    kubeconfig: Path | None = None
    context: str | None = None
    allow_missing: tuple[str, ...] = ()
    """Kinds that may be missing, where they may not be listed."""
    in_environment: bool = False
    """Without file and context the files that KUBECONFIG names count."""

    @property
    def is_named(self) -> bool:
        """Whether there is a live cluster to read."""
        return self.kubeconfig is not None or self.context is not None or self.in_environment


def takes_cluster(*needs: str, is_needed: bool = False) -> Callable[[Declared], Declared]:
    """A decorator that gives a command the options of :func:`with_kubeconfig`. A live cluster is the first of its *paths*, as a file that
    is there while the command runs. *needs*: kinds that it has to read, whatever else the cluster has. *is_needed*: without paths the
    cluster counts that KUBECONFIG names, and one of them is needed.
    """

    def taking(command: Declared) -> Declared:
        @functools.wraps(command)
        def reading(live: LiveCluster, **values: Any) -> Any:
            if is_needed and not live.is_named and not values["paths"]:
                # live, which names no cluster, with what KUBECONFIG names, if it is set.
                last = values.get("pod")
                if isinstance(last, str) and Path(last).exists():
                    raise click.UsageError(f"Missing argument 'POD': got {last} alone, which is a path.")
                named = os.environ.get("KUBECONFIG", "")
                if named:
                    note(f"KUBECONFIG: the cluster that {named} names")
                live = live._replace(in_environment=bool(named))
            with live_paths(live, needs) as found:
                paths = (*found, *values.pop("paths"))
                if is_needed and not paths:
                    raise click.UsageError(
                        "Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME, or the variable KUBECONFIG."
                    )
                return command(paths=paths, **values)

        return with_kubeconfig(reading)

    return taking


def takes_paths(*needs: str) -> Callable[[Declared], Declared]:
    """As :func:`takes_cluster`, with the argument PATHS; a live cluster is another way to say what they hold, and one of them is needed."""
    return lambda command: click.argument("paths", nargs=-1, type=FILE)(takes_cluster(*needs, is_needed=True)(command))


def with_kubeconfig(command: Declared) -> Declared:
    """*command* with the options that name a live cluster; it gets them as one :class:`LiveCluster`, named *live*."""
    return packed(command, OPTIONS, INPUT, LiveCluster, "live")


@contextmanager
def live_paths(live: LiveCluster, needs: Collection[str] = ()) -> Iterator[tuple[Path, ...]]:
    """The paths that a live cluster is for the block: a file for this user alone, or none where none is named."""
    if not live.is_named:
        if live.allow_missing:
            raise click.UsageError("--allow-missing needs --kubeconfig or --context")
        yield ()
        return
    from tempfile import TemporaryDirectory

    found = fetched(live, needs)
    click.get_current_context().meta[SERVER_VERSION] = found.server_version
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        path = Path(folder, "cluster.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(found.document(), stream)
        yield (path,)


def fetched(live: LiveCluster, needs: Collection[str] = ()) -> ClusterSnapshot:
    """The snapshot of the cluster that :func:`~kubeclassic.live.client.kubeconfig.access_to` finds; a warning for each missing kind.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError`.
    """
    import asyncio

    from ...live.client.kubeconfig import access_to
    from ...live.snapshot import check_kinds, snapshot_of

    check_kinds(live.allow_missing)
    access = access_to(live.kubeconfig, live.context)
    with telling("reading", access.server):
        found = asyncio.run(snapshot_of(access, needs, live.allow_missing))
    for text in found.notes:
        warn(text)
    return found
