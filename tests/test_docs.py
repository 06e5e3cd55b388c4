"""The console examples of the documentation run, and print what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.consoleblocks import WIDTH, examples_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = {page.relative_to(ROOT / "docs").as_posix(): list(examples_of(page.read_text(encoding="utf-8"))) for page in sorted((ROOT / "docs").glob("**/*.md"))}


@pytest.mark.parametrize("page", [name for name, examples in PAGES.items() if examples])
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of a page, one after the other, ends with 0 or 1 and prints what the page says."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    for example in PAGES[page]:
        status, text = example.run()
        assert status in (0, 1), (example.command, text)
        assert example.fits(text), (example.command, text)


def test_there_are_examples() -> None:
    """The pages about questions have examples."""
    assert all(PAGES[page] for page in ("guides/edits.md", "guides/sweep.md", "guides/traces.md"))
