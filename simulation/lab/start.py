"""From options to the session that the lab begins with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import attrs

from ...algorithmprovider.config import POLICY_KEY, PolicySource, policy_document
from ...algorithmprovider.registry import DEFAULT_PROVIDER
from ...api.inventory import config_maps
from ...api.load import Loaded
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.documents import parsed, read_documents
from ...exceptions import KubeclassicError
from ...framework.options import GivenOptions
from ...framework.schedulerspec import SchedulerSpec
from ..scenario import Files
from .labconfiguration import LabConfiguration
from .labinput import LabInput
from .session import Session
from .source import DEFAULT_PROFILE, POLICY, PROFILE, PROVIDER, LabError, Source, check_release


def session_of(
    options: GivenOptions, spec: SchedulerSpec, files: Files, *, cron_jobs: bool = False, order: str = "input", edits: Sequence[str] = ()
) -> Session:
    """A session on *files* that begins with what *spec* makes of *options*.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    check_release(spec.version)
    start = LabConfiguration.of(spec, _source(options, spec, files.loaded), order)
    if spec.profiles is not None:
        weight = getattr(options, "hard_pod_affinity_weight", None)
        start = attrs.evolve(start, percentage=options.percentage_of_nodes_to_score, hard_weight=weight)
    return Session.begin(LabInput(files, cron_jobs), start, edits)


def _source(options: GivenOptions, spec: SchedulerSpec, loaded: Loaded) -> Source:
    """Where the rules come from."""
    if spec.profiles is not None:
        return _profile(options)
    configuration = spec.config
    policy = configuration.source.policy
    if configuration.source.provider or policy is None:
        return Source(PROVIDER, configuration.source.provider or DEFAULT_PROVIDER)
    if policy.file is not None:
        path = configuration.folder / policy.file
        return Source(POLICY, path.name, policy_document(path).data, str(path))
    return _of_config_map(policy, loaded)


def _of_config_map(policy: PolicySource, loaded: Loaded) -> Source:
    source = policy.config_map
    assert source is not None
    found = config_maps([loaded]).get((source.namespace, source.name), {}).get("data") or {}
    if POLICY_KEY not in found:
        raise KubeclassicError(f'ConfigMap {source.namespace}/{source.name}: got no Policy, wanted one at key "{POLICY_KEY}"')
    (document,) = parsed(found[POLICY_KEY], f"ConfigMap {source.name}")
    return Source(POLICY, f"ConfigMap {source.name}", document)


def _profile(options: GivenOptions) -> Source:
    for name in ("policy", "policy_configmap", "provider"):
        if getattr(options, name, None) is not None:
            told = f"{name}: release {options.release} runs a profile in the lab, which `kubeclassic policy migrate` makes of a Policy"
            raise LabError(told)
    given = getattr(options, "profile", None) or options.config
    if given is None:
        return Source(PROFILE, DEFAULT_PROFILE)
    path = Path(cast("str | os.PathLike[str]", given))
    (document,) = read_documents(path)
    return Source(PROFILE, path.name, document.data, str(path))


def kept_words(options: GivenOptions, spec: SchedulerSpec) -> list[str]:
    """The options of the scheduler that the lab cannot move, as words of a command line."""
    words = [word for place in options.rules for word in ("--rules", place)]
    words += ["--extenders", options.extenders] if isinstance(options.extenders, str) else []
    words += ["--max-pd-vols", str(options.max_pd_vols)] if options.max_pd_vols is not None else []
    words += ["--equivalence-cache"] if spec.equivalence_cache else []
    name = spec.config.scheduler_name
    return words + (["--scheduler-name", name] if spec.profiles is None and name != DEFAULT_SCHEDULER else [])
