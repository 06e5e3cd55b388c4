"""``kubeclassic compare``: the same pods through two or more configurations."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..report.compare import comparison_text
from ..report.compare_html import comparison_html
from ..simulation.compare import FREE, MODES
from ..simulation.compare import compare as compare_all
from .configurations import Wanted
from .options import ClusterChoice, cluster_options
from .output import warn, writing
from .progress import following

F = TypeVar("F", bound=Callable[..., Any])
NAMES = "abcdefgh"
FORMS: dict[str, Callable[[dict[str, Any]], str]] = {
    "table": comparison_text,
    "json": lambda record: json.dumps(record, indent=2),
    "html": lambda record: comparison_html(record).rstrip("\n"),
}


def _configurations(command: F) -> F:
    """The options ``--a``, ``--b`` and so on."""
    for name in reversed(NAMES):
        text = 'A configuration, such as "release=1.16 policy=p.json".'
        command = click.option(f"--{name}", required=name in "ab", metavar="TEXT", help=text, hidden=name > "c")(command)
    return command


@click.command(short_help="What does another configuration change?")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@_configurations
@click.option("--mode", type=click.Choice(MODES), default=FREE, show_default=True, help="Each its own way, or all on the state of --a.")
@cluster_options
@click.option("-o", "form", type=click.Choice(list(FORMS)), default="table", show_default=True)
@click.option("--output", metavar="FILE", help="Write the comparison there, whole or not at all, instead of to standard output.")
def compare(paths: tuple[Path, ...], mode: str, cluster: ClusterChoice, form: str, output: str | None, **texts: str | None) -> None:
    """Schedule the pods that wait in PATHS under --a, --b and further configurations, and say which land elsewhere, and why.

    A configuration is a list of KEY=VALUE, quoted as in a shell, with the keys release, policy, profile, config, provider,
    feature-gates, percentage and tie-break. Up to eight may be given, --a to --h; the others are held against --a, which also says whose
    pods wait and in which order they are tried.

    With --mode free each goes its own way. With --mode locked all decide on the same state each time, where the decisions of --a lead, so
    that every difference is one of judgement.

    Exit status 0: all decide alike, 1: they do not, 2: bad input.

    \b
    kubeclassic compare cluster/ --a "release=1.12" --b "release=1.16 policy=p.json" --mode locked
    """
    wanted = [Wanted.parse(name, text) for name, text in texts.items() if text is not None]
    scenario = cluster.read(paths, wanted[0].scheduler_name())
    for warning in scenario.warnings:
        warn(warning)
    engines = {one.name: one.engine(scenario.config_maps) for one in wanted}
    told = {one.name: one.text for one in wanted}
    found = compare_all(scenario, engines, mode=mode, order=cluster.order, texts=told, following=following)
    with writing(output) as stream:
        stream.write(FORMS[form](found.record()) + "\n")
    sys.exit(0 if found.same else 1)
