"""How long one attempt at preemption takes, for releases and sizes side by side; see README.md beside this file.

Every pod that waits finds all nodes full of pods of lower priority. Of each pair of release and size one scheduler is made, and they take
turns pod by pod, so that all of them see the same machine.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from itertools import product

import attrs

from kubeclassic.api.objects import Pod
from kubeclassic.core.run import Run
from kubeclassic.simulation.bench.cases import CaseSize
from kubeclassic.simulation.conform import build, read_items


@attrs.define(eq=False)
class Contender:
    """One scheduler over its own cluster, and the milliseconds of processor time of each attempt so far."""

    release: str
    nodes: int
    run: Run
    waiting: list[Pod]
    times: list[float] = attrs.field(factory=list)

    @classmethod
    def of(cls, release: str, nodes: int, per_node: int, preemptors: int) -> Contender:
        """A cluster of *nodes* with *per_node* pods each, and the pods that are to preempt."""
        case = CaseSize(kind="preemption", nodes=nodes, existing=nodes * per_node, pods=preemptors).case(release)
        run = Run(build(case, {}), details=False)
        run.engine.snapshot.refresh()
        return cls(release, nodes, run, [item for _, item in read_items(case) if isinstance(item, Pod)])

    def attempt(self, number: int) -> None:
        """Time the cycle of one pod. Victims leave at once, and the pod stays nominated."""
        started = time.process_time()
        decision = self.run.cycle(self.waiting[number])
        self.times.append(1000 * (time.process_time() - started))
        if decision.preemption is None or decision.preemption.node is None:
            raise SystemExit(f"{self.release}, {self.nodes} nodes: pod {decision.pod.key} preempted nobody: {decision.error}")

    @property
    def typical(self) -> float:
        """The median of all attempts but the first, which lays the pods out as arrays."""
        return statistics.median(self.times[1:])


def measured(releases: list[str], sizes: list[int], per_node: int, preemptors: int) -> list[Contender]:
    """All schedulers after all attempts."""
    found = [Contender.of(release, nodes, per_node, preemptors) for release, nodes in product(releases, sizes)]
    gc.collect()
    gc.freeze()
    for number in range(preemptors):
        for contender in found:
            contender.attempt(number)
    return found


def main() -> None:
    """Measure and print: the first attempt, the typical one, the best one, and the ratio of the typical ones to that of the first line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[5000])
    parser.add_argument("--pods", type=int, default=30, help="bound pods a node, all of lower priority")
    parser.add_argument("--preemptors", type=int, default=40, help="pods that wait, two at least")
    parser.add_argument("--release", nargs="+", default=["1.16", "1.27"])
    arguments = parser.parse_args()
    found = measured(arguments.release, arguments.nodes, arguments.pods, max(arguments.preemptors, 2))
    sys.stdout.write(f"{'release':>8} {'nodes':>7} {'first ms':>9} {'ms a pod':>9} {'best ms':>8} {'ratio':>6}\n")
    for one in found:
        ratio = one.typical / found[0].typical
        sys.stdout.write(f"{one.release:>8} {one.nodes:>7} {one.times[0]:>9.1f} {one.typical:>9.2f} {min(one.times):>8.2f} {ratio:>6.2f}\n")


if __name__ == "__main__":
    main()
