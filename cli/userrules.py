"""A user's own rules, from the Python modules that ``--rules`` names: predicates and priorities, or plugins."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..exceptions import PolicyError, UnknownNameError, did_you_mean
from ..framework.plugin import Plugin


def catalogue_of(places: Iterable[str]) -> Catalogue:
    """Upstream's predicates and priorities, and those of the catalogues at *places*, ``MODULE:CATALOGUE`` each."""
    catalogue = CATALOGUE
    for place in places:
        catalogue = _together(catalogue, _found(place, Catalogue, "Catalogue"))
    return catalogue


def _together(catalogue: Catalogue, other: Catalogue) -> Catalogue:
    for name in other.added_predicates:
        catalogue = catalogue.with_(other.predicates[name])
    for name, weight in other.added_priorities.items():
        catalogue = catalogue.with_(other.priorities[name], weight)
    return catalogue


def plugins_of(places: Iterable[str]) -> list[type[Plugin]]:
    """The plugins at *places*: ``MODULE:NAME`` of a plugin's class, or of a list of such."""
    plugins: list[type[Plugin]] = []
    for place in places:
        found = _found(place, object, "plugin")
        classes = list(found) if isinstance(found, list | tuple) else [found]
        if not classes or not all(_is_plugin(one) for one in classes):
            raise UnknownNameError(f'--rules: got "{place}", wanted the class of a plugin, or a list of such')
        plugins += classes
    return plugins


def _is_plugin(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Plugin)


def _found(place: str, kind: type[Any], called: str) -> Any:
    """The object called NAME in MODULE, which must be of *kind*."""
    module_name, colon, name = place.partition(":")
    if not (module_name and colon and name):
        raise UnknownNameError(f'--rules: got "{place}", wanted MODULE:{called.upper()}')
    module = _imported(module_name, place)
    found = getattr(module, name, None)
    if found is None or not isinstance(found, kind):
        raise UnknownNameError(f'--rules: got "{place}", which is no {called}{did_you_mean(name, _near(vars(module), kind))}')
    return found


def _near(names: Mapping[str, Any], kind: type[Any]) -> list[str]:
    return [name for name, value in names.items() if (_is_plugin(value) if kind is object else isinstance(value, kind))]


def _imported(module_name: str, place: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(module_name)
    except PolicyError:
        raise
    except Exception as error:  # any error of a user's module is reported in one line
        raise UnknownNameError(f'--rules: got "{place}": {type(error).__name__}: {error}') from None
