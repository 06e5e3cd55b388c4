"""Each try of recorded replicas to get or renew their lock: the same requests, and the same decisions."""

import asyncio
import json
import re

import pytest

from kubeclassic.live.scheduler.election import Elector, LeaseLock, LeaseTimes
from kubeclassic.simulation.conform import as_decoded
from tests.support.recordings import Script, recorded
from tests.support.virtualtime import now, wall

TIMES = LeaseTimes(lease=6.0, renew=4.0, retry=1.0)
WAY = 0.01
"""Seconds that a request needs to the recorder, which sits between the replicas and the server."""
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ENDS = {
    "kube-scheduler": r"kube-scheduler a: stopped|A ended|A after the theft",
    "kube-scheduler-b": r"kube-scheduler b: stopped",
}


def masked(body):
    """A body without times: those of a lock are the replica's own clock."""
    return None if body is None else as_decoded(json.loads(TIME.sub("TIME", json.dumps(body))))


def lives(release, scenario):
    """The requests for the lock of each process that took part, in order."""
    current = {who: [] for who in ENDS}
    for exchange in recorded(release, scenario):
        if not exchange.method:
            for who, pattern in ENDS.items():
                if re.search(pattern, exchange.note):
                    yield current[who]
                    current[who] = []
        elif exchange.who in ENDS and (
            "/leases" in exchange.path and "timeout=" in exchange.query and "watch=" not in exchange.query
        ):
            current[exchange.who].append(exchange)
    yield from current.values()


def holders(life):
    """The identities that a process wrote, without the empty one of a lock that is given back."""
    written = [exchange.body["spec"] for exchange in life if exchange.body]
    return [spec["holderIdentity"] for spec in written if spec["holderIdentity"]]


SCENARIOS = (("1.28", "a1-startup"), ("1.28", "a2-leader"))
LIVES = [
    pytest.param(release, life, id=f"{release}-{scenario}-{i}")
    for release, scenario in SCENARIOS
    for i, life in enumerate(lives(release, scenario))
    if life
]


@pytest.mark.parametrize("release, life", LIVES)
class TestRecordedReplicas:
    async def test_each_try_sends_what_was_sent(self, release, life):
        """A replica asks, takes over, renews, is refused and waits at the recorded times with the recorded
        requests."""
        is_fast = "timeout=4s" in life[0].query or "timeout=2s" in life[0].query
        times = TIMES if is_fast else LeaseTimes()
        script = Script(life, masked)
        *_, namespace, _, name = life[0].path.split("/")
        identity = (holders(life) or ["host-a_nobody"])[0]
        elector = Elector(LeaseLock(script, namespace, name, times.request), times, identity, wall=wall)

        while script.done < len(life):
            exchange = life[script.done]
            await asyncio.sleep(max(0.0, exchange.t - WAY - now()))
            if exchange.method == "GET":
                await elector.attempt()
            else:
                await elector._release()
        assert script.done == len(life)
        assert elector.has_lock == was_written(life)


def was_written(life):
    """Whether the process had the lock at the end of its life: its last successful request was a write, and
    not one that gives back."""
    answered = [exchange for exchange in life if exchange.status is not None and exchange.status < 300]
    last = answered[-1]
    if last.method == "GET":
        return False
    return bool(holders([last]))
