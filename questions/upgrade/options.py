"""The options of ``upgrade``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import attrs

from ...choices import DEFAULT_RELEASE, NEWEST_RELEASE
from ..compare.options import compared_in, shown
from ..options import ClusterOptions, MorePods, Question, option, texts

if TYPE_CHECKING:
    from ...simulation.sides import Mode


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
        None, "The component configuration of today.", takes="file", common=True, types=(str, os.PathLike, Mapping),
        wanted="a file's path, or a KubeSchedulerConfiguration in its JSON form",
    )  # fmt: skip
    percentage: int | None = option(
        None, "percentageOfNodesToScore in all releases.", least=0, most=100,
    )  # fmt: skip
    pod: str | None = option(
        None, "The way of this pod alone, and the first release that moves it.", common=True, metavar="NAMESPACE/NAME",
    )  # fmt: skip
    mode: Mode = compared_in(False, "locked: all on the states of --from; free: each on its own.")
    executor: Executor | None = option(
        None, "What runs it, as for :func:`~kubeclassic.sweep`; None: this process. The answer is the same.", takes="executor",
    )  # fmt: skip
    show: int | None = shown(20, "decisions")


QUESTION = Question(
    options=UpgradeOptions, ask="upgrade:upgrade", own_first=True, jobs=(1, "1"),
    forms=("table", "wide", "json", "yaml", "csv", "html"),
    told_forms="wide: the rule and the fact too; csv: one line a decision; html: a page.", verbose="List every warning, on standard error.",
)  # fmt: skip
