"""Pages of the example cluster on paper: everything is there, and nothing is squeezed."""

import pytest

from tests.browser.looking import printed
from tests.browser.rendering import EXAMPLES
from tests.browser.tables import tables_of

LIKE_ANOTHER = ("migrate", "explain-nowhere", "explain-node", "new-nodes")
"""Pages whose lists and parts are those of another page."""


@pytest.mark.parametrize(
    "subject", [one for one in EXAMPLES if one.name not in LIKE_ANOTHER], ids=str, scope="module"
)
def test_all_rows_are_printed(subject, page_file, visit):
    """On paper each long list has all its rows, and the verdict stands first."""
    page = visit.look(page_file.as_uri())
    heading = "".join(page.locator("h1").inner_text().split())
    names = [["".join(name.split()) for name in _names(table.data)] for table in tables_of(page)]
    text = printed(page)
    assert heading in text[: 400 + len(heading)]
    for rows in names:
        assert [name for name in rows if name not in text] == []


def _names(data):
    column = next((column for column in data["columns"] if column["kind"] == "name"), data["columns"][0])
    values = [column["texts"][value] if "texts" in column else value for value in column["values"]]
    return [str(value) for value in values if value is not None]
