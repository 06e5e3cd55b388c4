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
        attrs.NOTHING if required else None,
        flags=(f"--{name}",),
        takes="configuration",
        required=required,
        hidden=name > "c",
        metavar="TEXT",
        common=True,
        help='A configuration, such as "release=1.16 policy=p.json".',
        python="A configuration, as :class:`~kubeclassic.Scheduler` takes it: options, or a release alone.",
    )


def shown(count: int, what: str) -> Any:
    """The option for how many decisions text lists."""
    return option(count, types=(int, type(None)), least=0, python=None, help=f"table: list at most N {what}.")


def compared_in(common: bool, help: str) -> Any:
    """The option for the state on which sides decide."""
    return option(LOCKED, choices=MODES, common=common, help=help)


@attrs.frozen(repr=False)
class CompareOptions(ClusterOptions, MorePods):
    """Schedule the pending pods with several configurations, and show which pods get another node, and why.

    A configuration is a release, or a list of KEY=VALUE, quoted as in a shell: release, policy, profile,
    config, provider, feature-gates, percentage, tie-break, max-pd-vols, extenders (off, 'record FILE' or
    'replay FILE'), rules (MODULE:NAME, as for --rules; several with commas). Give up to eight, --a to --h.
    All are compared with --a, which also decides which pods are pending and in which order.

    With --mode locked all decide in the same state, and only the decisions of --a take effect, so no
    difference follows from an earlier one. With --mode free each has its own copy of the cluster, so later
    decisions may differ only because earlier ones did.

    A decision is the same; or equally good: another node that --a scores just as high; or gated: only one
    side tries the pod, because of scheduling gates; or different. All but the first count as differences.
    Ties are settled by the key tie-break. Real schedulers may stop searching early; percentage=100 on both
    sides leaves only the rules to differ.

    -o html and --report write a page with both score tables of each decision that differs. -o csv has a line
    per difference.

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
    mode: Mode = compared_in(True, "locked: all decide in the state of --a; free: each in its own.")
    newer_labels: bool = option(False, "Add the node labels of newer releases, as after an upgrade.")
    show: int | None = shown(50, "decisions that differ")


QUESTION = Question(
    options=CompareOptions,
    ask="compare:compare",
    own_first=True,
    what="the comparison",
    headers=False,
    forms="table,json,yaml,csv,html",
    verbose="List every warning on standard error.",
)
