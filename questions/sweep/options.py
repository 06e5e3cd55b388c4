"""The options of ``sweep``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import attrs

from ..options import AskedOptions, Question, option, texts

if TYPE_CHECKING:
    from ...algorithmprovider.catalogue import Catalogue
    from ...framework.plugin import Plugin


@attrs.frozen(repr=False)
class SweepOptions(AskedOptions):
    """Run every combination that FILE lists, and write one table, a row per run.

    \b
    cluster: examples/cluster                     # or trace: examples/day.yaml; paths are relative to FILE
    grid:                                         # each with each
      release: ["1.14", "1.16"]
      weights.LeastRequestedPriority: [0, 1, 5]
      order: [input, shuffled]
      seed: [0, 1, 2]
    objectives: [placed, cpu used, fragmentation]

    docs/guides/sweep.md has all keys, and how to search for weights with Optuna. A failed run is a row with
    its error. The table does not depend on where it runs.

    Exit status 0: every run finished, 1: some failed, 2: bad input, 130: interrupted.

    \b
    kubeclassic sweep sweep.yaml
    kubeclassic sweep sweep.yaml -o csv --output runs.csv --jobs 8
    kubeclassic sweep sweep.yaml --report sweep.html
    kubeclassic sweep sweep.yaml --dask tcp://10.0.0.1:8786
    """

    executor: Executor | None = option(
        None,
        "What runs it: an Executor of ``concurrent.futures`` whose processes have kubeclassic, such as a ProcessPoolExecutor or "
        "``distributed.Client(address).get_executor()``; None: this process. The result is the same.",
        takes="executor",
    )
    rules: Sequence[str] = option(
        (),
        "Your own rules, as for simulate: a Catalogue, or plugins.",
        metavar="FILE.py:NAME",
        converter=texts("rules", "places such as FILE.py:NAME"),
    )
    catalogue: Catalogue | None = option(
        None, "Your own predicates and priorities, for releases that have them.", takes="python"
    )
    plugins: Sequence[type[Plugin]] = option(
        (), "Plugins of your own, for releases of the framework.", takes="python"
    )
    on_progress: Callable[[int, int], None] | None = option(
        None,
        "Gets how many runs are finished, and how many there are.",
        takes="python",
        types=(Callable,),
        wanted="a function",
    )


QUESTION = Question(
    options=SweepOptions,
    ask="sweep:sweep",
    argument="file",
    jobs=(None, "one per core"),
    what="the table",
    forms="table,csv,json,yaml,html",
    help_of_forms="The format; html: a page.",
)
