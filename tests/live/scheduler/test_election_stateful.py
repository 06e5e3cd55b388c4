"""Two replicas with failing links, kills and restarts: never do both hold a lease."""

import asyncio
import random

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kubeclassic.live.scheduler.election import Elector, LeaderLostError, LeaseLock, LeaseTimes
from tests.apiserver import NEW_SERVER, NO_FAULT, Fault, Store, StoreTransport, refused
from tests.support.examples import examples
from tests.support.virtualtime import VirtualLoop

pytestmark = pytest.mark.whole

NAMES = st.sampled_from(("a", "b"))
FAULTS = {
    "none": NO_FAULT,
    "cut": Fault(is_dropped=True),
    "lost": Fault(is_lost=True),
    "late": Fault(delay=4.0),
    "slow": Fault(slow=4.0),
    "hung": Fault(slow=1e6),
    "409": refused(409, "Conflict"),
    "500": refused(500),
}
STEP = 0.25
"""Seconds between two looks."""
PATIENCE = 60.0
"""Seconds after which somebody leads again once all links work."""


class Replicas(RuleBasedStateMachine):
    """Two replicas over one store, on virtual time."""

    def __init__(self):
        super().__init__()
        self.loop = VirtualLoop()
        self.faults = {"a": NO_FAULT, "b": NO_FAULT}
        self.electors = {}
        self.tasks = {}
        self.lives = 0

    @initialize()
    def begin(self):
        """Start both candidates."""
        self.store = Store(NEW_SERVER)
        for name in ("a", "b"):
            self.start(name)

    def start(self, name):
        """Start a replica as a new process."""
        self.lives += 1
        identity = f"{name}-{self.lives}"
        link = StoreTransport(self.store, lambda request: self.fault(name, request))
        lock = LeaseLock(link, "kube-system", "x", LeaseTimes().request)
        self.electors[name] = Elector(
            lock,
            LeaseTimes(),
            identity,
            wall=self.loop.time,
            dice=random.Random(self.lives),
            renews_unread=self.lives % 3 > 0,
        )
        self.tasks[name] = self.loop.create_task(self.live(name))

    def fault(self, name, request):
        """The fault of a request now."""
        return self.faults[name]

    async def live(self, name):
        """A process: it leads, and starts again when it has lost its lease."""
        try:
            await self.electors[name].lead(forever)
        except LeaderLostError:
            self.start(name)

    def pass_time(self, seconds):
        """Let time pass, and look often."""
        for _ in range(round(seconds / STEP)):
            self.loop.run_until_complete(asyncio.sleep(STEP))
            self.at_most_one_holds_a_lease()

    @rule(seconds=st.floats(0.25, 40.0))
    def wait(self, seconds):
        """Nothing happens for a while."""
        self.pass_time(seconds)

    @rule(name=NAMES, fault=st.sampled_from(sorted(FAULTS)))
    def change_link(self, name, fault):
        """A link breaks, or works again."""
        self.faults[name] = FAULTS[fault]

    @rule(name=NAMES, is_kill=st.booleans())
    def restart(self, name, is_kill):
        """A replica is killed or told to stop, and starts again."""
        elector = self.electors[name]
        if is_kill:
            elector.leads = False
        self.stop(name)
        self.start(name)

    def stop(self, name):
        """End a process."""
        task = self.tasks[name]
        task.cancel()
        self.loop.run_until_complete(asyncio.gather(task, return_exceptions=True))

    @rule()
    def heal(self):
        """With working links somebody leads after a while."""
        self.faults = {"a": NO_FAULT, "b": NO_FAULT}
        self.pass_time(PATIENCE)
        assert sum(elector.leads for elector in self.electors.values()) == 1

    @invariant()
    def at_most_one_holds_a_lease(self):
        """Two leaders never hold a lease at the same time."""
        held = [
            name
            for name, elector in self.electors.items()
            if elector.leads and (self.loop.time() < elector._renewed_at + elector.times.lease)
        ]
        assert len(held) <= 1

    def teardown(self):
        """End everything."""
        for name in self.tasks:
            self.stop(name)
        self.loop.close()


async def forever():
    """Work that does not end."""
    await asyncio.Event().wait()


TestReplicas = Replicas.TestCase
TestReplicas.settings = examples(1.0, stateful_step_count=20)
