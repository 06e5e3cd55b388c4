"""``kubeclassic compare``: the same pods through two or more configurations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..choices import LOCKED, MODES
from .declaring.commands import command
from .declaring.options import cluster_options
from .declaring.outputs import takes_report
from .declaring.paramtypes import CONFIGURATION
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from .declaring.options import ClusterChoice

F = TypeVar("F", bound=Callable[..., Any])
NAMES = "abcdefgh"
FORMS = ("table", "json", "yaml", "csv", "markdown", "html")


def _configurations(command: F) -> F:
    """The options ``--a``, ``--b`` and so on."""
    for name in reversed(NAMES):
        text = 'A configuration, such as "release=1.16 policy=p.json".'
        option = click.option(f"--{name}", required=name in "ab", type=CONFIGURATION, metavar="TEXT", help=text, hidden=name > "c")
        command = option(command)
    return command


@command(short_help="What does another configuration change?")
@takes_paths
@_configurations
@click.option(
    "--mode", type=click.Choice(MODES), default=LOCKED, show_default=True, help="locked: all on the state of --a; free: each on its own."
)
@click.option("--newer-labels", is_flag=True, help="Give nodes the labels of newer releases beside the old ones, as after an upgrade.")
@cluster_options
@click.option("-o", "form", type=click.Choice(FORMS), default="table", show_default=True)
@click.option(
    "--show", type=click.IntRange(min=0), default=50, show_default=True, help="table, markdown: list this many decisions that differ."
)
@click.option("--output", metavar="FILE", help="Write the comparison there, whole or not at all, instead of to standard output.")
@takes_report
@click.option("--verbose", "-v", is_flag=True, help="List every warning, on standard error.")
def compare(
    paths: tuple[Path, ...], mode: str, newer_labels: bool, cluster: ClusterChoice, form: str, show: int, output: str | None,
    report: str | None, verbose: bool, **texts: str | None,
) -> None:  # fmt: skip
    """Schedule the pods that wait in PATHS under --a, --b and further configurations, and say which get another node, and why.

    A configuration is a release, or a list of KEY=VALUE, quoted as in a shell, with the keys release, policy, profile, config, provider,
    feature-gates, percentage, tie-break, max-pd-vols, extenders (off, 'record FILE' or 'replay FILE') and rules (MODULE:NAME, as for
    --rules; several with commas). Up to eight may be given, --a to --h. The others are compared with --a, which also says whose pods wait
    and in which order they are tried.

    With --mode locked all decide on the same state each time, and only the decisions of --a take effect, so that no difference is the
    result of an earlier one. With --mode free each places the pods in its own copy of the cluster: after the first decision that differs
    the copies differ too, and so later decisions can differ for that reason alone.

    A decision is the same; or among the best, if it is another node that --a scores as high as its own; or held back, if only one of
    the two tries the pod, as the other one knows its scheduling gates; or different. All but the first count as decisions that differ.
    Real schedulers choose among equal nodes at random or in turn; the key tie-break sets it here. Most of them look at a share of the
    nodes only; percentage=100 on both sides leaves the rules alone to differ.

    -o html writes a single page that needs no other files: who loses a place and for what, why decisions differ, with pictures and with
    both tables of each decision; --report FILE writes it besides the usual output. -o csv has a line for each decision that differs.

    Exit status 0: all decisions are the same, 1: some are not, 2: bad input.

    \b
    kubeclassic compare cluster/ --a "release=1.12" --b "release=1.16 policy=p.json"
    kubeclassic compare cluster/ --a "release=1.16" --b "release=1.16 rules=mine:CATALOGUE"
    """
    from .running.compare import CompareOptions, run_comparison

    wish = CompareOptions(paths, mode, newer_labels, cluster, form, show, output, report, verbose)
    run_comparison(wish, {name: text for name, text in texts.items() if text is not None})
