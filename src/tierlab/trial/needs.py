"""What a trial needs of this machine, looked for before its run folder is made."""

from __future__ import annotations

from tierlab.deploy import needs
from tierlab.deploy.neighbours import check_neighbours
from tierlab.deploy.placement import check_changes
from tierlab.environments.capability import Capability
from tierlab.environments.kinds import KINDS
from tierlab.environments.refusal import refuse
from tierlab.errors import UserError
from tierlab.experiment import TrialPlan
from tierlab.observe import agent, echoes
from tierlab.observe.profile_needs import check_profile
from tierlab.servers.programs import check_programs
from tierlab.trial.caches_needs import check_caches
from tierlab.trial.disturb_needs import check_disturbances


def check_needs(plan: TrialPlan) -> None:
    """Raise :class:`UserError` for what is missing, in one sentence."""
    agent.binary()
    probe = KINDS[plan.system.environment].probe()
    for each in plan.systems:
        try:
            each.system.application.check()
            needs.check_needs(each.system, probe)
        except UserError as error:
            raise UserError(f"system {each.name}: {error}" if each.name else str(error)) from error
    check_neighbours(plan.system, probe)
    tiers = [tier for each in plan.systems for tier in each.system.tiers]
    if len(tiers) > 1 and (reason := probe.cannot.get(Capability.MESSAGES)):
        raise refuse("system.workload", probe.environment, Capability.MESSAGES, reason)
    if plan.system.tcp != "modern" and (reason := probe.cannot.get(Capability.RETRIES)):
        raise refuse("system.tcp", probe.environment, Capability.RETRIES, reason)
    check_caches(plan, probe)
    check_changes(plan.change, probe)
    if any(change.host is not None for change in plan.change):
        check_programs(echoes.PROGRAMS)
    if plan.observe.profile is not None:
        software = [tier.software for each in plan.systems for tier in each.system.tiers.values()]
        check_profile(plan.observe.profile, plan.system.environment, software)
    check_disturbances(plan, probe)
