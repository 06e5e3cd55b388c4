"""The few shapes that the pictures are made of, as SVG text. The ground is light, so that they read well on dark pages too."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

INK, DIM, LINE, FAINT, PAPER = "#1f2328", "#59636e", "#8c959f", "#e7eaed", "#ffffff"
BEST, WARN = "#1a7f37", "#b3261e"
PALETTE = ("#3b5bdb", "#e8890c", "#2f9e8f", "#9c36b5", "#c2255c", "#5c940d", "#0b7285", "#868e96")
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"


def document(width: int, height: int, title: str, about: str, parts: Iterable[str]) -> str:
    """A whole picture, *width* by *height*, with a title and a description for screen readers."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
    lines = [f'{head} aria-labelledby="title about" font-family="{FONT}">']
    lines += [
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="about">{escape(about)}</desc>',
        MARKER,
    ]
    lines += [f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>', *parts, "</svg>"]
    return "\n".join(lines) + "\n"


MARKER = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    f'<path d="M0 0 L8 4 L0 8 z" fill="{DIM}"/></marker></defs>'
)


def number(value: float) -> str:
    """A length with one digit after the point at most."""
    return f"{round(value, 1):g}"


def rectangle(left: float, top: float, width: float, height: float, fill: str, *, line: str = "none") -> str:
    """A filled rectangle."""
    place = f'x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}"'
    return f'<rect {place} rx="2" fill="{fill}" stroke="{line}"/>'


def box(left: float, top: float, width: float, height: float, label: str, line: str) -> str:
    """A frame with a label in its middle."""
    place = f'x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}"'
    frame = f'<rect {place} rx="6" fill="{PAPER}" stroke="{line}" stroke-width="1.5"/>'
    return frame + (
        text(left + width / 2, top + height / 2 + 5, label, size=14, bold=True, middle=True) if label else ""
    )


def text(
    left: float,
    base: float,
    words: str,
    *,
    size: int,
    colour: str = INK,
    bold: bool = False,
    middle: bool = False,
    end: bool = False,
) -> str:
    """A line of text on the line *base*, from *left* on, or with its middle or its end there."""
    anchor = "middle" if middle else "end" if end else "start"
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{number(left)}" y="{number(base)}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}"{weight}>{escape(words)}</text>'


def arrow(left: float, top: float, right: float, bottom: float) -> str:
    """An arrow from one point to another."""
    place = f'x1="{number(left)}" y1="{number(top)}" x2="{number(right)}" y2="{number(bottom)}"'
    return f'<line {place} stroke="{DIM}" stroke-width="1.5" marker-end="url(#head)"/>'
