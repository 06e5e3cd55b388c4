"""A long list of a page, as people use it, and as its data says that it is."""

import csv

ORDER = "id => { const table = kubeclassic.tables[id], column = table.state.sort.column; return table.rows.map((row) => column.at(row)); }"


class DataTable:
    """The list in the *at*-th place of *page*."""

    def __init__(self, page, at=0):
        self.page = page
        self.root = page.locator("[data-part=table]").nth(at)
        self.name = self.root.get_attribute("id") or ""
        self.data = page.evaluate("id => kubeclassic.tables[id].data", self.name)
        self.rows = self.root.locator("tbody tr.row")
        self.search = self.root.get_by_role("searchbox")
        self.heads = self.root.locator("thead th")
        self.clear = self.root.get_by_role("button", name="Show all")

    def reset(self):
        """Take back what was asked for, and close all rows."""
        if self.clear.is_enabled():
            self.clear.click()
        for opener in self.root.locator(".opener[aria-expanded=true]").all():
            opener.click()

    @property
    def count(self):
        """The number of rows."""
        return self.data["count"]

    @property
    def matching(self):
        """The number of rows shown, as the table states it."""
        words = self.root.locator(".count").inner_text().replace(",", "").split()
        assert len(words) < 3 or words[1] != "of" or int(words[2]) == self.count
        return int(words[0])

    def sort(self, at, *, by_key=False):
        """Press the header of a column; which way it says that it is sorted, and the values in their order,
        with nothing last."""
        button = self.heads.nth(at).get_by_role("button")
        button.press("Enter") if by_key else button.click()
        return self.heads.nth(at).get_attribute("aria-sort"), self.page.evaluate(ORDER, self.name)

    def saved(self, folder):
        """The content of its CSV file."""
        with self.page.expect_download() as download:
            self.root.get_by_role("button", name="Save as CSV").click()
        file = folder / "saved.csv"
        download.value.save_as(file)
        with file.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    def link(self):
        """The address that holds what is asked for."""
        return self.root.locator("a.link").evaluate("link => link.href")


def fresh_tables_of(page):
    """The tables of :func:`tables_of` in their initial state."""
    found = tables_of(page)
    for table in found:
        table.reset()
    return found


def tables_of(page):
    """All long lists of *page* that have a row."""
    found = [DataTable(page, at) for at in range(page.locator("[data-part=table]").count())]
    return [table for table in found if table.count]
