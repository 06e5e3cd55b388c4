"""The small parts of pages: facts, bars, short tables."""

from __future__ import annotations

import re

from kubeclassic.cli.report.page.markup import html
from kubeclassic.cli.report.page.parts import StackItem, bullets, card, dot, facts, folded, plain_table, section, stack, track


class TestPlainTable:
    def test_cells(self) -> None:
        """Numbers stand at the right, the first text names its row, and what is no markup is escaped."""
        table = plain_table(["rule", "pods", "why"], [["<a>", "3", "x & y"], ["b", "1,000", None]])
        assert re.findall(r'<th scope="row">([^<]*)</th>', table) == ["&lt;a&gt;", "b"]
        assert table.count('class="n"') == 3
        assert "x &amp; y" in table

    def test_many_columns_are_lists_on_a_telephone(self) -> None:
        """With more than three columns each cell says of what it is."""
        few, many = (plain_table([f"c{at}" for at in range(count)], [["x"] * count]) for count in (3, 4))
        assert "stacks" not in few
        assert 'class="stacks"' in many
        assert re.findall(r'data-label="([^"]*)"', many) == ["c1", "c2", "c3"]


class TestBars:
    def test_stack(self) -> None:
        """A bar has a piece for each part that there is, a legend with all, and says itself to those who do not see it."""
        bar = stack("pods", [StackItem("same", 3, "red"), StackItem("none", 0, "blue"), StackItem("other", 1, "green")])
        assert re.findall(r"flex:(\d+)", bar) == ["3", "1"]
        assert 'aria-label="pods: 3 same, 0 none, 1 other"' in bar
        assert re.findall(r"</b> ([^<]*)<", bar) == ["75.0 %", "0.0 %", "25.0 %"]

    def test_track(self) -> None:
        """A bar is never longer than its room."""
        assert "width:100.0%" in track(1.7, "red")
        assert "left:25.0%;width:25.0%" in track(0.25, "red", left=0.25, middle=True)


class TestSections:
    def test_a_section(self) -> None:
        """A section is called by its title unless it gets a name; a lead stands first."""
        found = section("Who loses, who gains", card("Title", "text"), lead="first")
        assert found.name == "who-loses-who-gains"
        assert found.body.index("first") < found.body.index("text")
        assert section("x", name="y").name == "y"

    def test_text_is_escaped(self) -> None:
        """Plain text is escaped wherever it is put."""
        parts = (card("<", "<"), bullets(["<"]), folded("<", "<"), facts(html("<")), dot("red"))
        assert all(">&lt;<" in part for part in parts[:4])
