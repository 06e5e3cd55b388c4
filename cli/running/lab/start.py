"""From the command line to the session that the lab begins with."""

from __future__ import annotations

import attrs

from ....algorithmprovider.config import POLICY_KEY, PolicySource, policy_document
from ....algorithmprovider.registry import DEFAULT_PROVIDER
from ....api.inventory import config_maps
from ....api.load import Loaded
from ....api.reading.documents import parsed, read_documents
from ....api.reading.notices import refuse_unread
from ....exceptions import KubeclassicError
from ....framework.releases import is_auto
from ....simulation.lab.labconfiguration import LabConfiguration
from ....simulation.lab.material import Material
from ....simulation.lab.saved import Given
from ....simulation.lab.session import Session
from ....simulation.lab.source import POLICY, PROFILE, PROVIDER, Source, default_profile
from ...engines.setup import Setup
from ...opening import settled_for
from .asked import LabOptions


def session_of(setup: Setup, asked: LabOptions) -> tuple[Session, Given]:
    """The session, and what the command to repeat it needs. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input."""
    if not is_auto(setup.release):
        setup.recipe  # noqa: B018  # mistakes are told before any file is read
    cluster = asked.cluster
    files = attrs.evolve(cluster, edits=()).files(asked.paths, keeps_manifests=setup.may_call_extenders)
    settled = settled_for(setup, files.nodes)
    start = LabConfiguration.of(settled.recipe, source_of(settled, files.loaded), cluster.order)
    if settled.runs_profiles:
        start = attrs.evolve(start, percentage=settled.get("percentage_of_nodes_to_score"))
    paths = tuple(map(str, asked.paths[1:] if asked.live else asked.paths))
    given = Given(paths, tuple(map(str, cluster.pods)), (*asked.live, *_kept(settled), *_read(cluster)))
    session = Session.begin(Material(files, cluster.cron_jobs), start, cluster.edits)
    if cluster.strict:
        refuse_unread(session.answer.notices)
    return session, given


def source_of(setup: Setup, loaded: Loaded) -> Source:
    """Where the rules come from that the command line asks for."""
    configuration = setup.recipe.config
    if setup.runs_profiles:
        return _profile(setup)
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


def _profile(setup: Setup) -> Source:
    path = setup.get("profile") or setup.get("config")
    if path is None:
        return Source(PROFILE, "the default profile", default_profile(tuple(plugin.name for plugin in setup.recipe.plugins)))
    (document,) = read_documents(path)
    return Source(PROFILE, path.name, document.data, str(path))


def _kept(setup: Setup) -> list[str]:
    """The options of the scheduler that the page cannot move."""
    words = [word for place in setup.get("rules") for word in ("--rules", place)]
    words += ["--extenders", setup.get("extenders")] if setup.get("extenders") is not None else []
    words += ["--max-pd-vols", str(setup.get("max_pd_vols"))] if setup.get("max_pd_vols") is not None else []
    words += ["--equivalence-cache"] if setup.get("equivalence_cache") else []
    name = setup.recipe.config.scheduler_name
    return words + (["--scheduler-name", name] if not setup.runs_profiles and name != "default-scheduler" else [])


def _read(cluster: object) -> list[str]:
    """The options about how files are read."""
    flags = {"--cron-jobs": "cron_jobs", "--no-defaults": "no_defaults", "--strict": "strict"}
    return [flag for flag, field in flags.items() if getattr(cluster, field)]
