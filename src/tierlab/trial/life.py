"""The life of one trial: deploy, observe, drive, take down, and leave a run folder."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tierlab.deploy.neighbours import Neighbours
from tierlab.deploy.system import System
from tierlab.deploy.systems import Systems
from tierlab.environments.environment import Environment
from tierlab.environments.kinds import KINDS
from tierlab.environments.ledger import Ledger
from tierlab.environments.network.tcp import BEHAVIOURS
from tierlab.environments.removal import remove_trial
from tierlab.errors import UserError
from tierlab.experiment import TrialPlan
from tierlab.machine.clock_steps import ClockSteps
from tierlab.observe import plans
from tierlab.observe.agent import Child, Spawn
from tierlab.observe.calls import CallObserver
from tierlab.observe.inside import InsideObserver, InsideObservers
from tierlab.observe.observers import Observers
from tierlab.observe.outside import OutsideObserver
from tierlab.observe.profiler import Profiler
from tierlab.tables.folder import NAMED, RunFolder
from tierlab.tables.manifest import Manifest
from tierlab.trial.at_sockets import SocketWatch
from tierlab.trial.changer import Changer
from tierlab.trial.describe import add_systems, data_seed, describe
from tierlab.trial.disturb_plan import altered_by, disturb
from tierlab.trial.disturber import Disturber
from tierlab.trial.drivers import Drivers
from tierlab.trial.finish import finish, write_first
from tierlab.trial.interrupt import deferred, heeded, interruptible, undisturbed
from tierlab.trial.migration import Migrations
from tierlab.trial.outcome import (
    record_calls,
    record_drivers,
    record_inside,
    record_observers,
)
from tierlab.trial.progress import Progress
from tierlab.trial.stealing import Stealing
from tierlab.trial.truth import TruthFolder
from tierlab.trial.watch import watch
from tierlab.workloads.workload import DataKey

OTHER_KERNEL = (
    "its threads belong to a guest's kernel, and the tracer of system calls sees this host's"
)


def run_trial(plan: TrialPlan, folder: RunFolder, progress: Progress) -> Manifest:
    """Run one trial from nothing to nothing; return what it was.

    The manifest's exit state is ``done``, ``interrupted`` (Ctrl-C or SIGTERM) or ``failed`` with
    its reason. In each case all that was made on the machine is removed again and what was
    measured so far is in the folder's tables.
    """
    manifest = describe(plan, folder)
    write_first(folder, manifest)
    trial, signals = _Trial(plan, folder, manifest, progress), heeded()
    # Around it all, so that no signal finds the moment between the trial's end and its removal.
    with undisturbed(signals):
        try:
            with interruptible(signals):
                trial.live()
            manifest.exit.state = "done"
        except KeyboardInterrupt:
            manifest.exit.state = "interrupted"
        except (UserError, OSError) as error:
            manifest.exit.state, manifest.exit.error = "failed", str(error)
        finally:
            # Anything else is a mistake of ours: it goes on up, but leaves nothing behind either.
            _take_down(trial)
        progress.stage("tables")
        finish(folder, manifest)
    return manifest


def _take_down(trial: _Trial) -> None:
    trial.progress.stage("take down")
    try:
        trial.teardown.close()
    except (UserError, OSError) as error:
        # What failed first is what the user has to mend; this often only follows from it.
        outcome = trial.manifest.exit
        outcome.state, outcome.take_down = "failed", str(error)
        outcome.error = outcome.error or str(error)


class _Trial:
    """What one trial has running; ``teardown`` takes down in reverse order of making."""

    def __init__(
        self, plan: TrialPlan, folder: RunFolder, manifest: Manifest, progress: Progress
    ) -> None:
        self.plan, self.folder, self.manifest, self.progress = plan, folder, manifest, progress
        self.teardown = ExitStack()
        self.clock = ClockSteps()
        self.teardown.callback(self._note_steps)
        load_day = datetime.fromtimestamp(manifest.created_ns / 1e9, UTC).date()
        # All repetitions work on the same data: only their users differ.
        self.data = {
            each.name: DataKey(each.system.scale, data_seed(plan, each), load_day)
            for each in plan.systems
        }

    def live(self) -> None:
        """Deploy, observe and drive."""
        self.progress.stage("start servers")
        environment = self._environment()
        systems = self._systems(environment)
        outside = self._outside()
        observers = self._observers(environment)
        self._capture(environment, systems, observers)
        at_sockets = SocketWatch(self.plan, systems)
        self._see_calls(environment, systems, at_sockets)
        self._start(systems)
        self._watch_sockets(at_sockets, systems, observers)
        neighbours = self._neighbours(environment)
        stealing = self._stealing(environment, systems)
        self._trace(systems, observers)
        self._sample(systems, observers)
        outside.start(environment.accounts())
        inside = self._look_inside(environment, systems)
        profiler = self._profile(environment, systems)
        self.manifest.write(self.folder.path)
        drivers = self._drive(environment, systems)
        disturber = self._disturb(environment, systems, drivers, stealing)
        migrations = Migrations(systems, environment, inside, self.folder)
        changer = self._change(drivers, systems, neighbours, migrations)
        living = (systems, neighbours, observers, inside, profiler, disturber, self.clock)
        watch(self.plan.load, drivers, living, changer, self.progress)
        disturber.finish()
        changer.finish()

    def _note_steps(self) -> None:
        self.clock.check()
        if (note := self.clock.note()) is not None:
            self.manifest.not_measured["one axis of time"] = note

    def _environment(self) -> Environment:
        with deferred():
            ledger = Ledger(f"{self.plan.experiment[:NAMED]}-{self.folder.trial}-{os.getpid()}")
            # Where one signal leaves the environment unmade, and another one untidied.
            self.teardown.callback(remove_trial, ledger)
        shape = self.plan.system
        environment = KINDS[shape.environment](ledger, tcp=BEHAVIOURS[shape.tcp])
        self.teardown.callback(environment.destroy)
        if (machine := self.plan.observe.simulated_caches) is not None:
            environment.simulate_caches(machine)
        return environment

    def _systems(self, environment: Environment) -> Systems:
        found: list[System] = []
        tiers = 0
        for each in self.plan.systems:
            shape, data = each.system, self.data[each.name]
            system = System(
                shape,
                shape.application.content(environment, data, shape.fidelity),
                environment,
                self.folder.logs,
                name=each.name,
                before=tiers,
                altered=altered_by(self.plan.disturb),
                moving=frozenset(each.on for each in self.plan.change if each.host is not None),
                profiled=self.plan.observe.profile is not None,
                stacks=self.plan.observe.records_stacks,
            )
            found.append(system)
            tiers += len(shape.tiers)
        systems = Systems(found)
        self.teardown.callback(systems.stop)
        return systems

    def _outside(self) -> OutsideObserver:
        # Made before the samplers, and so ended after they have said what they could not measure.
        observe = self.plan.observe
        outside = OutsideObserver(
            self.folder,
            self.manifest,
            observe.samplers,
            simulates=observe.simulated_caches is not None,
        )
        self.teardown.callback(outside.stop)
        return outside

    def _observers(self, environment: Environment) -> Observers:
        observers = Observers(self.folder.streams, self.folder.logs, _spawner(environment))
        self.teardown.callback(lambda: record_observers(self.manifest, observers))
        self.teardown.callback(observers.stop)
        return observers

    def _capture(self, environment: Environment, systems: Systems, observers: Observers) -> None:
        # Before the servers start: the tracer learns from their first words who is who.
        if self.plan.observe.messages:
            plan = plans.capture(systems.places, environment.addresses.interface)
            observers.start("capture", plan, ("visits",))

    def _see_calls(
        self, environment: Environment, systems: Systems, at_sockets: SocketWatch
    ) -> None:
        if self.plan.observe.calls:
            environment.refuse_calls_out()
            observer = CallObserver(self.folder.streams, self.folder.logs, _spawner(environment))
            self.teardown.callback(
                lambda: record_calls(
                    self.manifest,
                    observer,
                    systems,
                    alone=environment.has_own_network,
                    at_sockets=at_sockets.seen,
                )
            )
            observer.start()

    def _start(self, systems: Systems) -> None:
        began = time.monotonic()
        systems.start(lambda doing: self.progress.advance(time.monotonic() - began, doing))
        add_systems(self.manifest, self.plan, systems)

    def _watch_sockets(
        self, at_sockets: SocketWatch, systems: Systems, observers: Observers
    ) -> None:
        def record() -> None:
            traced = [place.name for place in systems.places if place.endpoint.socket is not None]
            at_sockets.record(self.manifest, traced if observers.has_started("trace") else ())

        self.teardown.callback(record)
        self.teardown.callback(at_sockets.stop)
        at_sockets.start()

    def _neighbours(self, environment: Environment) -> Neighbours:
        # Once the servers stand: these would only be longer in coming up.
        neighbours = Neighbours(self.plan.system, environment)
        self.teardown.callback(neighbours.stop)
        neighbours.start()
        return neighbours

    def _stealing(self, environment: Environment, systems: Systems) -> Stealing:
        stealing = Stealing(self.plan.disturb, environment, self.plan.system.neighbours.count)
        self.teardown.callback(stealing.stop)
        stealing.prepare({each.name: each.found for each in systems.subjects()})
        return stealing

    def _sample(self, systems: Systems, observers: Observers) -> None:
        observe = self.plan.observe
        plan = plans.sample(observe, systems.subjects())
        if plan["tables"]:
            observers.start("sample", plan, tuple({*observe.samplers, *plan["tables"]}))

    def _trace(self, systems: Systems, observers: Observers) -> None:
        # Once the servers stand: their processes are known.
        observe = self.plan.observe
        plan = plans.trace(systems.subjects())
        if not (observe.messages and observe.system_calls):
            return
        if plan["subjects"]:
            observers.start("trace", plan, ("waits",))
        for subject in systems.subjects():
            if subject.guest:
                # Its own kernel would have to tell.
                self.manifest.not_measured[f"waits of {subject.name}"] = OTHER_KERNEL

    def _look_inside(self, environment: Environment, systems: Systems) -> InsideObservers:
        observers, observe = InsideObservers(self.folder), self.plan.observe
        self.teardown.callback(lambda: record_inside(self.manifest, observers))
        self.teardown.callback(observers.stop)
        for guest in systems.subjects():
            domain = systems.domain(guest.name)
            inside = domain.inside()
            if inside is None:
                continue
            watching = InsideObserver(guest, domain, inside, environment)
            plan = plans.sample_inside(observe, guest, environment.slowness)
            observers.start(watching, plan)
        return observers

    def _profile(self, environment: Environment, systems: Systems) -> Profiler:
        profiler = Profiler(self.folder, self.manifest, _spawner(environment))
        self.teardown.callback(profiler.stop)
        if self.plan.observe.profile is not None:
            profiler.start(self.plan.observe.profile, systems.subjects())
        return profiler

    def _drive(self, environment: Environment, systems: Systems) -> Drivers:
        drivers = Drivers(self.plan, self.folder, self.data)
        self.teardown.callback(lambda: record_drivers(self.manifest, drivers))
        self.teardown.callback(drivers.stop)
        drivers.start(systems, environment.addresses, environment.work, _spawner(environment))
        return drivers

    def _disturb(
        self, environment: Environment, systems: Systems, drivers: Drivers, stealing: Stealing
    ) -> Disturber:
        truth, drawn = TruthFolder.of(self.folder.path), self.plan.disturb
        disturber = Disturber(truth, drawn, stealing)
        self.teardown.callback(disturber.stop)
        if drawn:
            truth.create(drawn)
            runtime_ns = drivers.start_ns + self.plan.load.phases.ramp_up_ns
            plan = disturb(
                drawn,
                runtime_ns,
                systems.subjects(),
                self.plan.system,
                environment.addresses,
            )
            disturber.start(plan, runtime_ns, _spawner(environment))
        return disturber

    def _change(
        self, drivers: Drivers, systems: Systems, neighbours: Neighbours, migrations: Migrations
    ) -> Changer:
        runtime_ns = drivers.start_ns + self.plan.load.phases.ramp_up_ns
        changes, logs = self.plan.change, self.folder.logs
        return Changer(changes, systems, neighbours, migrations, runtime_ns=runtime_ns, logs=logs)


def _spawner(environment: Environment) -> Spawn:
    def spawn(argv: Sequence[str], log: Path) -> Child:
        return environment.spawn(argv, log=log)

    return spawn
