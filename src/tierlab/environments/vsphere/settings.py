"""Which vCenter is used, what of it, and as whom: a file, and two passwords.

The file is named in ``TIERLAB_VSPHERE``; without that it is ``tierlab/vsphere.toml`` in the user's
folder of settings. A password is taken from its environment variable, or from the file if nobody
else may read that. None is ever written down.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from ipaddress import IPv4Network
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from tierlab.environments.addresses import Addresses
from tierlab.errors import UserError

FILE = "TIERLAB_VSPHERE"
PASSWORD, GUEST_PASSWORD = "TIERLAB_VSPHERE_PASSWORD", "TIERLAB_VSPHERE_GUEST_PASSWORD"
HTTPS = 443
OTHERS = 0o077


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Network(_Section):
    """The port group of the template's network card, as virtual machines and this one see it."""

    servers: IPv4Network
    """What servers' addresses are taken from: a network of 65,536, nobody else's."""
    users: IPv4Network
    """Addresses of this machine's that users may send from."""
    device: str = "eth0"
    """The network card, as the guest's kernel names it."""
    interface: str
    """This machine's interface to that network."""


class Settings(_Section):
    """The file's content and the passwords."""

    address: str
    """Of the vCenter: a host, or host:port."""
    user: str
    password: SecretStr
    authority: Path | None = None
    """The certificates that the vCenter's is checked against; None for the system's."""

    template: str
    """The virtual machine or template that each domain is a clone of, by its name."""
    pool: str
    """The resource pool: its name, or its path below its cluster, such as `cluster/Resources`."""
    hosts: tuple[str, ...] = Field(min_length=1, max_length=2)
    """Where domains run, and where they can move to."""
    guest_user: str = "root"
    """Its name in the guest; it has all rights there."""
    guest_password: SecretStr
    extra: Mapping[str, str] = Field(default_factory=dict)
    """Keys of each clone's extra configuration."""
    network: Network

    file: Path

    @property
    def host(self) -> str:
        """The vCenter's host."""
        return self.address.partition(":")[0]

    @property
    def port(self) -> int:
        """The vCenter's port."""
        return int(self.address.partition(":")[2] or HTTPS)

    @property
    def addresses(self) -> Addresses:
        """The address plan of a trial."""
        network = self.network
        return Addresses(network.servers, network.users, network.users, network.interface)


def default_file() -> Path:
    """The file that is read."""
    if named := os.environ.get(FILE):
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "tierlab" / "vsphere.toml"


def load(path: Path | None = None) -> Settings:
    """Read and check the settings; `UserError` names the file and what is wrong or missing."""
    path = (default_file() if path is None else path).absolute()
    try:
        table = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(
            f"no vCenter is named; describe one in {path}, or in the file that {FILE} names."
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); mend the file.") from error
    for key, variable in (("password", PASSWORD), ("guest_password", GUEST_PASSWORD)):
        if key in table and path.stat().st_mode & OTHERS:
            raise UserError(
                f"{path}: holds `{key}`, and others may read it; take their rights (chmod 600), or"
                f" give it in {variable}."
            )
        if given := os.environ.get(variable):
            table[key] = given
        if not table.get(key):
            raise UserError(f"{path}: `{key}` is missing; give it in {variable}, or there.")
    try:
        return Settings(**{**table, "file": path})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: `{key}`: {first['msg']}; mend that key.") from None
