"""The options of ``compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from ...choices import LOCKED, MODES
from ..options import ClusterOptions, MorePods, Question, option

if TYPE_CHECKING:
    from ...simulation.input import GivenScheduler
    from ...simulation.sides import Mode

NAMES = "abcdefgh"


def _side(name: str) -> Any:
    required = name in "ab"
    return option(
        attrs.NOTHING if required else None, flags=(f"--{name}",), takes="configuration", required=required, hidden=name > "c",
        metavar="TEXT", common=True, help='A configuration, such as "release=1.16 policy=p.json".',
        python="A configuration, as :class:`~kubeclassic.Scheduler` takes it: options, or a release alone.",
    )  # fmt: skip


def shown(count: int, what: str) -> Any:
    """The option for how many decisions text lists."""
    return option(
        count, types=(int, type(None)), least=0, python=None, help=f"table: list this many {what}.",
    )  # fmt: skip


def compared_in(common: bool, help: str) -> Any:
    """The option for the state on which sides decide."""
    return option(LOCKED, choices=MODES, common=common, help=help)


@attrs.frozen(repr=False)
class CompareOptions(ClusterOptions, MorePods):
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

    a: GivenScheduler = _side("a")
    b: GivenScheduler = _side("b")
    c: GivenScheduler = _side("c")
    d: GivenScheduler = _side("d")
    e: GivenScheduler = _side("e")
    f: GivenScheduler = _side("f")
    g: GivenScheduler = _side("g")
    h: GivenScheduler = _side("h")
    mode: Mode = compared_in(True, "locked: all on the state of --a; free: each on its own.")
    newer_labels: bool = option(
        False, "Give nodes the labels of newer releases beside the old ones, as after an upgrade.",
    )  # fmt: skip
    show: int | None = shown(50, "decisions that differ")


QUESTION = Question(
    options=CompareOptions, ask="compare:compare", own_first=True, what="the comparison", headers=False,
    forms=("table", "json", "yaml", "csv", "html"), told_forms="How to write it.", verbose="List every warning, on standard error.",
)  # fmt: skip
