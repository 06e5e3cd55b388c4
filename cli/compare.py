"""``kubeclassic compare``: the same pods through two or more configurations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click

from ..choices import LOCKED, MODES
from .declaring.commands import CommonOption, command
from .declaring.options import ClusterChoice, cluster_options, environments_max_pd_vols
from .declaring.outputs import Output, output_options
from .declaring.paramtypes import CONFIGURATION
from .declaring.paths import takes_paths

F = TypeVar("F", bound=Callable[..., Any])
NAMES = "abcdefgh"
FORMS = ("table", "json", "yaml", "csv", "html")


def _configurations(command: F) -> F:
    """The options ``--a``, ``--b`` and so on."""
    for name in reversed(NAMES):
        text = 'A configuration, such as "release=1.16 policy=p.json".'
        option = click.option(
            f"--{name}", cls=CommonOption, required=name in "ab", type=CONFIGURATION, metavar="TEXT", help=text, hidden=name > "c"
        )
        command = option(command)
    return command


@command(short_help="What does another configuration change?")
@takes_paths()
@_configurations
@click.option(
    "--mode", cls=CommonOption, type=click.Choice(MODES), default=LOCKED, show_default=True,
    help="locked: all on the state of --a; free: each on its own."
)
@click.option("--newer-labels", is_flag=True, help="Give nodes the labels of newer releases beside the old ones, as after an upgrade.")
@cluster_options
@output_options(FORMS, "How to write it.", verbose="List every warning, on standard error.", what="the comparison", headers=False)
@click.option(
    "--show", type=click.IntRange(min=0), default=50, show_default=True, help="table: list this many decisions that differ."
)
def compare(
    paths: tuple[Path, ...], mode: str, newer_labels: bool, cluster: ClusterChoice, output: Output, show: int, **texts: str | None
) -> None:
    """Schedule the pods that wait in PATHS under --a, --b and further configurations, and say which get another node, and why.

    A configuration is a release, or a list of KEY=VALUE, quoted as in a shell, with the keys release, policy, profile, config, provider,
    feature-gates, percentage, tie-break, max-pd-vols, extenders (off, 'record FILE' or 'replay FILE') and rules (MODULE:NAME, as for
    --rules; several with commas). Up to eight may be given, --a to --h. The others are compared with --a, which also says whose pods wait
    and in which order they are tried.

    With --mode locked all decide on the same state each time, and only the decisions of --a take effect, so that no difference is the
    result of an earlier one. With --mode free each places the pods in its own copy of the cluster: after the first decision that differs
    the copies differ too, and so later decisions can differ for that reason alone.

    A decision is the same; or equally good, if it is another node that --a scores as high as its own; or gated, if only one of
    the two tries the pod, as the other one knows its scheduling gates; or different. All but the first count as decisions that differ.
    Real schedulers choose among equal nodes at random or in turn; the key tie-break sets it here. Most of them look at a share of the
    nodes only; percentage=100 on both sides leaves the rules alone to differ.

    -o html writes a single page that needs no other files: who loses a place and for what, why decisions differ, with
    both tables of each decision; --report FILE writes it besides the usual output. -o csv has a line for each decision that differs.

    Exit status 0: all decisions are the same, 1: some are not, 2: bad input.

    \b
    kubeclassic compare cluster/ --a "release=1.12" --b "release=1.16 policy=p.json"
    kubeclassic compare cluster/ --a "release=1.16" --b "release=1.16 rules=mine:CATALOGUE"
    """
    from ..api.view import CodeText, Words
    from ..questions.compare import ask
    from .answering import about, answer
    from .declaring.setup import NamedSetup
    from .opening import Console, contestants

    limit = environments_max_pd_vols()
    given = contestants(paths, cluster, [NamedSetup.parse(name, text, limit) for name, text in texts.items() if text is not None])
    answered = ask(given, mode, newer_labels=newer_labels, with_ends=output.makes_page, observer=Console(output.verbose))
    found = attrs.evolve(answered, show=show)

    sides = found.document.configurations
    rules, releases = [Words(f"{one.name}: ", CodeText(one.text)) for one in sides], [one.release for one in sides]
    sys.exit(answer(found, output, lambda: about(given.scenario, (*paths, *cluster.pods), releases=releases, rules=rules)))
