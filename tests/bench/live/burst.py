"""Two replicas and many pods at once: whether the leader keeps its lease, and the time between its
renewals."""

import time

from .schedulers import Account, Outcome, Replicas, add_nodes, add_pods, middle, warm
from .servers import until

SLOW = 5.0
"""The seconds between two renewals from which they are reported: a leader tries to renew every 2 seconds."""


def run(site):
    """One burst."""
    with site.server("burst") as server:
        add_nodes(server, site.nodes)
        account = Account(server)
        replicas = Replicas(site, server)
        with replicas.at_work():
            warm(server, account)
            begin = time.monotonic()
            used = replicas.seconds
            add_pods(server, site.pods)
            until(lambda: len(account.bound) > site.pods, site.patience)
            took = max(account.bound.values()) - begin
            spent = replicas.seconds - used
            events = account.events
            until(lambda: account.events > site.pods, 30.0)
            gaps = account.gaps(begin - SLOW)
        found = {
            "bound": len(account.bound) - 1,
            "seconds": round(took, 1),
            "CPU ms a pod": round(1000 * spent / site.pods, 2),
            "leases lost": len(replicas.lost),
            "renewals": len(gaps) + 1,
            "median": middle(gaps),
            "max": middle(gaps, 1.0),
            "above 5 s": sum(gap > SLOW for gap in gaps),
            "events at the last binding": events - 1,
            "later": account.events - 1,
        }
        wrong = [
            *account.wrongs(site.pods + 1),
            *(f"a replica ended with status {status}" for status in replicas.lost),
        ]
        return [Outcome("burst", f"two of {site.release}", server.name, found, tuple(wrong))]
