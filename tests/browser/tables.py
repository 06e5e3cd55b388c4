"""A long list of a page, as people use it, and as its data says that it is."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ORDER = "id => { const table = kubeclassic.tables[id], column = table.state.sort.column; return table.rows.map((row) => column.at(row)); }"


class DataTable:
    """The list in the *at*-th place of *page*."""

    def __init__(self, page: Page, at: int = 0) -> None:
        self.page = page
        self.root: Locator = page.locator("[data-part=table]").nth(at)
        self.name: str = self.root.get_attribute("id") or ""
        self.data: dict[str, Any] = page.evaluate("id => kubeclassic.tables[id].data", self.name)
        self.rows: Locator = self.root.locator("tbody tr.row")
        self.search: Locator = self.root.get_by_role("searchbox")
        self.heads: Locator = self.root.locator("thead th")
        self.clear: Locator = self.root.get_by_role("button", name="Show all")

    def reset(self) -> None:
        """Take back what was asked for, and close all rows."""
        if self.clear.is_enabled():
            self.clear.click()
        for opener in self.root.locator(".opener[aria-expanded=true]").all():
            opener.click()

    @property
    def count(self) -> int:
        """How many rows are in it."""
        found: int = self.data["count"]
        return found

    @property
    def matching(self) -> int:
        """How many rows are shown, as it says itself."""
        words = self.root.locator(".count").inner_text().replace(",", "").split()
        assert len(words) < 3 or words[1] != "of" or int(words[2]) == self.count
        return int(words[0])

    def sort(self, at: int, *, by_key: bool = False) -> tuple[str | None, list[Any]]:
        """Press the header of a column; which way it says that it is sorted, and the values in their order,
        with nothing last."""
        button = self.heads.nth(at).get_by_role("button")
        button.press("Enter") if by_key else button.click()
        return self.heads.nth(at).get_attribute("aria-sort"), self.page.evaluate(ORDER, self.name)

    def saved(self, folder: Path) -> list[dict[str, str]]:
        """What its CSV file holds."""
        with self.page.expect_download() as download:
            self.root.get_by_role("button", name="Save as CSV").click()
        file = folder / "saved.csv"
        download.value.save_as(file)
        with file.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    def link(self) -> str:
        """The address that holds what is asked for."""
        found: str = self.root.locator("a.link").evaluate("link => link.href")
        return found


def fresh_tables_of(page: Page) -> list[DataTable]:
    """As :func:`tables_of`, as they are at first."""
    found = tables_of(page)
    for table in found:
        table.reset()
    return found


def tables_of(page: Page) -> list[DataTable]:
    """All long lists of *page* that have a row."""
    found = [DataTable(page, at) for at in range(page.locator("[data-part=table]").count())]
    return [table for table in found if table.count]
