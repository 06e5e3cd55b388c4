"""Two replicas whose leader is killed, and whose API server and etcd go away: when binding resumes, and
whether a pod is lost or misplaced."""

import signal
import time

import attrs

from .schedulers import Account, Outcome, Replicas, add_nodes, add_pods, warm
from .servers import Real, until

AWAY = {"api": 3.0, "etcd": 20.0, "pause": 10.0}
"""Fault -> the seconds for which a server stays away."""
ENOUGH = 8
"""The number of bindings after which binding has resumed."""


@attrs.define(eq=False)
class Trial:
    """The targets of the faults."""

    site: object
    server: object
    account: Account
    replicas: Replicas

    def kill(self):
        """Kill the leader."""
        self.replicas.end_leader(signal.SIGKILL)

    def term(self):
        """Ask the leader to end."""
        status = self.replicas.end_leader(signal.SIGTERM)
        assert status == 0, status

    def api(self):
        """Kill the API server, and start it again."""
        server = self._real()
        server.kill_api()
        time.sleep(AWAY["api"])
        server.start_api()

    def etcd(self):
        """Kill etcd, and start it again."""
        server = self._real()
        server.kill_etcd()
        time.sleep(AWAY["etcd"])
        server.start_etcd()
        until(server.remote.is_ready, self.site.patience)

    def pause(self):
        """Suspend the API server for a while."""
        server = self._real()
        server.pause(is_over=False)
        time.sleep(AWAY["pause"])
        server.pause(is_over=True)

    def _real(self):
        assert isinstance(self.server, Real)
        return self.server


ANYWHERE = ("kill", "term")
"""Faults that need no programs of Kubernetes."""
FAULTS = {"kill": Trial.kill, "api": Trial.api, "etcd": Trial.etcd, "pause": Trial.pause, "term": Trial.term}


def run(site):
    """Cause all faults in turn while pods are added; a row for each, and one for the end."""
    names = [name for name in FAULTS if site.kubernetes is not None or name in ANYWHERE]
    with site.server("faults") as server:
        add_nodes(server, site.nodes)
        trial = Trial(site, server, Account(server), Replicas(site, server))
        with trial.replicas.at_work():
            warm(server, trial.account)
            making = server.remote.thread(lambda: add_pods(server, site.pods))
            rows = [_after(trial, name, site.pods // (len(names) + 2), making) for name in names]
            making.join()
            until(
                lambda: not trial.account.watcher.waiting() and trial.account.watcher.bound > site.pods,
                site.patience,
            )
        wrong = trial.account.wrongs(site.pods + 1)
        found = {
            "bound": trial.account.watcher.bound - 1,
            "replicas that ended by themselves": len(trial.replicas.lost),
        }
        return [*rows, Outcome("faults: end", f"two of {site.release}", server.name, found, tuple(wrong))]


def _after(trial, name, more, making):
    """Cause one fault, after *more* further bindings, or after the last one."""
    account = trial.account
    before = len(trial.account.bound)
    lost = len(trial.replicas.lost)
    until(
        lambda: len(account.bound) > before + more or not (making.is_alive() or account.watcher.waiting()),
        60.0,
    )
    FAULTS[name](trial)
    over = time.monotonic()
    bound = len(account.bound)
    went_on = until(
        lambda: len(account.bound) > bound + ENOUGH or not account.watcher.waiting(), trial.site.patience
    )
    later = [moment for moment in account.bound.values() if moment > over]
    found = {
        "binding goes on after s": round(min(later) - over, 1) if later else None,
        "leases lost": len(trial.replicas.lost) - lost,
    }
    wrong = () if went_on else (f"no binding within {trial.site.patience:g} s",)
    return Outcome(f"faults: {name}", f"two of {trial.site.release}", trial.server.name, found, wrong)
