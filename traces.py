"""Published traces as clusters. ``kubeclassic import NAME --help`` says what becomes of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .questions.importing.ask import ImportResult as ImportResult
    from .questions.importing.ask import import_csv as import_csv
    from .questions.importing.ask import import_openb as import_openb
    from .questions.importing.ask import import_simkube as import_simkube
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
