"""The options of ``replay``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ...choices import DELAYS
from ..options import (
    AskedOptions,
    OptionsError,
    Question,
    given_scheduler,
    if_strict,
    of_cron_jobs,
    option,
    with_defaults,
)

if TYPE_CHECKING:
    from ...simulation.input import GivenScheduler
    from .journal import EventData

    Duration = float | str
    """Seconds, or a text such as ``"90s"`` or ``"1.5h"``."""


def _delay(name: str, help: str) -> Any:
    return option(DELAYS[name], help, takes="seconds", python=None)


@attrs.frozen(repr=False)
class ReplayOptions(AskedOptions):
    """Let pods and nodes come and go over virtual time, and schedule the pods, with queue, back-off and
    preemption.

    \b
    PATHS, in any combination:
      manifests    the cluster at the start; annotations: kubeclassic/creation-time, deletion-time and, of pods, run-time
      recordings   JSON Lines of {"time": ..., "event": "Add|Update|Delete", "object": {...}}, nodes also "Drain|Fail|Recover";
                   files of kube-scheduler-simulator's recorder, which say "resource" for "object"
      two CSVs     the nodes and pods of Alibaba's openb trace, with its times
      a scenario   YAML operations as of scheduler_perf: createNodes, createPods, churn, sleep, barrier, deleteNodes, ...
    Times are seconds or dates. Events go to standard output as JSON Lines, the summary to standard error.

    The same inputs and seed give the same events: --until looks at the first part of a long replay. Exit
    status 0: every pod got a node, 1: some did not, 2: bad input, 130: interrupted, with the results so far
    written in whole lines.

    \b
    kubeclassic replay openb_node_list_all_node.csv openb_pod_list_default.csv --series use.csv > events.jsonl
    kubeclassic replay cluster.yaml recording.jsonl --release 1.14 --series use.csv
    kubeclassic replay cluster.yaml recording.jsonl --profile profile.yaml
    kubeclassic replay scenario.yaml --report day.html > events.jsonl
    """

    scheduler: GivenScheduler = given_scheduler()
    as_recorded: bool = option(
        False, "Pods leave at their recorded time, not after their recorded run time.", common=True
    )
    cycle_time: float = _delay(
        "cycle", "From one scheduling cycle to the next; the scheduler does one at a time."
    )
    binding_delay: float = _delay("binding", "From the decision until the pod is bound.")
    provisioning_delay: float = _delay("provisioning", "Until a volume is made for a claim.")
    startup_delay: float = _delay("startup", "From the binding until the pod runs.")
    termination_delay: float = _delay(
        "termination", "From the deletion or eviction of a pod until it is gone."
    )
    failure_delay: float = _delay(
        "failure", "From a node's failure until its pods are evicted; from its deletion, at most a minute."
    )
    delays: Mapping[str, Duration] | None = option(
        None,
        f"How long things take: {', '.join(f'``{name}``' for name in DELAYS)}.",
        takes="python",
        types=(Mapping,),
        wanted="a dict such as {'binding': '2s'}",
    )
    recreate: bool = option(
        True,
        "Replace evicted pods of a controller, under another name.",
        takes="switch",
        flags=("--recreate/--no-recreate",),
    )
    until: Duration | None = option(
        None,
        "Stop at this virtual time.  [default: when nothing happens any more]",
        takes="seconds",
        common=True,
    )
    cron_jobs: bool = of_cron_jobs("")
    defaults: bool = with_defaults()
    strict: bool = if_strict()
    verbose: bool = option(
        False, "List every warning, on standard error.", flags=("--verbose", "-v"), python=None
    )
    series: Any = option(
        None, "Write time series there, as CSV; .gz: compressed.", takes="written", common=True, python=None
    )
    series_every: Duration | None = option(
        None,
        "Virtual time between two rows.  [default: every instant]",
        takes="seconds",
        python="The virtual time between two rows of the series; 0: a row an instant; None: no series.",
    )
    on_event: Callable[[EventData], None] | None = option(
        None,
        "Gets each event as it happens; the result then has none.",
        takes="python",
        types=(Callable,),
        wanted="a function",
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        # In Python the result has the series, and no file is named.
        if self.called is not str and self.has("series_every") and not self.has("series"):
            raise OptionsError(f"{self.called('series_every')} needs {self.called('series')}")


QUESTION = Question(
    options=ReplayOptions,
    ask="replay:replay",
    prints=True,
    forms="",
    help_of_forms="Write the events there as they happen, instead of to standard output; .gz: compressed.",
)
