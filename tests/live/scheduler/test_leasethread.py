"""The lease on a thread of its own: renewals go on while the scheduler's loop is busy, and their end is the
end of the work."""

import asyncio
import threading
import time

import attrs
import pytest

from kubeclassic.live.client.http import Access
from kubeclassic.live.scheduler.election import Elector, LeaderLostError, LeaseLock, LeaseThread, LeaseTimes
from tests.apiserver import NEW_SERVER, NO_FAULT, Store, User, refused, serving_store

pytestmark = pytest.mark.whole

PATIENCE = 60.0
"""Seconds after which a test is given up."""
TIMES = LeaseTimes(lease=2.0, renew=1.0, retry=0.01)


@attrs.define(eq=False)
class Site:
    """A server over HTTP, and a replica whose lease is on a thread."""

    store: Store = attrs.field(factory=lambda: Store(NEW_SERVER))
    renewals: list = attrs.field(factory=list)
    is_cut: bool = False
    """The server refuses everything."""

    def faults(self):
        """The present faults."""
        return refused(500) if self.is_cut else NO_FAULT

    def lead(self, work):
        """The life of a leader that does *work*."""
        self.store.storage.observers.append(self.renewals.append)

        async def life(address):
            async with LeaseThread(Access(server=address)) as thread:
                lock = LeaseLock(thread.link, "kube-system", "kube-scheduler", 5.0)
                elector = Elector(lock, TIMES, "a", apart=thread.run)
                async with asyncio.timeout(PATIENCE):
                    await elector.lead(lambda: work(elector))

        with serving_store(self.store, faults=lambda request: self.faults()) as address:
            asyncio.run(life(address))

    def holder(self):
        """The holder of the lock."""
        return str(
            User(self.store).get("leases", "kube-scheduler", namespace="kube-system")["spec"][
                "holderIdentity"
            ]
        )


def test_it_renews_while_the_loop_of_the_work_is_blocked():
    """Work that never gives its loop a turn does not hold renewals up."""
    site = Site()
    during = []

    async def work(elector):
        before = len(site.renewals)
        end = time.monotonic() + PATIENCE
        while len(site.renewals) < before + 5 and time.monotonic() < end:
            pass
        during.append(len(site.renewals) - before)
        assert elector.holds_lease

    site.lead(work)
    assert during[0] >= 5


def test_a_lease_that_is_lost_ends_the_work():
    """When the thread cannot renew any more, the work is cancelled and the loss is raised."""
    site = Site()
    ended = []

    async def work(elector):
        site.is_cut = True
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(LeaderLostError, match="lost lease"):
        site.lead(work)
    assert ended == [True]


def test_the_lock_is_given_back_and_the_thread_ends():
    """When the work is over the lock is free again, and no thread is left."""
    site = Site()
    before = threading.active_count()

    async def work(elector):
        assert site.holder() == "a"

    site.lead(work)
    assert site.holder() == ""
    assert threading.active_count() == before
