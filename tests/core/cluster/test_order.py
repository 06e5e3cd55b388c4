"""The list of nodes that a search visits, where it is read on from a cursor."""

import random

import pytest

from kubeclassic.core.cluster.order import ListOrder
from kubeclassic.core.feed import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod

ZONE = "topology.kubernetes.io/zone"


def order_of(engine):
    """The order of an engine of the framework."""
    order = engine.flow.order
    assert isinstance(order, ListOrder)
    return order


class TestReadingOn:
    """A list that is read on to the same place is kept."""

    @pytest.mark.parametrize("release", ["1.17", "1.18"])
    @pytest.mark.parametrize("seed", range(6))
    def test_it_is_the_one_that_is_read_anew(self, release, seed):
        """While nodes come and go, each search visits the nodes that it would if the list were made from
        nothing."""
        rng = random.Random(seed)
        kept = engine_for(release, {})
        anew = engine_for(release, {})
        nodes = [node(f"n{number}", labels={ZONE: rng.choice("abc")}) for number in range(12)]
        there = set[str]()
        for step in range(60):
            changed = (
                rng.choice(nodes) if step > 7 and rng.random() < 0.4 else nodes[step] if step <= 7 else None
            )
            for engine in (kept, anew):
                if changed is not None:
                    (EventFeed(engine).delete if changed.name in there else EventFeed(engine).put)(changed)
            if changed is not None:
                there ^= {changed.name}
            order_of(anew)._read_at = None
            found, wanted = (engine.schedule(pod(f"p{step}"), details=False) for engine in (kept, anew))
            assert (found.host, found.error) == (wanted.host, wanted.error)
            names = [
                [engine.table.names[row] for row in order_of(engine).rows().tolist()]
                for engine in (kept, anew)
            ]
            assert names[0] == names[1]
            assert kept.position == anew.position
