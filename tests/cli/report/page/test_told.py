"""What holds a page's numbers to the record: it accepts what is right, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.view import Column, Table
from kubeclassic.cli.report.page.markup import Markup, named, sentence, told
from kubeclassic.cli.report.page.parts import fact, plain_table
from kubeclassic.cli.report.page.tables import list_html
from tests.support.pages import assert_told, bare_numbers, numbers_of_page, says, table_of_page, value_at

RECORD = {"placed": 8152, "left": [1, 2, 3], "use": {"nvidia.com/gpu": 0.6081}, "cpu": 1500, "why": None}


class TestSays:
    @pytest.mark.parametrize(
        ("right", "wrong", "value", "unit"),
        [
            ("8,152", "8,153", 8152, ""), ("60.8 %", "60.9 %", 0.6081, ""), ("60.8 %", "60.8", 0.6081, ""), ("1.5", "1.6", 1500, "milli"),
            ("8.0 TiB", "8.0", 8 * 2**40, ""), ("none", "0", None, ""), ("a1", "a2", "a1", ""), ("8", "8 pods", 8, ""),
        ],
    )  # fmt: skip
    def test_a_text(self, right: str, wrong: str, value: Any, unit: str) -> None:
        """A text says its value in the digits and the unit that it has; another number, another unit, or one for nothing is wrong."""
        assert (says(right, value, unit), says(wrong, value, unit)) == (True, False)

    def test_a_unit_of_the_test(self) -> None:
        """A test can say how the values of a unit are written."""
        assert says("1 min", 60, "duration", {"duration": lambda value: f"{value // 60} min"})


class TestPlaces:
    def test_paths(self) -> None:
        """A path leads through names, places, lengths and names with dots, and sums are sums."""
        assert value_at(RECORD, "left.1") == 2
        assert value_at(RECORD, "use.nvidia%2Ecom/gpu") == 0.6081
        assert value_at(RECORD, "placed - left.length + left.0") == 8150

    def test_marks(self) -> None:
        """Each mark of a page is found, with its text."""
        (mark,) = numbers_of_page(fact(told("placed", "8,152"), "placed"))
        assert (mark.path, mark.text) == ("placed", "8,152")

    def test_a_wrong_number_fails(self) -> None:
        """A page that says another number than its record does not pass."""
        assert_told(fact(told("placed", "8,152"), "placed"), RECORD)
        with pytest.raises(AssertionError):
            assert_told(fact(told("placed", "8,151"), "placed"), RECORD)


class TestBare:
    def test_numbers_without_a_mark(self) -> None:
        """A number in a fact or in a cell needs a mark; names, headings of rows and long tables have none."""
        assert bare_numbers(fact("9", sentence("of ", named("pod-1")))) == ["9"]
        assert bare_numbers(plain_table(["rule", "pods"], [["EvenPods2", 3], ["b", Markup(told("cpu", "1,500"))]])) == ["3"]
        table = Table("pods", (Column("pod", "name"), Column("cpu", "cores")), [["a", 1500], ["a", 2000], ["a", None]])
        assert bare_numbers(list_html(table)) == []
        assert table_of_page(list_html(table), "pods") == [{"pod": "a", "cpu": 1500}, {"pod": "a", "cpu": 2000}, {"pod": "a", "cpu": None}]
