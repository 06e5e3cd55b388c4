"""Tables of every page: no short name and no word is broken, and no list has the rows of another."""

from itertools import combinations

import pytest

from tests.browser.rendering import EXAMPLES
from tests.browser.tables import tables_of

WIDTHS = (1000, 1400)
BROKEN = """() => {
  const found = [];
  for (const cell of document.querySelectorAll("td, th, h1, .who li, .tile .head")) {
    if (cell.closest(".matrix thead, code")) continue;
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement.checkVisibility() || node.parentElement.closest("code")) continue;
      const pieces = node.parentElement.closest("td .whole, th .whole, .who .whole") ? /\\S+/g : /[^\\s\\/=:.-]+/g;
      for (const match of node.data.matchAll(pieces)) {
        if (match[0].length > 36) continue;
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        const tops = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
        if (tops.size > 1) found.push(match[0]);
      }
    }
  }
  return found;
}"""
"""Words that stand on two lines; the parts of long names between their signs are words."""

every = pytest.mark.parametrize("subject", EXAMPLES, ids=str, scope="module")


@every
def test_no_word_is_broken(subject, page_file, visit):
    """On a desk each word of a table, of the headline and of who loses stands on one line, and so does each
    short name."""
    page = visit.look(page_file.as_uri())
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = page.evaluate(BROKEN)
    assert found == {width: [] for width in WIDTHS}


@every
def test_no_list_twice(subject, page_file, visit):
    """No two lists of a page are of the same pods or nodes in the same order with nothing to tell apart."""
    lists = {
        table.data["noun"]: list(_columns(table.data)) for table in tables_of(visit.look(page_file.as_uri()))
    }
    for (one, first), (other, second) in combinations(lists.items(), 2):
        shared = [column for column in first if column in second and len(set(map(str, column))) > 1]
        assert len(shared) < min(len(first), len(second)) / 2, f"{one} and {other}"


def _columns(data):
    return [
        [column["texts"][at] for at in column["values"]] if "texts" in column else column["values"]
        for column in data["columns"]
    ]
