"""``kubeclassic completion``: the script that completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .declaring.commands import command


@command(short_help="Print the script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    kubeclassic completion bash > ~/.local/share/bash-completion/completions/kubeclassic
    kubeclassic completion fish > ~/.config/fish/completions/kubeclassic.fish
    """
    completer = get_completion_class(shell)
    if completer is None:
        raise click.BadParameter(f"got {shell}, which click cannot complete")
    click.echo(completer(context.find_root().command, {}, "kubeclassic", "_KUBECLASSIC_COMPLETE").source())
