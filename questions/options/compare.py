"""The options of ``compare``, and of ``upgrade``."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import attrs

from ...choices import DEFAULT_RELEASE, LOCKED, MODES, NEWEST_RELEASE
from .base import ClusterOptions, MorePods, Question, option, texts

if TYPE_CHECKING:
    from ...simulation.compare.agreement import Mode
    from ...simulation.input import GivenScheduler

NAMES = "abcdefgh"


def _side(name: str) -> Any:
    required = name in "ab"
    return option(
        attrs.NOTHING if required else None, flags=(f"--{name}",), takes="configuration", required=required, hidden=name > "c",
        metavar="TEXT", common=True, help='A configuration, such as "release=1.16 policy=p.json".',
        python="A configuration, as :class:`~kubeclassic.Scheduler` takes it: options, or a release alone.",
    )  # fmt: skip


def _shown(count: int, what: str) -> Any:
    return option(
        count, flags=("--show",), takes="whole", types=(int, type(None)), least=0, python=None, help=f"table: list this many {what}.",
    )  # fmt: skip


def _mode(common: bool, help: str) -> Any:
    return option(LOCKED, flags=("--mode",), takes="choice", choices=MODES, common=common, help=help)


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
    mode: Mode = _mode(True, "locked: all on the state of --a; free: each on its own.")
    newer_labels: bool = option(
        False, "Give nodes the labels of newer releases beside the old ones, as after an upgrade.",
    )  # fmt: skip
    show: int | None = _shown(50, "decisions that differ")


@attrs.frozen(repr=False)
class UpgradeOptions(ClusterOptions, MorePods):
    """Schedule the pods that wait in PATHS in each release from --from to --to, and say which release moves which pod, and why.

    For each step from one release to the next: how many decisions differ, who gains a node and who loses one, and the cause of each
    difference: the rule, and what the release does otherwise, in a sentence with its number. A cause is found by trying: the newer
    release without that one change decides as the older one did.

    With --mode locked all releases decide on the same states, which the decisions of --from make, so that no difference results from
    another. With --mode free each places the pods in its own copy of the cluster; where the nodes are only filled otherwise by then, the
    cause is an earlier decision.

    With --jobs or --dask the releases run beside each other; the answer is the same.

    A Policy runs by the translation of each release that reads one, and then as the profile that `policy migrate` makes of it.

    Exit status 0: no decision differs (with --pod: none on that pod), 1: some do, 2: bad input.

    \b
    kubeclassic upgrade cluster/ --from 1.16 --to 1.36
    kubeclassic upgrade cluster/ --from 1.16 --policy policy.json --to 1.27 --report upgrade.html
    kubeclassic upgrade cluster/ --steps 1.16,1.22,1.27 --pod shop/web-0
    kubeclassic upgrade cluster/ --from 1.12 --mode free --jobs 4
    """

    EXCLUDES = (("policy", "profile"),)

    start: str | None = option(
        None, f"The release of today.  [default: that of the nodes; {DEFAULT_RELEASE} with --policy, or where they say none]",
        flags=("--from",), common=True, metavar="RELEASE",
    )  # fmt: skip
    end: str = option(
        NEWEST_RELEASE, "The release at the end of the way.", flags=("--to",), common=True, metavar="RELEASE",
    )  # fmt: skip
    steps: Sequence[str] = option(
        (), "These releases alone, oldest first, in place of every one from --from to --to.", takes="list",
        converter=texts("steps", "releases"), metavar="A,B",
    )  # fmt: skip
    policy: Any = option(
        None, "The Policy of today; it is carried over by its own releases, then migrated.", takes="file", common=True,
        metavar="FILE",
    )  # fmt: skip
    profile: Any = option(
        None, "The component configuration of today.", takes="file", common=True,
    )  # fmt: skip
    percentage: int | None = option(
        None, "percentageOfNodesToScore in all releases.", least=0, most=100,
    )  # fmt: skip
    pod: str | None = option(
        None, "The way of this pod alone, and the first release that moves it.", common=True, metavar="NAMESPACE/NAME",
    )  # fmt: skip
    mode: Mode = _mode(False, "locked: all on the states of --from; free: each on its own.")
    executor: Executor | None = option(
        None, "What runs it, as for :func:`~kubeclassic.sweep`; None: this process. The answer is the same.", takes="executor",
    )  # fmt: skip
    show: int | None = _shown(20, "decisions")


COMPARE = Question(
    name="compare", options=CompareOptions, ask="compare:compare", own_first=True, what="the comparison", headers=False,
    forms=("table", "json", "yaml", "csv", "html"), told_forms="How to write it.", verbose="List every warning, on standard error.",
)  # fmt: skip
UPGRADE = Question(
    name="upgrade", options=UpgradeOptions, ask="upgrade:upgrade", own_first=True, jobs=(1, "1"),
    forms=("table", "wide", "json", "yaml", "csv", "html"),
    told_forms="wide: the rule and the fact too; csv: one line a decision; html: a page.", verbose="List every warning, on standard error.",
)  # fmt: skip
