"""The podman environment: each server in an OCI container, made by podman and runc.

The containers' root is this host's, seen through an overlay: the same programs as with bare
processes, so that a difference between the two environments is the containers'. A server that is
brought as an image has that image's root.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tierlab.environments.capability import Probe
from tierlab.environments.containers.entrance import lay_down
from tierlab.environments.containers.image_domain import ImageDomain
from tierlab.environments.containers.oci_image import find_stores
from tierlab.environments.containers.podman_domain import PodmanDomain
from tierlab.environments.containers.podman_storage import Storage, load_archive
from tierlab.environments.containers.probe import probe_containers
from tierlab.environments.containers.runc import runtime_fault
from tierlab.environments.domain import DomainSpec
from tierlab.environments.image_root import ImageRoot
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.host_domain import Ground

PROGRAMS: Mapping[str, str] = {
    "podman": "podman",
    "conmon": "conmon",
    "runc": "runc",
    "catatonit": "catatonit",
}
"""Each with the Debian package that brings it."""


class Podman(HostEnvironment):
    """Containers on this host, for one trial; storage of their own below the trial's folder."""

    name: ClassVar[str] = "podman"
    _images: Storage | None = None
    """Beside the user's own, once an image is asked for."""
    _loaded: frozenset[str] = frozenset()
    """The archives whose images are in it."""

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; `UserError` if no container can be made."""
        return probe_containers(cls.name, PROGRAMS, runtime_fault)

    def create(self, spec: DomainSpec) -> PodmanDomain:
        """Make a domain: a folder now, a container when it starts."""
        if spec.root is not None:
            return ImageDomain(self._ground, spec, self._image_storage(spec.root), spec.root)
        return PodmanDomain(self._ground, spec, self._storage)

    def _image_storage(self, root: ImageRoot) -> Storage:
        """Storage beside the user's own, whose images are seen from it, with this one in it."""
        if self._images is None:
            stores = find_stores()
            ledger = self._ground.ledger
            images = Storage(self.work / ".images", ledger.token, stores.driver, stores.folders)
            images.make(ledger)
            lay_down(images.entrance)
            self._images = images
        if root.archive is not None and root.archive not in self._loaded:
            load_archive(self._images, self._ground.ledger, root.archive)
            self._loaded |= {root.archive}
        return self._images

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        assert ground.hierarchy is not None  # `probe` refuses a machine without
        # Before any group: the last of what a ledger lists goes first.
        ground.hierarchy.hand_down_all(self._ledger)
        self._storage = Storage(self.work / ".podman", self._ledger.token)
        self._storage.make(self._ledger)
        return ground
