"""Pages on paper: how many sheets, how full each is, and what stands last on it."""

from io import BytesIO
from unicodedata import normalize

import attrs


@attrs.define
class Sheet:
    """One sheet of paper."""

    height: float
    text: str = ""
    """All of it, without white space and ligatures."""
    lines: list = attrs.field(factory=list)
    """Distance from the foot, size and text of each piece, as they come."""

    @property
    def fill(self):
        """The part of the sheet's height that text fills: 1 is the foot."""
        return 1 - min(at for at, _, _ in self.lines) / self.height

    @property
    def last(self):
        """Size and text of the lowest line."""
        lowest = min(at for at, _, _ in self.lines)
        line = [(size, text) for at, size, text in self.lines if at - lowest < 1]
        return max(size for size, _ in line), "".join(text for _, text in line)


def sheets_of(page):
    """*page* printed on A4."""
    from pypdf import PdfReader

    found = []
    for paper in PdfReader(BytesIO(page.pdf(format="A4", prefer_css_page_size=True))).pages:
        sheet = Sheet(float(paper.mediabox.height))

        def note(text, current, matrix, font, size, sheet=sheet):
            if text.strip():
                scale = abs(current[3] * matrix[3]) or 1.0
                sheet.lines.append((current[3] * matrix[5] + current[5], size * scale, text))

        sheet.text = "".join(normalize("NFKC", paper.extract_text(visitor_text=note)).split())
        found.append(sheet)
    return found
