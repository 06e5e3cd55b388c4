"""Whatever fails on the way to the API server: no pod is lost, none is bound twice, and no node has more than
it can hold."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apiserver import NO_FAULT, Fault, Watcher, refused, timed_out
from tests.live.scheduler.worlds import live, lived
from tests.support.examples import examples
from tests.support.livefaults import Faults, wrongs

RELEASES = ["1.12", "1.13", "1.14", "1.15", "1.16", "1.27", "1.36"]
QUIET_AFTER = 60.0
"""Virtual seconds after which nothing fails any more."""


def outcome(release, seed, share, *, restarts, replicas=1):
    """The outcome of forty pods on five nodes that can hold them all, with two pods that come and go."""
    found = []
    faults = Faults(seed, share)

    async def play(world):
        found.append(Watcher(world.store.storage))
        asyncio.get_running_loop().call_at(QUIET_AFTER, faults.end)
        for number in range(5):
            world.add_node(f"node-{number}", cpu="2", pods="12")
        for _ in range(replicas):
            world.schedule()
        for number in range(40):
            world.add_pod(f"pod-{number}", cpu="200m")
            await asyncio.sleep(0.3)
            if number % 15 == 14:
                world.drop_pod(f"pod-{number - 7}")
        if restarts:
            await world.stop()
            world.schedule()
        await asyncio.sleep(700.0)

    return live(release, play, faults), found[0]


@pytest.mark.whole
@pytest.mark.parametrize("release", RELEASES)
@examples(0.16)
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.02, 0.1, 0.3]), restarts=st.booleans())
def test_nothing_is_lost_or_doubled(release, seed, share, restarts):
    """With faults, and with a kill in the middle and a restart, every pod that can run gets one node, and no
    node gets too many."""
    world, watcher = outcome(release, seed, share, restarts=restarts)
    assert wrongs(world, watcher) == []
    assert watcher.waiting() == []
    assert all(world.hosts.values())


@pytest.mark.parametrize("release", ["1.15", "1.27", "1.36"])
def test_two_schedulers_at_once_bind_no_pod_twice(release):
    """Two schedulers of one name that both believe to lead: the API server refuses the second binding, and
    all pods get a node."""
    _, watcher = outcome(release, 7, 0.0, restarts=False, replicas=2)
    assert watcher.bound_twice == []
    assert watcher.waiting() == []


async def two_pods(world, seconds):
    """The outcome in these *seconds* after two pods came for the room of one, and watches ended."""
    watcher = Watcher(world.store.storage)
    world.add_node("node", cpu="1")
    world.schedule()
    await asyncio.sleep(1.0)
    world.add_pod("first", cpu="1")
    world.add_pod("second", cpu="1")
    world.store.storage.restart()
    await asyncio.sleep(seconds)
    return watcher


DARK = (0.5, 20.0)
"""While it is dark only bindings come through, and their answers are lost."""


def dark(request):
    """The fault of a request while it is dark."""
    now = asyncio.get_running_loop().time()
    if not DARK[0] <= now < DARK[1]:
        return NO_FAULT
    return Fault(is_lost=True) if request.path.endswith("/binding") else Fault(is_dropped=True)


@pytest.mark.parametrize("release", ["1.12", "1.16", "1.27", "1.36"])
@pytest.mark.parametrize(
    "answer",
    [Fault(is_lost=True), timed_out(), timed_out(500, "InternalError", "etcdserver: leader changed")],
    ids=["none", "504", "500"],
)
async def test_a_binding_without_an_answer_keeps_its_place(release, answer):
    """Until it is known whether a pod was bound, no other pod gets its room, though no informer tells of it.

    So it is where the server answers that it gave up waiting for its store: the store may have written the
    binding.
    """

    def unanswered(request):
        return answer if (found := dark(request)).is_lost else found

    async with lived(release, unanswered) as world:
        watcher = await two_pods(world, 900.0)
    assert watcher.faults == []
    assert sorted(world.hosts.values()) == ["", "node"]


@pytest.mark.parametrize("release", ["1.13", "1.14", "1.15", "1.16"])
async def test_a_late_answer_of_a_pod_that_has_its_node_makes_no_victims(release):
    """A binding fails and the pod is read again; the answer comes after the next binding: nobody is preempted
    for a pod that runs."""
    refusals = [refused(409, "Conflict")]
    deleted = []

    def late(request):
        if request.path.endswith("/pods/urgent/binding"):
            return refusals.pop() if refusals else NO_FAULT
        if request.method == "DELETE":
            deleted.append(request.path)
        return (
            Fault(slow=5.0) if request.method == "GET" and request.path.endswith("/pods/urgent") else NO_FAULT
        )

    async with lived(release, late) as world:
        world.add_node("node", cpu="2")
        world.schedule()
        world.add_pod("other", cpu="1")
        await asyncio.sleep(1.0)
        world.add_pod("urgent", cpu="1", priorityClassName="system-node-critical")
        await asyncio.sleep(300.0)
    assert world.hosts == {"other": "node", "urgent": "node"}
    assert (refusals, deleted) == ([], [])
