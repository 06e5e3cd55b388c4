"""Small clusters for tests of caches: nodes in racks, pods with rules about hosts and racks, and nominations,
fed to several schedulers.

Whatever a scheduler caches, it must decide like a scheduler that caches nothing, like an evaluation of a
single node, and like a new scheduler that is fed with the present cluster.
"""

import random

import attrs

from kubeclassic.api.objects import Node
from kubeclassic.api.record import plain
from kubeclassic.core.run import EventFeed, Run
from kubeclassic.simulation.conform import engine_for
from tests.support.townforms import IMPORTANT, NODES, budget, machine, person

FEW = 6
PODS = 120
WAITING = 6
BUDGETS = 2
RELEASES = ("1.12", "1.16", "1.27")
SMALL = 4000
"""The bytes of a memory that can hold hardly anything."""
WATCHED = ("nominate", "withdraw", "budget", "node", "come", "leave")
VERBS = (
    "node",
    "drop node",
    "come",
    "come",
    "leave",
    "leave",
    "nominate",
    *["withdraw"] * 3,
    "budget",
    "retry",
    "look",
    "watch",
    *["schedule"] * 4,
    *["run"] * 2,
)
"""The steps that can happen, with repetitions as weights."""
PRESSED = ("come", "come", "run", "leave", "withdraw", *["watch"] * 4)
"""The steps in a town that is full and stays so."""


def scheduler(release, memory_bytes=1 << 30):
    """A scheduler of *release* that looks at all nodes."""
    gates = {"EvenPodsSpread": True} if release == "1.16" else {}
    return engine_for(
        release, {"featureGates": gates, "percentageOfNodesToScore": 100}, memory_bytes=memory_bytes
    )


# --- what happens -------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Town:
    """Schedulers of one release fed with the same events: the first has memory, the second little, the third
    none, and records all details."""

    release: str
    plain: bool = False
    """Whether pods depend only on sums of requests; such a town is so small that it is often full."""
    runs: list = attrs.field(init=False)
    told: dict = attrs.field(factory=dict)
    """Name -> the present node or budget."""
    made: int = 0
    """The number of pods made so far."""

    def __attrs_post_init__(self):
        self.runs = [
            Run(scheduler(self.release, size), details)
            for size, details in ((1 << 30, False), (SMALL, False), (0, True))
        ]

    @property
    def engine(self):
        """The first scheduler."""
        return self.runs[0].engine

    @property
    def most(self):
        """The most nodes that a town has."""
        return FEW if self.plain else NODES

    def _person(self, variant, name, on=""):
        return person(variant, name, on, self.plain)

    def begin(self):
        """Add nodes, and a pod on each."""
        for number in range(self.most):
            self.take(("node", number, number % 6))
            self.take(("come", number, number * 5))

    def take(self, step):
        """Carry out a step. Raises AssertionError where the schedulers do not agree."""
        verb, number, variant = step
        getattr(self, f"_{verb.replace(' ', '_')}")(number, variant)

    def _node(self, number, variant):
        self._put(machine(number % self.most, variant))

    def _budget(self, number, variant):
        self._put(budget(number % BUDGETS, variant % 3))

    def _put(self, item):
        self.told[item.name] = item
        for run in self.runs:
            run.feed.put(item)

    def _drop_node(self, number, variant):
        """Delete a node; now and then its pods stay for a while."""
        name = f"n{number % self.most}"
        if name in self.told:
            for one in self.bound() if variant % 3 else ():
                if one.spec.node_name == name:
                    self._delete(one)
            self._delete(self.told.pop(name))

    def _delete(self, item):
        for run in self.runs:
            run.delete(item)

    def _come(self, number, variant):
        """Add a pod that was bound to a node by somebody else."""
        names = self.names()
        if names and len(self.bound()) < PODS:
            self.made += 1
            for run in self.runs:
                run.feed.put(self._person(variant, f"c{self.made}", names[number % len(names)]))

    def _leave(self, number, variant):
        bound = self.bound()
        if bound:
            self._delete(bound[number % len(bound)])

    def _nominate(self, number, variant):
        names = self.names()
        waiting = self._person(variant, f"w{number % WAITING}")
        if names and not any(self._waiting()):
            self._for_each(lambda run: run.nominate(waiting, names[number % len(names)]))

    def _withdraw(self, number, variant):
        waiting = list(self._waiting())
        if waiting:
            self._delete(waiting[number % len(waiting)])

    def _for_each(self, deed):
        for run in self.runs:
            deed(run)

    def _waiting(self):
        return (one for name in sorted(self.engine.nominations) for one in self.engine.nominations.on(name))

    def _schedule(self, number, variant):
        """Schedule a pod; a preemptor mostly gets its second cycle at once."""
        self.made += 1
        one = self._person(variant, f"s{self.made}")
        self.agree([run.cycle(one) for run in self.runs])
        if number % 4:
            self._retry(number, variant)

    def _run(self, number, variant):
        """Schedule equal pods one after another."""
        for _ in range(3 + number % 8):
            self._schedule(1, variant)

    def _retry(self, number, variant):
        for pods in zip(*[run.take_retries() for run in self.runs], strict=True):
            self.agree([run.cycle(one, retry=True) for run, one in zip(self.runs, pods, strict=True)])

    # --- who has to agree -----------------------------------------------------------------------------------

    def agree(self, decisions):
        """Raise AssertionError unless all decisions are the same, and the tie-breaks have moved on alike."""
        first, *others = [decision.record() for decision in decisions]
        assert all(other == first for other in others), (first, others)
        assert len({run.engine.ties.last_node_index for run in self.runs}) == 1

    def _look(self, number, variant):
        """Evaluate a pod without placing it: on all nodes, on one, and by a new scheduler."""
        names = self.names()
        one = self._person(variant, "asked")
        if not names:
            return
        engines = [run.engine for run in self.runs]
        at = number % len(names)
        newcomer = self.newcomer()
        if newcomer is not None:
            engines.append(newcomer)
        found = [[array.tolist() for array in engine.evaluate_nodes(one, names)] for engine in engines]
        assert all(other == found[0] for other in found), found
        assert all(
            engine.evaluate_nodes(one, names[at : at + 1])[0].item() == found[0][0][at] for engine in engines
        ), names[at]
        for other in (one, IMPORTANT):
            plans = [self._plans(engine, other) for engine in engines]
            assert all(plan == plans[0] for plan in plans), plans

    def _watch(self, number, variant):
        """Carry out one step between two looks."""
        self._look(number, variant)
        self.take((WATCHED[number % len(WATCHED)], number // len(WATCHED), variant))
        self._look(number, variant)

    @staticmethod
    def _plans(engine, one):
        """The candidates of a preemption, node -> victims, for a pod that fits nowhere."""
        with engine.preserving_state(one):
            plan = engine.schedule(one, details=False).preemption
        return None if plan is None else plain(plan.record())["candidates"]

    def newcomer(self):
        """A new scheduler fed with the present cluster; None where it cannot know what the others have seen.

        It cannot where pods have outlived their node, or nodes came and went, so that the next search visits
        one node twice and leaves out another.
        """
        self.engine.warm()
        if not self.engine.flow.order.is_regular or any(
            one.spec.node_name not in self.told for one in self.bound()
        ):
            return None
        made = scheduler(self.release)
        feed = EventFeed(made)
        for item in (*self.told.values(), *self.bound()):
            feed.put(item)
        for name in sorted(self.engine.nominations):
            for waiting in self.engine.nominations.on(name):
                made.nominations.add(waiting, name)
        return made

    def names(self):
        """The names of the present nodes."""
        return [name for name, item in self.told.items() if isinstance(item, Node)]

    def bound(self):
        """The pods on nodes; each one's ``spec.nodeName`` must be its node."""
        found = [(name, entry.pod) for name, info in self.engine.cache.infos.items() for entry in info.pods]
        assert all(one.spec.node_name == name for name, one in found)
        return [one for _, one in found]


def days(seed, count, verbs=VERBS):
    """*count* random steps, in which the same few variants recur."""
    rng = random.Random(seed)
    variants = [rng.randrange(64) for _ in range(6)]
    return [(rng.choice(verbs), rng.randrange(64), rng.choice(variants)) for _ in range(count)]
