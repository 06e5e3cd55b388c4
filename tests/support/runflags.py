"""The settings that ``kubeclassic run`` reads from a container's arguments."""

from pathlib import Path

from kubeclassic.live.scheduler.flags import read_settings
from kubeclassic.live.settings.flagtable import FLAGS


def settings_of(arguments):
    """The settings from arguments such as ``--port=1``; options of every scheduler are left out, except
    ``--config``."""
    given = dict(argument.removeprefix("--").split("=", 1) for argument in arguments)
    names = {flag.other_name: flag.name for flag in FLAGS.values()}
    flags = {names.get(name, name): value for name, value in given.items() if names.get(name, name) in FLAGS}
    config = given.get("config")
    return read_settings(flags, None if config is None else Path(config))
