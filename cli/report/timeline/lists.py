"""The long lists of a replay's page: pods, pods that lost their node, events that are news."""

from __future__ import annotations

import json

from ....api.view import Column, Table
from ....simulation.records import reasons_in
from ..page.parts import BAD, GOOD, HELD, NEAR
from .collected import Collected

OUTCOMES = {"finished": GOOD, "on a node": GOOD, "waiting": BAD, "evicted": BAD, "deleted": HELD, "held back": NEAR}
TOLD = ("time", "event", "pod", "node", "by", "reason", "message")
"""Fields of events that have a place in the table."""


def pod_table(collected: Collected) -> Table:
    """Every pod that came."""
    columns = (
        Column("pod", "name"), Column("outcome", "tag", filter=True, colours=OUTCOMES), Column("came", "seconds"),
        Column("waited", "seconds"), Column("nodes", "names", filter=True), Column("attempts", "count"), Column("ended", "seconds"),
        Column("last reason", filter=True),
    )  # fmt: skip
    lives = list(collected.lives.values())
    rows = [
        [
            life.pod, life.outcome, life.came, life.waited, life.nodes, life.attempts, life.ended,
            next(iter(reasons_in(life.message))) if life.message else None,
        ]
        for life in lives
    ]  # fmt: skip
    details = [[["message", life.message]] if life.message else None for life in lives]
    return Table("pods", columns, rows, noun="pod", details=details if any(details) else None)


def lost_table(collected: Collected) -> Table:
    """Every time that a pod lost its node."""
    columns = (
        Column("time", "seconds"), Column("pod", "name"), Column("node", "name", filter=True), Column("why", "tag", filter=True),
        Column("for", "name"), Column("had run", "seconds"),
    )  # fmt: skip
    rows = [[one["time"], one["pod"], one["node"], one["reason"], one["by"], one["ran"]] for one in collected.lost]
    return Table("lost", columns, rows, noun="eviction")


def event_table(collected: Collected) -> Table:
    """Events other than the usual ones of pods."""
    columns = (
        Column("time", "seconds"), Column("event", "tag", filter=True), Column("pod", "name"), Column("node", "name", filter=True),
        Column("for", "name"), Column("more"),
    )  # fmt: skip
    rows = [[one["time"], one["event"], one.get("pod"), one.get("node"), one.get("by"), _more(one)] for one in collected.news]
    return Table("events", columns, rows, noun="event")


def _more(event: dict[str, object]) -> str | None:
    said = event.get("message") or event.get("reason")
    rest = {name: value for name, value in event.items() if name not in TOLD and name != "attempts"}
    words = [f"{name} {value if isinstance(value, str | int) else json.dumps(value)}" for name, value in rest.items()]
    return "; ".join([*([str(said)] if said else []), *words]) or None
