"""A burst of pods for one scheduler alone, ours and the original in turn: pods a second, waits, processor time, events."""

from __future__ import annotations

import time

from .programs import Running
from .schedulers import Account, Outcome, Site, add_nodes, add_pods, middle, warm
from .servers import Server, until

EVENTS_WITHIN = 30.0
"""Seconds for events after the last binding."""


def run(site: Site) -> list[Outcome]:
    """A row for each scheduler, each with a server of its own."""
    rows = [_measured(site, "ours")]
    return rows if site.kubernetes is None else [*rows, _measured(site, "original")]


def _measured(site: Site, who: str) -> Outcome:
    with site.server(f"throughput-{who}") as server:
        add_nodes(server, site.nodes)
        scheduler = site.ours(server, who) if who == "ours" else site.original(server)
        try:
            return _burst(site, server, scheduler, f"{who} {site.release}" if who == "ours" else "kube-scheduler")
        finally:
            scheduler.end()


def _burst(site: Site, server: Server, scheduler: Running, who: str) -> Outcome:
    account = Account(server)
    warm(server, account)
    time.sleep(2.0)  # what follows the first pod is not counted
    begin, used, of_server = time.monotonic(), scheduler.seconds, server.seconds
    made: dict[str, float] = {}
    server.remote.storage.observers.append(lambda change: made.setdefault(change.key[1], time.monotonic()) and None)
    add_pods(server, site.pods)
    made_in = time.monotonic() - begin
    until(lambda: len(account.bound) > site.pods or scheduler.status is not None, site.patience)
    took, spent, events = max(account.bound.values()) - begin, scheduler.seconds - used, account.events
    until(lambda: account.events > site.pods, EVENTS_WITHIN)
    waits = sorted(moment - made[name] for name, moment in account.bound.items() if name in made)
    found = {
        "bound": len(account.bound) - 1, "made in s": round(made_in, 1), "seconds": round(took, 1),
        "pods a second": round((len(account.bound) - 1) / took, 1), "p50": middle(waits), "p99": middle(waits, 0.99),
        "CPU ms a pod": round(1000 * spent / site.pods, 2), "MiB": scheduler.memory,
        "events at the last binding": events - 1, "later": account.events - 1,
    }  # fmt: skip
    if of_server is not None and server.seconds is not None:
        found["server CPU s"] = round(server.seconds - of_server, 1)
    return Outcome("throughput", who, server.name, found, tuple(account.wrongs(site.pods + 1)))
