"""The long lists of every page: sorted, searched, filtered, opened, saved, and kept in a link; by mouse and
by keyboard."""

import pytest

from tests.browser.rendering import ALL, EXAMPLES
from tests.browser.tables import fresh_tables_of, tables_of

WITH_TABLES = [subject for subject in ALL if "table" in subject.parts]
SMALL_WITH_TABLES = [subject for subject in EXAMPLES if "table" in subject.parts]
FEW = 2
"""The number of columns that are sorted on large pages."""
large_and_small = pytest.mark.parametrize("subject", WITH_TABLES, ids=str, scope="module")
small = pytest.mark.parametrize("subject", SMALL_WITH_TABLES, ids=str, scope="module")
few = pytest.mark.parametrize("subject", SMALL_WITH_TABLES[::3], ids=str, scope="module")
"""For what one script does to all tables, and opens a page more for each."""


@large_and_small
def test_they_are_found(subject, page_file, visit):
    """A search leaves the rows that have the word, says how many they are, and can be taken back."""
    for table in fresh_tables_of(visit.look(page_file.as_uri())):
        word = table.rows.first.locator("td").first.inner_text().replace("+", "").split()[0]
        table.search.fill(word)
        assert 1 <= table.matching <= table.count
        assert all(word.lower() in text.lower() for text in table.rows.all_inner_texts())
        table.search.fill("no-such-word-anywhere")
        assert (table.matching, table.rows.count()) == (0, 0)
        table.clear.press("Enter")
        assert (table.matching, table.search.input_value()) == (table.count, "")


@large_and_small
def test_they_are_sorted(subject, page_file, visit):
    """The header of each column sorts by it, first by mouse and then, the other way, by keyboard; where there
    is no value comes last."""
    for table in fresh_tables_of(visit.look(page_file.as_uri())):
        for at, column in list(enumerate(table.data["columns"]))[: FEW if subject.needs_shared else None]:
            ways = dict([table.sort(at), table.sort(at, by_key=True)])
            assert set(ways) == {"ascending", "descending"}, column["title"]
            for way, values in ways.items():
                assert _is_sorted(values, way == "descending"), (table.name, column["title"], way)


def _is_sorted(values, down):
    """Whether numbers are in order; of texts, whose order is that of people, only that equal ones stand
    together and nothing is last."""
    there = [value for value in values if value not in (None, "", [])]
    if values[: len(there)] != there:
        return False
    if all(isinstance(value, int | float) for value in there):
        return there == sorted(there, reverse=down)
    texts = [str(value) for value in there]
    groups = [text for at, text in enumerate(texts) if at == 0 or text != texts[at - 1]]
    return len(groups) == len(set(groups))


@small
def test_they_are_filtered(subject, page_file, visit):
    """Each choice of each filter leaves as many rows as it says."""
    for table in fresh_tables_of(visit.look(page_file.as_uri())):
        for select in table.root.locator(".bar select").all():
            for choice in select.locator("option").all_inner_texts()[1:]:
                select.select_option(label=choice)
                assert table.matching == int(choice.rpartition("(")[2].rstrip(")").replace(",", "")), choice
            table.clear.click()
            assert select.input_value() == ""


@small
def test_rows_open(subject, page_file, visit):
    """Details come and go with a click on a row, and with the keyboard."""
    for table in fresh_tables_of(visit.look(page_file.as_uri())):
        if any(table.data.get("details") or ()):
            _open_and_close(table)


def _open_and_close(table):
    opener = table.root.locator(".opener").first
    more = table.root.locator("tr.more")
    table.root.locator("tr.can td").nth(1).click()
    assert opener.get_attribute("aria-expanded") == "true"
    assert more.inner_text().strip()
    opener.press("Enter")
    assert (opener.get_attribute("aria-expanded"), more.count()) == ("false", 0)
    opener.press(" ")
    assert more.count() == 1


@few
def test_a_link_holds_the_state(subject, page_file, visit, tmp_path):
    """Search and order are in the link; who opens it sees the same rows, and CSV has them all, in that
    order."""
    for table in fresh_tables_of(visit.look(page_file.as_uri()))[:2]:
        table.search.fill(table.rows.first.locator("td").first.inner_text().replace("+", "").split()[0][:3])
        table.sort(0)
        other = next(found for found in tables_of(visit(table.link())) if found.name == table.name)
        assert other.matching == table.matching
        assert other.rows.first.inner_text() == table.rows.first.inner_text()
        saved = other.saved(tmp_path)
        assert len(saved) == table.matching
        assert list(saved[0]) == [column["title"] for column in table.data["columns"]]
