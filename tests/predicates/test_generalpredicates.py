"""GeneralPredicates: four rules, all of whose reasons count."""

import pytest

from kubeclassic.core.rule import Reads
from kubeclassic.predicates.generalpredicates import PARTS, general_predicates
from tests.support.build import engine, node, pod

CONTAINERS = [{"name": "c", "resources": {"requests": {"cpu": "2"}}, "ports": [{"hostPort": 80}]}]


class TestGeneralPredicates:
    def test_reads_what_its_parts_read(self):
        """What makes a part's answer stale makes the whole stale."""
        together = Reads.NOTHING
        for part in PARTS:
            together |= part.reads
        assert general_predicates.reads == together

    @pytest.mark.parametrize(
        "other",
        [{"on": "n"}, {"requests": {"cpu": "1"}}, {"nodeSelector": {"a": "b"}}, {"containers": CONTAINERS}],
    )
    def test_the_key_covers_every_part(self, other):
        """Pods that differ in what one part reads have different keys."""
        begin = engine(node("n")).begin
        assert general_predicates.key(begin(pod("p")).template) != general_predicates.key(
            begin(pod("p", **other)).template
        )

    @pytest.mark.parametrize(
        ("more", "asked"),
        [({}, 1), ({"on": "n"}, 2), ({"nodeSelector": {"a": "b"}}, 2), ({"containers": CONTAINERS}, 2)],
    )
    def test_each_part_tells_which_pods_concern_it(self, more, asked):
        """Resources concern every pod; the other parts those that name a node, ports or labels."""
        template = engine(node("n")).begin(pod("p", **more)).template
        assert len([part for part in PARTS if part.concerns(template)]) == asked
