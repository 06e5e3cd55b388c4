"""``kubeclassic import``: traces as manifests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from ..questions.importing.options import TRACES
from .declaring.commands import CommandGroup
from .declaring.flags import FileName, Output, output_options, with_options

CSV = FileName(allow_dash=False)


@click.group("import", cls=CommandGroup, short_help="Turn a published trace into manifests.")
def importing() -> None:
    """Turn a published trace into manifests, for simulate, replay and the others.

    Times of the trace are annotations of the manifests, which replay reads. What a trace does not have, such
    as nodes, is given beside the manifests. A line on standard error says what has no place in manifests and
    was dropped.
    """


def _trace(name: str, short_help: str, arguments: Mapping[str, str], text: str, *options: Any) -> None:
    """The command for a trace, with the metavars of its *arguments*, its help and *options*."""

    def reading(output: Output, **values: Any) -> None:
        from ..questions.importing.ask import ask
        from .answering import answer, write_yaml
        from .console.output import note
        from .console.progress import telling

        first_path, *_ = paths = [
            values[argument] for argument in (*arguments, "columns") if argument in values
        ]
        with telling("reading", str(first_path)):
            result = ask(name, *paths)

        def line(item: Any) -> str:
            return json.dumps(item, separators=(",", ":")) + "\n"

        answer(
            result,
            output,
            forms={
                "json": lambda stream: stream.write(line(result.manifest)),
                "jsonl": lambda stream: stream.writelines(map(line, result.manifest["items"])),
                "yaml": lambda stream: write_yaml(result.manifest, stream),
            },
        )
        for text in result.asides(output.form):
            note(text)

    written = output_options(
        "json,jsonl,yaml",
        "json, yaml: a List; jsonl: an object a line.",
        default="json",
        what="the manifests",
        verbose=None,
    )
    layers = [click.argument(argument, metavar=metavar, type=CSV) for argument, metavar in arguments.items()]
    command = with_options([*layers, *options, written])(reading)
    importing.command(name, short_help=short_help, help=text)(command)


MAP = click.option("--map", "columns", type=CSV, required=True, metavar="FILE", help="Which column is what.")
for trace, (short, files, help_text) in TRACES.items():
    _trace(trace, short, files, help_text, *([MAP] if trace == "csv" else []))
