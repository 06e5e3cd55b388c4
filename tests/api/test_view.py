"""Results as plain values: views, tables and sentences."""

import pytest

from kubeclassic.api.view import (
    MOST_ROWS,
    Amount,
    CodeText,
    Column,
    Table,
    View,
    Words,
    shortened,
    table_of,
    tables,
)
from kubeclassic.exceptions import UnknownNameError


def test_everything_is_escaped():
    """Titles, facts, headers and cells cannot bring HTML of their own."""
    text = View(title="<a>", facts={"<b>": "<c>"}, sections=tables(table_of("t", [{"<d>": "<e>"}]))).html()
    assert [f"&lt;{name}&gt;" in text for name in "abcde"] == [True] * 5
    assert "<a>" not in text
    assert "<e>" not in text


def test_long_tables_are_cut():
    """A long table shows its first rows and counts the others."""
    text = View(
        title="t", sections=tables(table_of("t", [{"n": number} for number in range(MOST_ROWS + 1_000)]))
    ).html()
    assert text.count("<tr>") == MOST_ROWS + 1
    assert "and 1,000 more" in text


def test_texts_are_shortened():
    """A long text becomes one short line; a short one stays."""
    assert shortened("a\nb") == "a b"
    assert shortened("x" * 50, 10) == "x" * 9 + "…"


def test_a_column_is_where_its_forms_say():
    """Each form of a table has its columns, under the names that data and CSV have for them."""
    columns = (Column("a", forms="page"), Column("b", field="bee"), Column("c", csv="sea", forms="csv"))
    table = Table("t", columns, [[1, Amount("cpu", 1500), 3]])
    assert [column.title for column in table.of_form("page").columns] == ["a", "b"]
    assert table.records() == [{"bee": 1500}]
    assert table.records("csv") == [{"bee": 1500, "sea": 3}]


def test_data_begins_with_the_main_table():
    """Text keeps the order of tables; data has the main one first, and knows no other names."""
    both = tables(*(Table(name, [], []) for name in "ab"))
    view = View(title="v", sections=both, main="b")
    assert [table.name for table in view.tables_of("table")] == ["a", "b"]
    assert [table.name for table in view.tables_of("data")] == ["b", "a"]
    with pytest.raises(UnknownNameError, match='table: expected b or a, got "c"'):
        view.frame("c")


def test_a_sentence_reads_as_text():
    """Code in a sentence is plain text there."""
    assert str(Words("Try ", Words(CodeText("--set"), " once"), ".")) == "Try --set once."
