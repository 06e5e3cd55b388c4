"""``kubeclassic schema``: what the JSON of the commands holds, as JSON Schemas."""

from __future__ import annotations

from pathlib import Path

import click

from ..exceptions import UnknownNameError, did_you_mean
from .declaring.commands import command

FOLDER = Path(__file__).parent / "schemas"
ENDING = ".json"


def names() -> list[str]:
    """What there are schemas of, sorted."""
    return sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))


def text_of(name: str) -> str:
    """The schema of that *name* as JSON. Raises :class:`~kubeclassic.exceptions.UnknownNameError` if there is none."""
    known = names()
    if name not in known:
        raise UnknownNameError(f'schema: got "{name}", wanted one of {", ".join(known)}{did_you_mean(name, known)}')
    return (FOLDER / f"{name}{ENDING}").read_text(encoding="utf-8")


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


@command(short_help="What the JSON of the commands holds.")
@click.argument("name", required=False, shell_complete=_completed)
def schema(name: str | None) -> None:
    """Print the JSON Schema (draft 2020-12) of NAME, or list the names.

    NAME is a command, such as simulate, whose `-o json` the schema describes. A name that ends in -line is that of one line of JSON Lines.
    The last part of a schema's $id is its version, which documents have as apiVersion. It changes when a field goes or changes its
    meaning; fields may be added.

    \b
    kubeclassic schema simulate
    """
    click.echo("\n".join(names()) if name is None else text_of(name).rstrip("\n"))
