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
    """Schedule the pending pods with each release from --from to --to, and say which release moves which pod,
    and why.

    For each step from one release to the next: how many decisions change, which pods gain or lose a node, and
    the cause of each change: the rule, and what the release does differently. Causes are tested: without that
    one change, the newer release decides as the older one.

    With --mode locked all releases decide in the same states, those that the decisions of --from lead to, so
    no difference follows from another. With --mode free each has its own copy of the cluster; if only the
    nodes are filled differently by then, the cause is an earlier decision. In both --from says which pods
    are pending, and how new ones are admitted.

    With --jobs or --dask releases run in parallel; the answer is the same.

    Each release up to 1.22 runs a Policy in its own way; later ones run the profile that `policy migrate`
    makes of it.

    Exit status 0: no decision changes (with --pod: none of that pod), 1: some do, 2: bad input.

    \b
    kubeclassic upgrade cluster/ --from 1.16 --to 1.36
    kubeclassic upgrade cluster/ --from 1.16 --policy policy.json --to 1.27 --report upgrade.html
    kubeclassic upgrade cluster/ --steps 1.16,1.22,1.27 --pod shop/web-0
    kubeclassic upgrade cluster/ --from 1.12 --mode free --jobs 4
    """

    EXCLUDES = (("policy", "profile"),)

    start: str | None = option(
        None,
        f"Today's release.  [default: the nodes' release; {DEFAULT_RELEASE} with --policy, or if unknown]",
        flags=("--from",),
        common=True,
        metavar="RELEASE",
    )
    end: str = option(
        NEWEST_RELEASE, "The release to upgrade to.", flags=("--to",), common=True, metavar="RELEASE"
    )
    steps: Sequence[str] = option(
        (),
        "Only these releases, oldest first, instead of all from --from to --to.",
        takes="list",
        converter=texts("steps", "releases"),
        metavar="A,B",
    )
    policy: Any = option(
        None,
        "Today's Policy; each release up to 1.22 reads it, later ones get it migrated.",
        takes="file",
        common=True,
        metavar="FILE",
    )
    profile: Any = option(
        None,
        "Today's component configuration.",
        takes="file",
        common=True,
        types=(str, os.PathLike, Mapping),
        wanted="a file's path, or a KubeSchedulerConfiguration in its JSON form",
    )
    percentage: int | None = option(None, "percentageOfNodesToScore in all releases.", least=0, most=100)
    pod: str | None = option(
        None, "Only this pod, and the first release that moves it.", common=True, metavar="NAMESPACE/NAME"
    )
    mode: Mode = compared_in(False, "locked: all decide in the states of --from; free: each in its own.")
    executor: Executor | None = option(
        None,
        "What runs it, as for :func:`~kubeclassic.sweep`; None: this process. The answer is the same.",
        takes="executor",
    )
    show: int | None = shown(20, "decisions")


QUESTION = Question(
    options=UpgradeOptions,
    ask="upgrade:upgrade",
    own_first=True,
    jobs=(1, "1"),
    help_of_forms="wide: with rule and fact; csv: a line per decision; html: a page.",
    verbose="List every warning on standard error.",
)
