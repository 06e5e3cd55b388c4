"""What the options of ``kubeclassic serve`` say."""

from __future__ import annotations

from pathlib import Path

import attrs

from ....exceptions import KubeclassicError


class ServeOptionError(KubeclassicError):
    """Options that do not go together, or a library that is not there."""


@attrs.frozen(kw_only=True)
class ServeOptions:
    """What the command line wants served, and how."""

    paths: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str | None = None
    defaults: bool = True
    address: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    token: Path | None = None
    insecure: bool = False
    max_body_mb: int = 100
    max_requests: int = 64
    timeout: int = 30
    verbose: bool = False

    def check(self) -> None:
        """Refuse what does not go together. Raises :class:`ServeOptionError`."""
        if self.kubeconfig is None and not self.paths:
            raise ServeOptionError("got neither PATHS nor --kubeconfig, wanted one of them")
        if self.kubeconfig is not None and self.paths:
            raise ServeOptionError(f"--kubeconfig cannot be combined with {self.paths[0]}")
        if self.context is not None and self.kubeconfig is None:
            raise ServeOptionError("--context needs --kubeconfig")
