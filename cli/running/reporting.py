"""Pages of what commands found: written once, with what they speak of taken from the scenario, the rules and the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ... import __version__
from ...api.objects import Pod
from ...api.reading.notices import in_groups, unread_sentences
from ...simulation.scenario import Scenario
from ..console.output import writing
from ..report.words import count_of

if TYPE_CHECKING:
    from ..report.page.about import About
    from ..report.page.markup import Text

PROGRAM = "kubeclassic"


def write_report(report: str | None, made: Callable[[], str]) -> None:
    """Write the page that *made* makes to the file *report*, whole or not at all; nothing where *report* is None.

    Raises :class:`~..console.output.OutputError`.
    """
    if report is not None:
        with writing(report) as stream:
            write_page(made(), stream)


def write_page(page: str, stream: IO[str]) -> None:
    """Write *page* to *stream*, with a line break at its end."""
    stream.write(page.rstrip("\n") + "\n")


def about(
    scenario: Scenario | None,
    paths: Iterable[Path],
    *,
    releases: Sequence[str] = (),
    rules: Sequence[Text] = (),
    warnings: Sequence[str] = (),
    unread: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
) -> About:
    """What a page about *scenario*, read from *paths*, says of its origin.

    *releases*: the versions that decided; *rules*: the policy, the profile and options that choose rules, as given; *warnings*: besides
    those of the scenario; *unread*: what does not count, where there is no scenario; *arguments*: the words after the program's name,
    by default those of this process.
    """
    from ..report.page.about import About, Input, made_at  # the parts of pages, which few runs make

    told = in_groups(scenario.warnings) if scenario is not None else []
    return About(
        inputs=tuple(Input(str(path)) for path in dict.fromkeys(paths)),
        counts="" if scenario is None else counts(scenario),
        unread=tuple(unread) if scenario is None else tuple(unread_sentences(scenario.warnings)),
        warnings=tuple(dict.fromkeys([*told, *warnings])),
        releases=tuple(dict.fromkeys(releases)),
        rules=tuple(rules),
        version=__version__,
        date=made_at(),
        command=(PROGRAM, *(sys.argv[1:] if arguments is None else arguments)),
    )


def counts(scenario: Scenario) -> str:
    """Nodes, pods that run, and pods that wait.

    >>> counts(Scenario((), ()))
    '0 nodes, 0 pods run, 0 pods wait'
    """
    running = sum(1 for found in scenario.objects if isinstance(found, Pod))
    return f"{count_of(scenario.node_count, 'node')}, {count_of(running, 'pod')} run, {count_of(len(scenario.pending), 'pod')} wait"
