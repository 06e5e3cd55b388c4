"""The code blocks of a documentation page, and their kinds.

The word after the three backticks is the kind of a block; ``title="FILE"`` names a file for the commands of
the page.
"""

import re

import attrs

KINDS = {
    "console": "commands and what they print, run by a test",
    "python": "Python, with or without prompts, run by a test",
    "yaml": "a file, read by the reader that it is for",
    "sh": "commands that need more than the examples; what they name is checked, and those of live clusters are run by tests of their own",
    "text": "a picture of output, a formula, a way to call a command",
    "json": "a document as it is",
}
_FENCE = re.compile(r"^```(.*)$")
_TITLE = re.compile(r'title="([^"]+)"')


@attrs.frozen
class Block:
    """A code block: its kind, its file name, if any, and its text."""

    kind: str
    title: str
    text: str


def blocks_of(page):
    """The code blocks of *page*, in order."""
    head = None
    lines = []
    for line in page.splitlines():
        fence = _FENCE.match(line)
        if fence is None:
            lines.append(line)
        elif head is None:
            head = fence[1]
            lines = []
        else:
            title = _TITLE.search(head)
            yield Block(
                head.partition(" ")[0], title[1] if title else "", "".join(f"{line}\n" for line in lines)
            )
            head = None


def files_of(page):
    """File name -> text, for the blocks of *page* that are files of their own."""
    return {block.title: block.text for block in blocks_of(page) if block.title and "/" not in block.title}


def commands_of(page):
    """The lines of the ``sh`` blocks of *page*; lines continued by a backslash are joined."""
    texts = (block.text.replace("\\\n", "") for block in blocks_of(page) if block.kind == "sh")
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]
