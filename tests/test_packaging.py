"""setup.cfg says what there is to install."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path


def test_every_package_is_installed(root: Path) -> None:
    """The packages in setup.cfg are the project's folders with an ``__init__.py``, tests apart."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    folders = {path.parent.relative_to(root) for path in root.rglob("__init__.py")}
    ours = {folder for folder in folders if not {"tests", "build", ".venv"} & set(folder.parts)}
    assert listed == {".".join(("kubeclassic", *folder.parts)) for folder in ours}


def test_nothing_but_requirements_is_imported(root: Path) -> None:
    """The core reads only numpy, attrs and PyYAML; the command line adds click and rich."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    required = {line.split(">=")[0] for line in config["options"]["install_requires"].split()}
    assert required == {"attrs", "click", "numpy", "PyYAML", "rich"}
