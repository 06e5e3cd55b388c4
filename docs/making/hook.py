"""The hook of mkdocs: adds the pages that are made, and the navigation. ``mkdocs.yml`` names this file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]


def _make_importable() -> None:
    """Let the package be imported from a bare checkout too, and the makers of the pages as ``making``."""
    if importlib.util.find_spec("kubeclassic") is None:
        spec = importlib.util.spec_from_file_location(
            "kubeclassic", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules["kubeclassic"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    if str(ROOT / "docs") not in sys.path:
        sys.path.insert(0, str(ROOT / "docs"))


_make_importable()

from making import parts  # noqa: E402
from making.navigation import navigation  # noqa: E402
from making.site import pages  # noqa: E402


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are no files, and set the navigation of all."""
    for path, text in pages().items():
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, content=text))
    files.append(File.generated(config, parts.PATH, content=parts.page()))
    config.nav = navigation(list(pages()))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with links that fit."""
    return pages().get(page.file.src_uri, markdown)
