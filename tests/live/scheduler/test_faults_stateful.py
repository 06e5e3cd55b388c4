"""Clusters that change while requests fail and schedulers are killed: no pod is bound twice, none is on a
full node, and none is lost.

Two schedulers of different names share the server. Each has pods and nodes of its own: two schedulers that
place pods on the same nodes do not know of each other's decisions in time, so nobody could promise that both
keep within what a node has.
"""

import asyncio

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kubeclassic.framework.releases import ALL_RELEASES
from tests.apiserver import Fault, Kubelets, User, Watcher
from tests.live.scheduler.worlds import World
from tests.support.examples import examples
from tests.support.livefaults import KINDS, with_room, wrongs
from tests.support.virtualtime import VirtualLoop

pytestmark = pytest.mark.whole

NAMES = ("default-scheduler", "other-scheduler")
OWNERS = st.sampled_from(NAMES)
SIZES = st.sampled_from(["300m", "500m", "1"])
OVERDUE = 60.0
"""Seconds after which each request that is under way has ended, those that time out, too."""
PATIENCE = 900.0
"""Seconds without faults after which every pod that fits somewhere has a node."""

PROMPT = Fault(slow=0.001)
"""Each answer takes a moment. Else a scheduler that tries a pod again and again at once would stand still on
virtual time."""


def config_of(release, name):
    """The configuration of a scheduler of that name; older releases have the name in a flag."""
    if release != "1.27":
        return {}
    profiles = [{"schedulerName": name}]
    return {
        "profile": {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": profiles,
        }
    }


class Clusters(RuleBasedStateMachine):
    """A server with two schedulers, on virtual time."""

    def __init__(self):
        super().__init__()
        self.loop = VirtualLoop()
        self.pending = []
        self.bad_bindings = []
        self.dark_until = 0.0
        self.count = 0
        self.made = set()
        self.unwanted = set()
        """Deleted by the user, or as victims."""

    @initialize(release=st.sampled_from(["1.12", "1.15", "1.16", "1.27"]))
    def begin(self, release):
        """Everything starts, with a node for each scheduler."""

        async def start():
            self.world = World(release, self.fault)
            self.watcher = Watcher(self.world.store.storage)
            self.kubelets = asyncio.create_task(Kubelets(User(self.world.store)).run())

        self.loop.run_until_complete(start())
        self.running = {}
        for owner in NAMES:
            self.loop.run_until_complete(self.started(owner))
            self.add_node(owner)

    def fault(self, request):
        """The fault of a request: bindings have their own faults, and get through in an outage."""
        if request.method == "DELETE":
            self.unwanted.add(request.path.rpartition("/")[2])
        if request.path.endswith("/binding"):
            if self.bad_bindings:
                return self.bad_bindings.pop()
        elif self.loop.time() < self.dark_until:
            return Fault(is_dropped=True)
        return self.pending.pop() if self.pending else PROMPT

    # --- users ----------------------------------------------------------------------------------------------

    @rule(owner=OWNERS)
    def add_node(self, owner):
        """A node comes, for the pods of one scheduler."""
        self.count += 1
        self.world.add_node(f"node-{self.count}", cpu="1", pods="3", owner=owner)

    @rule(owner=OWNERS, sizes=st.lists(SIZES, min_size=1, max_size=5), urgent=st.booleans())
    def add_pods(self, owner, sizes, urgent):
        """Pods come; urgent ones may preempt others."""
        more = {"priorityClassName": "system-node-critical"} if urgent else {}
        for size in sizes:
            self.count += 1
            self.made.add(f"pod-{self.count}")
            self.world.add_pod(
                f"pod-{self.count}", cpu=size, schedulerName=owner, nodeSelector={"owner": owner}, **more
            )

    @rule(chosen=st.integers(0, 1000))
    def drop_pod(self, chosen):
        """A pod goes."""
        names = sorted(self.world.hosts)
        if names:
            self.unwanted.add(names[chosen % len(names)])
            self.world.drop_pod(names[chosen % len(names)])

    # --- what goes wrong ------------------------------------------------------------------------------------

    @rule(kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8))
    def fail_requests(self, kinds):
        """The next requests fail."""
        self.pending += [KINDS[kind] for kind in kinds]

    @rule(kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    def fail_bindings(self, kinds):
        """The next bindings fail, or only their answers are lost."""
        self.bad_bindings += [KINDS[kind] for kind in kinds]

    @rule(forgets=st.booleans(), dark=st.sampled_from([0.0, 0.0, 5.0, 60.0]))
    def cut_watches(self, forgets, dark):
        """All watches end; a server that *forgets* answers the next ones with 410. While it is *dark* only
        bindings come through."""
        self.dark_until = self.loop.time() + dark
        if forgets:
            self.world.store.storage.compact()
        self.world.store.storage.restart()

    @rule(owner=OWNERS, down=st.sampled_from([0.0, 0.5, 40.0]))
    def kill(self, owner, down):
        """A scheduler is killed, and starts again after a while."""
        self.loop.run_until_complete(self.world.stop(self.running[owner]))
        self.wait(down)
        self.loop.run_until_complete(self.started(owner))

    async def started(self, owner):
        """Start a scheduler; it needs a loop that runs."""
        self.world.schedule(config_of(self.world.release, owner), name=owner)
        self.running[owner] = self.world.tasks[-1]

    @rule(seconds=st.sampled_from([0.0, 0.001, 1.0, 1.4, 10.0, 45.0]))
    def wait(self, seconds):
        """Time passes."""
        self.loop.run_until_complete(asyncio.sleep(seconds))

    # --- what must be ---------------------------------------------------------------------------------------

    @invariant()
    def nothing_is_broken(self):
        """No pod has been bound twice, and no node has more than it can hold."""
        if hasattr(self, "watcher"):
            assert wrongs(self.world, self.watcher) == []

    def heal(self):
        """Without faults every pod that fits gets a node."""
        self.pending = []
        self.bad_bindings = []
        self.dark_until = 0.0
        if ALL_RELEASES[self.world.release].queue.parked_at_most is None:
            # Upstream: a parked pod waits until something happens to the cluster, though a binding that
            # failed gave its room back.
            self.wait(OVERDUE)
            for owner in NAMES:
                self.add_node(owner)
        self.wait(PATIENCE)
        assert with_room(self.world.store.storage, self.watcher) == []
        assert self.made - set(self.world.hosts) - self.unwanted == set()
        assert wrongs(self.world, self.watcher) == []

    def teardown(self):
        """The end: faults stop, all is judged, and everything ends."""
        try:
            if hasattr(self, "watcher"):
                self.heal()
        finally:
            self.loop.run_until_complete(self.end())
            self.loop.close()

    async def end(self):
        """End everything; a defect that had ended a scheduler is raised."""
        if hasattr(self, "watcher"):
            self.kubelets.cancel()
            await self.world.stop()


TestClusters = Clusters.TestCase
TestClusters.settings = examples(2.0, stateful_step_count=25, suppress_health_check=list(HealthCheck))
