"""``kubeclassic compare``: the same pods through two or more configurations."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..simulation.compare.compare import FREE, MODES
from ..simulation.compare.compare import compare as compare_all
from ..simulation.compare.newerlabels import with_newer_labels, zones_warning
from .commands import command
from .configurations import Wanted
from .options import ClusterChoice, cluster_options
from .output import warn, writing
from .paramtypes import CONFIGURATION
from .progress import following
from .report.compare import comparison_text
from .report.compare_html import comparison_html
from .running.cluster import contest
from .running.notices import tell_notices

F = TypeVar("F", bound=Callable[..., Any])
NAMES = "abcdefgh"
FORMS: dict[str, Callable[[dict[str, Any], int], str]] = {
    "table": comparison_text,
    "json": lambda record, show: json.dumps(record, indent=2),
    "html": lambda record, show: comparison_html(record).rstrip("\n"),
}


def _configurations(command: F) -> F:
    """The options ``--a``, ``--b`` and so on."""
    for name in reversed(NAMES):
        text = 'A configuration, such as "release=1.16 policy=p.json".'
        option = click.option(f"--{name}", required=name in "ab", type=CONFIGURATION, metavar="TEXT", help=text, hidden=name > "c")
        command = option(command)
    return command


@command(short_help="What does another configuration change?")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@_configurations
@click.option(
    "--mode", type=click.Choice(MODES), default=FREE, show_default=True, help="free: each on its own state; locked: all on that of --a."
)
@click.option("--newer-labels", is_flag=True, help="Give nodes the labels of newer releases beside the old ones, as after an upgrade.")
@cluster_options
@click.option("-o", "form", type=click.Choice(list(FORMS)), default="table", show_default=True)
@click.option("--show", type=click.IntRange(min=0), default=50, show_default=True, help="List at most this many differing decisions.")
@click.option("--output", metavar="FILE", help="Write the comparison there, whole or not at all, instead of to standard output.")
@click.option("--verbose", "-v", is_flag=True, help="List every warning, on standard error.")
def compare(
    paths: tuple[Path, ...], mode: str, newer_labels: bool, cluster: ClusterChoice, form: str, show: int, output: str | None,
    verbose: bool, **texts: str | None,
) -> None:  # fmt: skip
    """Schedule the pods that wait in PATHS under --a, --b and further configurations, and say which get another node, and why.

    A configuration is a list of KEY=VALUE, quoted as in a shell, with the keys release, policy, profile, config, provider,
    feature-gates, percentage, tie-break and extenders (off, 'record FILE' or 'replay FILE'). Up to eight may be given, --a to --h. The
    others are compared with --a, which also says whose pods wait and in which order they are tried.

    With --mode free each places the pods in its own copy of the cluster. With --mode locked all decide on the same state each time, and
    only the decisions of --a take effect, so that no difference is the result of an earlier one.

    A decision is the same; or among the best, if it is another node that --a scores as high as its own; or different. A decision among
    the best counts as one that differs. Real schedulers choose among equal nodes at random or in turn; the key tie-break sets it here.

    -o html writes a single page that needs no other files, with pictures and with both tables of each decision that differs.

    Exit status 0: all decisions are the same, 1: some are not, 2: bad input.

    \b
    kubeclassic compare cluster/ --a "release=1.12" --b "release=1.16 policy=p.json" --mode locked
    """
    found = contest(paths, cluster, tuple(Wanted.parse(name, text) for name, text in texts.items() if text is not None))
    scenario, wanted = found.scenario, found.wanted
    tell_notices(scenario.warnings, verbose)
    if newer_labels:
        scenario = with_newer_labels(scenario)
    elif any(one.runs_profiles for one in wanted) and (missing := zones_warning(scenario)) is not None:
        warn(missing)
    told = {one.name: one.text for one in wanted}
    comparison = compare_all(scenario, found.engines, mode=mode, order=cluster.order, texts=told, following=following)
    with writing(output) as stream:
        stream.write(FORMS[form](comparison.record(), show) + "\n")
    sys.exit(0 if comparison.same else 1)
