"""Replicas against a server in process, on virtual time: who leads, when it ends, and who takes over."""

import asyncio
import random

import attrs
import pytest

from kubeclassic.live.scheduler.election import Elector, LeaderLostError, LeaseLock, LeaseTimes
from tests.apiserver import NEW_SERVER, NO_FAULT, Fault, Store, StoreTransport, User, refused
from tests.live.scheduler.recorded import Events
from tests.support.virtualtime import now, wall

TIMES = LeaseTimes()


@attrs.define
class Pair:
    """A store with replicas, each with a link of its own."""

    store: Store = attrs.field(factory=lambda: Store(NEW_SERVER))

    def replica(self, name, faults=lambda request: NO_FAULT, skew=0):
        """A replica whose clock is *skew* seconds off."""
        lock = LeaseLock(StoreTransport(self.store, faults), "kube-system", "kube-scheduler", TIMES.request)
        clock = lambda: wall() + skew  # noqa: E731  # one expression
        return Elector(lock, TIMES, name, Events(), wall=clock, dice=random.Random(name))

    def holder(self):
        """The holder of the lock."""
        item = User(self.store).get("leases", "kube-scheduler", namespace="kube-system")
        return str(item["spec"].get("holderIdentity", ""))


async def forever():
    """Work that does not end."""
    await asyncio.Event().wait()


async def stop(task):
    """Cancel a task, as SIGTERM does."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class TestOneReplica:
    async def test_sigterm_during_a_renewal(self):
        """A renewal that the server has written, and whose answer is on its way, does not keep the lock."""
        pair = Pair()
        slow = pair.replica("a", lambda request: Fault(slow=1.0) if request.method == "PUT" else NO_FAULT)
        task = asyncio.create_task(slow.lead(forever))
        await asyncio.sleep(3.5)
        await stop(task)
        assert pair.holder() == ""

    async def test_work_is_over_before_the_lock_is_given_back(self):
        """Nobody else can lead while the work of a stopped leader still ends."""
        pair = Pair()
        seen = []

        async def work():
            try:
                await forever()
            finally:
                await asyncio.sleep(1)
                seen.append(pair.holder())

        task = asyncio.create_task(pair.replica("a").lead(work))
        await asyncio.sleep(5)
        await stop(task)
        assert seen == ["a"]
        assert pair.holder() == ""

    async def test_a_cut_link_ends_it_after_the_renew_deadline(self):
        """A leader that cannot renew ends with an error, not before the deadline and at most a retry period
        after it."""
        start = 21.0
        elector = Pair().replica("a", lambda request: Fault(is_dropped=now() >= start))
        with pytest.raises(LeaderLostError, match="lost lease"):
            await elector.lead(forever)
        assert TIMES.renew <= now() - start <= TIMES.renew + TIMES.retry

    async def test_a_lease_counts_from_the_request(self):
        """However late the answer to a renewal comes, the lease is held from the request on, and not for
        ever."""
        elector = Pair().replica("a", lambda request: Fault(slow=2.0))
        end = now() + TIMES.lease
        elector.leads = await elector.attempt()
        await asyncio.sleep(end - 0.1 - now())
        assert elector.holds_lease
        await asyncio.sleep(0.2)
        assert not elector.holds_lease

    @pytest.mark.parametrize(
        "after, seconds, is_lost",
        [
            (0.0, 9.9, False),
            (0.01, 10, False),
            (1.0, 10, False),
            (1.99, 10, False),
            (0.01, 11.9, False),
            (0.0, 10, True),
            (1.99, 10.1, True),
            (0.01, 12, True),
        ],
    )
    async def test_a_server_that_stands_still(self, after, seconds, is_lost):
        """A server that answers nothing for a while, and then everything, costs the lease if the renewal that
        comes next is too late.

        Upstream: renewals begin every 2 s, and each has 10 s. So a standstill of 10 s is survived if it
        begins between two renewals, and is not if a renewal is under way; one of 12 s never is.
        """
        begin = 20.0 + after

        def stands(request):
            return Fault(delay=begin + seconds - now()) if begin <= now() < begin + seconds else NO_FAULT

        elector = Pair().replica("a", stands)
        task = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(60)
        assert task.done() == is_lost
        if is_lost:
            with pytest.raises(LeaderLostError):
                await task
        else:
            await stop(task)

    @pytest.mark.parametrize("code", [403, 409, 500, 429])
    async def test_a_refusal_is_only_a_failed_try(self, code):
        """Refused writes are tried again, and a leader goes on when they work before the deadline."""
        fault = refused(code, "Made", "up")
        elector = Pair().replica(
            "a", lambda request: fault if request.method != "GET" and now() % 20 < 8 else NO_FAULT
        )
        task = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(8)
        assert not elector.leads
        await asyncio.sleep(100)
        assert elector.leads
        await stop(task)

    async def test_a_renewal_without_a_read(self):
        """From 1.30 on a leader writes at once; where that is refused, it reads the lock in the same try."""
        pair = Pair()
        sent = []

        def noted(request):
            sent.append(request.method)
            return NO_FAULT

        elector = pair.replica("a", noted)
        elector.renews_unread = True
        assert [await elector.attempt() for _ in range(3)] == [True, True, True]
        change = {"metadata": {"labels": {"of": "another"}}}
        User(pair.store).patch("leases", "kube-scheduler", change, namespace="kube-system")
        assert await elector.attempt()
        assert sent == ["GET", "POST", "PUT", "PUT", "PUT", "GET", "PUT"]
        await asyncio.sleep(TIMES.lease)
        assert await elector.attempt()
        assert sent[-2:] == ["GET", "PUT"]

    async def test_a_stolen_lock_ends_it(self):
        """A leader whose lock names another one ends after the deadline, and does not take the name out of
        it."""
        pair = Pair()
        elector = pair.replica("a")
        task = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(5)
        User(pair.store).patch(
            "leases", "kube-scheduler", {"spec": {"holderIdentity": "thief"}}, namespace="kube-system"
        )
        with pytest.raises(LeaderLostError):
            await task
        assert pair.holder() == "thief"
        assert elector.leader == "thief"
        assert [one.text for one in elector.recorder.told] == ["a became leader", "a stopped leading"]


class TestTwoReplicas:
    @pytest.mark.parametrize("skew", [0, -3600, 3600])
    async def test_one_takes_over_after_a_kill(self, skew):
        """The second replica leads once the lease of a killed one is over, whatever their clocks say."""
        pair = Pair()
        first = pair.replica("a")
        second = pair.replica("b", skew=skew)
        one = asyncio.create_task(first.lead(forever))
        await asyncio.sleep(1)
        two = asyncio.create_task(second.lead(forever))
        await asyncio.sleep(60)
        assert not second.leads
        first.leads = False  # as a kill -9 would
        await stop(one)
        await asyncio.sleep(TIMES.lease - TIMES.retry - 0.1)
        assert not second.leads
        await asyncio.sleep(TIMES.retry + TIMES.retry * 2.2 + 0.2)
        assert second.leads
        await stop(two)

    async def test_a_lock_that_is_given_back_is_free_at_once(self):
        """After SIGTERM the next replica waits for its next try only."""
        pair = Pair()
        one = asyncio.create_task(pair.replica("a").lead(forever))
        await asyncio.sleep(1)
        second = pair.replica("b")
        two = asyncio.create_task(second.lead(forever))
        await asyncio.sleep(20)
        await stop(one)
        await asyncio.sleep(TIMES.retry * 2.2 + 0.1)
        assert second.leads
        await stop(two)
