"""The options of ``conform``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs

from ..options import AskedOptions, Question, option, texts


def _names(value: Any) -> tuple[str, ...]:
    convert = texts("families", "names")
    return tuple(name.strip() for text in convert(value or ()) for name in text.split(",") if name.strip())


@attrs.frozen(repr=False)
class ConformOptions(AskedOptions):
    """Run conformance cases and compare each answer with the original's.

    A case is a scheduling problem in X.cases.jsonl[.gz]; X.answers.jsonl[.gz] has what the original Go
    scheduler decided: feasible nodes, failure reasons, scores, host, victims. A case can also be a script of
    the scheduling queue; the answer is the content of the queue after every step. Exit status 0: all
    identical, 1: any difference, 2: bad input.

    \b
    kubeclassic conform cases/1.16 --family taints,preemption --show 1
    """

    families: Collection[str] = option(
        (),
        "Only these families (the file name up to its first dot).",
        flags=("--family",),
        takes="list",
        converter=_names,
        metavar="A,B",
    )
    jobs: int = option(1, "Families to run at once.", least=1)
    details: bool = option(
        True, "Decide without details; compare hosts, errors and victims only.", flags=("--quick",)
    )
    memory: int | None = option(
        None,
        "The most memory for cached results, such as 64Mi.  [default: 1Gi]",
        takes="bytes",
        metavar="BYTES",
        python=None,
    )
    no_memory: bool = option(False, "No cache: compute everything in every cycle.", python=None)
    show: int = option(
        0, "Print the first N differing cases, field by field.", least=0, shows=False, python=None
    )


QUESTION = Question(
    options=ConformOptions,
    ask="conform:conform",
    prints=True,
    cases=True,
    page=False,
    headers=False,
    forms="table,json",
)
