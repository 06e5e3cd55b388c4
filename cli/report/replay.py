"""A replay for people: the outcomes of the pods, how long they waited, how full the cluster was."""

from __future__ import annotations

from ...api.words import count_doing, count_of, percent
from ...simulation.replay.recording import summary
from ...simulation.replay.replay import Replay
from .prose import wrapped
from .simulation import passed_over_text
from .tables import TextTable


def replay_text(replay: Replay, width: int | None = None) -> str:
    """The counts in sentences, the waits and the use of resources as tables; lines of *width* characters at most."""
    told = summary(replay)
    lines = [
        f"{duration(replay.now)} of virtual time, {count_of(replay.cluster.ledger.nodes, 'node')} at the end",
        f"{count_of(told.arrived, 'pod')} arrived, {told.scheduled} scheduled, {told.finished} finished, {told.evicted} evicted",
        f"{count_of(told.attempts, 'attempt')}, {told.failed_attempts} failed, {told.preemptions} made room",
    ]
    if not told.ok:
        waiting = count_doing(told.still_waiting, "pod", "wait", "still")
        lines.append(f"{waiting}, {told.never_scheduled} left without having had a node")
    lines = list(wrapped([*lines, *passed_over_text(replay.inputs.passed_over)], width, "  "))
    if told.waits:
        lines += TextTable(["wait", "seconds"], [[name, seconds] for name, seconds in told.waits.items()]).lines(width)
    if told.mean_use:
        lines += TextTable(["resource", "mean use"], [[name, percent(share)] for name, share in told.mean_use.items()]).lines(width)
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """A number of seconds as people say it.

    >>> duration(42), duration(3725.4), duration(200000)
    ('42 s', '1 h 2 min 5 s', '2 d 7 h 33 min')
    """
    left, parts = round(seconds), list[str]()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:3])
