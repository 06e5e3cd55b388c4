"""Long lists: what stands in the HTML, and what the script reads."""

import re

import attrs

from kubeclassic.api.view import KINDS, NUMBERS, Column, Table
from kubeclassic.cli.report.page.document import FIRST, PACKED
from tests.support.pages import data_of_page, part_html, table_of_page

COLUMNS = (
    Column("pod", "name"),
    Column("where", "tag", filter=True, colours={"placed": "red"}),
    Column("nodes", "names"),
    Column("cpu", "cores"),
    Column("size", "bytes"),
    Column("use", "share"),
    Column("took", "seconds"),
    Column("r", "decimal"),
    Column("n", "count"),
    Column("why"),
)


def table(count):
    """A table of *count* rows."""
    rows = [
        [f"p{at}", "placed", ["a", "b"], 1500, 2**31, 0.5, 1.25, 0.1234, 1523, "</script>"]
        for at in range(count)
    ]
    return Table("pods", COLUMNS, rows, noun="pod")


# --- Html ---------------------------------------------------------------------------------------------------


def test_first_rows():
    """The first rows stand in the HTML, and a line says of how many."""
    html = part_html(table(FIRST + 1002))
    assert html.count("<tr>") == FIRST + 1
    assert f"The first {FIRST} of 1,052 pods" in html
    assert f"The first {FIRST}" not in part_html(table(FIRST))


def test_values():
    """Each kind of value is written for people; names, tags and what is missing, too."""
    html = part_html(table(1))
    cells = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", html)]
    wanted = [
        "p0",
        "placed",
        "a, b",
        "1.5",
        "2.0 GiB",
        "50.0 %",
        "1.2 s",
        "0.123",
        "1,523",
        "&lt;/script&gt;",
    ]
    assert cells == wanted
    assert "--k:red" in html
    empty = part_html(Table("t", (Column("a"), Column("b", "share")), [[None, None]]))
    assert re.findall(r">-<", empty) == [">-<", ">-<"]


def test_it_fits_a_telephone():
    """Each cell says of what it is, as on narrow screens a row is a list."""
    assert set(re.findall(r'data-label="([^"]*)"', part_html(table(1)))) == {
        column.title for column in COLUMNS
    }


def test_kinds_that_are_numbers():
    """Numbers are aligned at their right, and no other kind."""
    assert [kind for kind in KINDS if Column("c", kind).is_number] == list(NUMBERS)


def test_short_tables():
    """A short table has no search; the first text names its row, and with more than three columns a telephone
    shows lists."""
    html = part_html(attrs.evolve(table(1), noun="row"))
    assert re.findall(r'<th scope="row">(.*?)</th>', html) == ['<span class="name whole">p0</span>']
    assert 'class="stacks"' in html
    assert "data-part" not in html
    assert "stacks" not in part_html(Table("t", (Column("a"), Column("b")), [["x", "<"]]))


# --- Data ---------------------------------------------------------------------------------------------------


def test_all_rows():
    """The data has every row with plain values; no text in it can end the script."""
    found = table_of_page(part_html(table(120)), "pods")
    assert len(found) == 120
    assert found[7] == {
        "pod": "p7",
        "where": "placed",
        "nodes": ["a", "b"],
        "cpu": 1500,
        "size": 2**31,
        "use": 0.5,
        "took": 1.25,
        "r": 0.1234,
        "n": 1523,
        "why": "</script>",
    }
    assert "</script>" not in part_html(table(3)).split('type="application/json"')[1].split("</script>")[0]


def test_long_data_is_packed():
    """Long data is packed, and unpacks to the same."""
    html = part_html(table(3000))
    assert len(html) < PACKED
    assert len(table_of_page(html, "pods")) == 3000


def test_texts_that_come_again_stand_once():
    """A text of many rows stands in the data once."""
    html = part_html(Table("t", (Column("why"),), [["a rather long reason"]] * 40, noun="pod"))
    assert html.split("<script")[1].count("a rather long reason") == 1


def test_details():
    """Details stand for each row; a table that needs another script for them says so."""
    data = data_of_page(part_html(attrs.evolve(table(2), details=[[["why", "so"]], None])))["pods-data"]
    assert (data["details"], data["shows"]) == ([[["why", "so"]], None], "facts")
    html = part_html(attrs.evolve(table(1), details=[None], shows="aligned", shared={"texts": []}))
    assert 'data-part="aligned"' in html
    assert data_of_page(html)["pods-data"]["shared"] == {"texts": []}
