"""A workload whose application has a database behind it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from tierlab.environments.environment import Environment
from tierlab.servers.application import DynamicPages
from tierlab.servers.content import Content, Fidelity
from tierlab.servers.database import Credentials
from tierlab.workloads.dialect.loader import DataLoader
from tierlab.workloads.workload import DataKey, Workload


class PopulatedWorkload(Workload):
    """An application, and the loader of its data."""

    loader: ClassVar[type[DataLoader]]

    @abstractmethod
    def application(self) -> DynamicPages:
        """What its servers serve."""

    def check(self) -> None:
        """Raise `UserError` if a part of the application is missing."""
        self.application().check()

    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:
        """The application and a loader of its data, behind a password of its own."""
        loader = self.loader(
            seed=data.seed,
            scale=data.scale,
            load_day=data.load_day,
            scratch=environment.work / "load",
        )
        return Content(self.application(), loader, Credentials.drawn(self.name), fidelity)
