"""The command reference, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
from making.markdown import block, escaped, table

from kubeclassic.cli import COMMANDS, cli
from kubeclassic.cli.declaring.commands import FIRST, LAST, OTHER, SECTIONS

FOLDER = "reference/commands"


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of the list of commands and of the page of each."""
    rows = [[f"[kubeclassic {name}]({name}.md)", place.short_help] for name, place in COMMANDS.items()]
    about = _help(cli)
    yield f"{FOLDER}/index.md", f"# Commands\n\n{about}\n\n{table(['command', 'what it answers'], rows)}"
    for name in COMMANDS:
        yield f"{FOLDER}/{name}.md", "\n\n".join(_told(cli.commands[name], f"kubeclassic {name}", 1)) + "\n"


def _told(command: click.Command, path: str, level: int) -> Iterator[str]:
    """What a command is for, how it is called, its options by section, and the commands in it."""
    context = click.Context(command, info_name=path)
    yield f"{'#' * level} {path}"
    yield block(f"{path} {' '.join(command.collect_usage_pieces(context))}").rstrip()
    yield _help(command)
    sections = _sections(command, context)
    for section in [
        name
        for name in (*FIRST, *(name for name in sections if name not in FIRST + LAST), *LAST)
        if name in sections
    ]:
        yield f"**{section}**"
        yield table(["option", "what it does"], sections[section]).rstrip()
    for name, inner in _inner(command):
        yield from _told(inner, f"{path} {name}", level + 1)


def _inner(command: click.Command) -> list[tuple[str, click.Command]]:
    return list(command.commands.items()) if isinstance(command, click.Group) else []


def _sections(command: click.Command, context: click.Context) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None and isinstance(option, click.Option):
            section = next((SECTIONS[name] for name in option.opts if name in SECTIONS), OTHER)
            found.setdefault(section, []).append([f"`{record[0]}`", escaped(record[1])])
    return found


def _help(command: click.Command) -> str:
    r"""The help text as Markdown: a paragraph after ``\b`` is kept as it is."""
    text = inspect.cleandoc((command.help or "").partition("\f")[0])
    paragraphs = re.split(r"\n[ \t]*\n", text)
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(text: str) -> str:
    if not text.startswith("\b"):
        return re.sub(r"(?<!`)<([^>]+)>", r"\\<\1>", text)
    return block(text.removeprefix("\b").strip("\n"), "text").rstrip()
