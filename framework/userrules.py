"""The user's own rules, predicates and priorities or plugins, from the Python files and modules of
``--rules``."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..core.guard import ends_program, users_frames
from ..exceptions import KubeclassicError, RuleError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from .plugin import Plugin

_GIVEN = ", given to --rules"
_NO_PLUGIN = re.compile(r'Plugin "(?P<name>[^"]+)" does not exist')
_files: dict[str, str] = {}
"""Module name -> file, for the modules that ``--rules`` named as files."""


def catalogue_of(places: Iterable[str], catalogue: Catalogue = CATALOGUE) -> Catalogue:
    """*catalogue*, and the rules of the catalogues at *places*, ``MODULE:CATALOGUE`` or ``FILE.py:CATALOGUE``
    each."""
    for place in places:
        user_catalogue = _load_object(place, Catalogue, "Catalogue")
        for name in user_catalogue.added_predicates:
            catalogue = catalogue.with_(user_catalogue.predicates[name])
        for name, weight in user_catalogue.added_priorities.items():
            catalogue = catalogue.with_(user_catalogue.priorities[name], weight)
    return catalogue


def names_catalogue(places: Iterable[str]) -> bool:
    """Whether one of *places* has rules for releases with predicates and priorities."""
    return any(isinstance(_load_object(place, object, "name"), Catalogue) for place in places)


def plugins_of(places: Iterable[str]) -> list[type[Plugin]]:
    """The plugins at *places*: ``MODULE:NAME`` or ``FILE.py:NAME`` of a plugin's class, or of a list of
    such."""
    plugins = []
    for place in places:
        value = _load_object(place, object, "plugin")
        classes = list(value) if isinstance(value, list | tuple) else [value]
        if not classes or not all(_is_plugin(plugin) for plugin in classes):
            raise UnknownNameError(
                f'--rules: expected the class of a plugin, or a list of such, got "{place}"'
            )
        plugins += classes
    return plugins


def hint_of_plugins(refusal: str) -> str | None:
    """A hint for a plugin that a profile names and the release does not have; None for any other refusal.

    >>> print(hint_of_plugins('FilterPlugin "Odd" does not exist'))
    no plugin Odd is known; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it, and --plugins leave-out goes without
    >>> hint_of_plugins('ScorePlugin "NodeResourcesMostAllocated" does not exist')
    'plugin NodeResourcesMostAllocated is one of 1.17 to 1.22; NodeResourcesFit with the scoringStrategy MostAllocated takes its place'
    >>> hint_of_plugins('PreFilterPlugin "EBSLimits" does not exist')
    'plugin EBSLimits is one of 1.17 to 1.31; `kubeclassic policy migrate` carries profiles over'
    """
    match = _NO_PLUGIN.search(refusal)
    if match is None:
        return None
    from .registry import DEFAULT_REGISTRY  # only a refusal needs these
    from .releases import FRAMEWORK_RELEASES

    name = match["name"]
    if name not in DEFAULT_REGISTRY:
        advice = f"no plugin {name} is known; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it"
        return f"{advice}, and --plugins leave-out goes without"
    from .migrate.profiles import FIT, STRATEGIES

    versions = [
        version
        for version, release in FRAMEWORK_RELEASES.items()
        if name not in release.configuration.gone_plugins
    ]
    strategy = STRATEGIES.get(name)
    strategy_hint = f"{FIT} with the scoringStrategy {strategy} takes its place"
    carried = "`kubeclassic policy migrate` carries profiles over"
    return f"plugin {name} is one of {versions[0]} to {versions[-1]}; {carried if strategy is None else strategy_hint}"


def _is_plugin(value: Any) -> bool:
    from .plugin import Plugin

    return isinstance(value, type) and issubclass(value, Plugin)


def _load_object(place: str, kind: type[Any], noun: str) -> Any:
    """The object called NAME in MODULE or FILE.py, which must be of *kind*."""
    home, colon, name = place.rpartition(":")
    if not (home and colon and name):
        raise UnknownNameError(
            f'--rules: expected FILE.py:{noun.upper()} or MODULE:{noun.upper()}, got "{place}"'
        )
    module = _module(home, place)
    value = getattr(module, name, None)
    if value is None or not isinstance(value, kind):
        similar_names = [
            similar
            for similar, value in vars(module).items()
            if (_is_plugin(value) if kind is object else isinstance(value, kind))
        ]
        fault = f"but {home} has no {name}" if value is None else f"which is no {noun}"
        raise UnknownNameError(f'--rules: got "{place}", {fault}{did_you_mean(name, similar_names)}')
    return value


# --- modules ------------------------------------------------------------------------------------------------


def _module(home: str, place: str) -> ModuleType:
    """The module *home*, or the one that the file *home* holds; errors in it are one line with their
    place."""
    is_file = home.endswith(".py") or "/" in home or os.sep in home
    real = os.path.realpath(home)
    if is_file and not os.path.isfile(real):
        reason = "is a directory" if os.path.isdir(real) else "no such file or directory"
        raise UnknownNameError(f'--rules: got "{place}": {reason}')
    try:
        if is_file:
            # Executed once for each file; it may import modules beside it.
            module = next(
                (m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == real), None
            )
            if module is None or module.__name__ == "__main__":
                _look_in(os.path.dirname(real), last=True)
                stem = Path(real).stem
                is_found = _is_found_as(stem, real)
                module = importlib.import_module(stem) if is_found else _execute(real, stem + _GIVEN)
            _files[module.__name__] = real
            return module
        _look_in(os.getcwd())
        return importlib.import_module(home)
    except BaseException as error:  # any error of a user's module is one line
        if ends_program(error):
            raise
        frames = users_frames(error)
        last = error if isinstance(error, SyntaxError) else frames[-1] if frames else None
        where = f" ({last.filename}, line {last.lineno})" if last is not None and last.filename else ""
        reason = (
            str(error)
            if isinstance(error, KubeclassicError)
            else traceback.format_exception_only(error)[-1].strip()
        )
        text = f'--rules: got "{place}": {reason}{where}'
        raise RuleError(text, "".join(traceback.format_list(frames))) from None


def rule_files() -> dict[str, str]:
    """Module name -> file, for the modules that ``--rules`` named: elsewhere, or later, the name may mean
    another file."""
    return {name: file for name, file in _files.items() if name in sys.modules}


def execute_files(files: Mapping[str, str]) -> None:
    """Execute the files that :func:`rule_files` gave in another process. A file that fails here is left out,
    as its rules are missed later."""
    for name, file in files.items():
        _look_in(os.path.dirname(file), last=True)
        if name not in sys.modules and not _is_found_as(name, file):
            with suppress(Exception):
                _execute(file, name)


def _is_found_as(name: str, file: str) -> bool:
    """Whether importing *name* gives *file*; else another module has the name."""
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except ValueError:
        return False
    return spec is not None and spec.origin is not None and os.path.realpath(spec.origin) == file


def _execute(file: str, name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, file)
    module = ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _look_in(folder: str, *, last: bool = False) -> None:
    """Make modules in *folder* importable, with *last* only those whose names are free."""
    if folder not in sys.path:
        sys.path.insert(len(sys.path) if last else 0, folder)
