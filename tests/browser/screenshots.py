"""Pictures of all pages, for people to look at: narrow and wide, light and dark, and on paper.

    python tests/browser/screenshots.py DIR [NAME...]

Writes ``NAME-360-light.png``, ``NAME-1400-dark.png`` and so on, and ``NAME.pdf``, of each page or of those
named; the larger data is where ``KUBECLASSIC_SHARED`` says.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import conftest  # makes the package and its helpers importable
from tests.browser.chromium import Chromium
from tests.browser.rendering import ALL, Workshop

WIDTHS = (360, 1400)
SCHEMES = ("light", "dark")
TALLEST = 6000
"""Pixels of a page that a picture shows at most."""


def main(folder, names):
    """Write pictures of all subjects, or of those named."""
    folder.mkdir(parents=True, exist_ok=True)
    there = [subject for subject in ALL if conftest.SHARED.is_dir() or not subject.needs_shared]
    wanted = [subject for subject in there if not names or subject.name in names]
    files = {subject: Workshop(folder).page(subject, conftest.SHARED) for subject in wanted}
    chromium = Chromium()
    for subject, file in files.items():
        with chromium.in_use() as visits:
            _take(subject, file, visits, folder)
            sys.stderr.write("".join(f"{subject}: {fault}\n" for fault in visits.faults))
    chromium.stop()


def _take(subject, file, visits, folder):
    for scheme in SCHEMES:
        for width in WIDTHS:
            page = visits(file.as_uri(), color_scheme=scheme, viewport={"width": width, "height": 900})
            height = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
            clip = {"x": 0, "y": 0, "width": width, "height": height}
            page.screenshot(path=folder / f"{subject.name}-{width}-{scheme}.png", full_page=True, clip=clip)
    page.pdf(path=folder / f"{subject.name}.pdf", prefer_css_page_size=True, format="A4")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
