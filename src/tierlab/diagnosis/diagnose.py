"""From a run to its diagnosis. Reads the run folder's tables and nothing else."""

from dataclasses import dataclass
from functools import cached_property

from tierlab.analysis.observed import Observed
from tierlab.analysis.span import Span
from tierlab.diagnosis.attribution import Attribution
from tierlab.diagnosis.busy_functions import Profiled
from tierlab.diagnosis.causes import overload
from tierlab.diagnosis.chain import Chains, delayed
from tierlab.diagnosis.common_end import without_other_ways
from tierlab.diagnosis.confidence import confidence
from tierlab.diagnosis.consequences import without_consequences
from tierlab.diagnosis.demand import Demands
from tierlab.diagnosis.finding import Demand, Diagnosis, Finding
from tierlab.diagnosis.incidents import incidents
from tierlab.diagnosis.lasting import lasting
from tierlab.diagnosis.merge import Merged, Occurrence, merged, weight
from tierlab.diagnosis.moved import Candidates
from tierlab.diagnosis.near_capacity import NearCapacity, near_capacity
from tierlab.diagnosis.overtaken import up_to_neighbours, users_waiting
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.run_stalls import run_stalls
from tierlab.diagnosis.saturated import saturated
from tierlab.diagnosis.told import sources
from tierlab.diagnosis.turned_away import without_asked_again
from tierlab.diagnosis.verdicts import SHOWN, Assessment
from tierlab.diagnosis.words import nothing, paragraph, said
from tierlab.tables.schemas import SCHEMAS

AS_MUCH = 1 / 3
"""Of the wait for what requests waited for most."""

UNSEEN = "Nothing can be said: the run holds neither requests nor visits."


def diagnose(observed: Observed) -> Diagnosis:
    """Find the bottlenecks that delayed requests in the measured stretch, and their causes."""
    return Examined(observed).diagnosis()


class Examined:
    """A run and all that its diagnosis reads of it but no rule has a say in: a proof that tries
    many catalogues and thresholds reads each run once.
    """

    def __init__(self, observed: Observed) -> None:
        run, span = observed.run, observed.measured
        self._missing = {name: run.missing[name] for name in SCHEMAS if not run.has(name)}
        there = [run.has(name) for name in sources(run.manifest)]
        self._coverage = sum(there) / len(there)
        seen = run.has("requests") or run.has("visits")
        self._seen = None if span is None or not seen else _Seen(observed, span)

    def diagnosis(self) -> Diagnosis:
        """Diagnose it by the catalogue and the thresholds as they are now."""
        missing = self._missing
        if self._seen is None:
            return Diagnosis(verdict="not observed", words=UNSEEN, findings=[], missing=missing)
        findings = self._seen.findings(self._coverage)
        if not findings:
            words = nothing(self._seen.near_capacity)
            return Diagnosis(verdict="nothing abnormal", words=words, findings=[], missing=missing)
        return Diagnosis(
            verdict="findings", words=paragraph(findings), findings=findings, missing=missing
        )


class _Seen:
    """A run's stalls, and what they are judged by and told with."""

    def __init__(self, observed: Observed, span: Span) -> None:
        self._observed, self._span = observed, span
        self._stalls, self._saturations = run_stalls(observed, span), saturated(observed, span)
        stalls = [*self._stalls, *(each.stall for each in self._saturations)]
        self._run = RunContext(observed, stalls)
        self._retransmitted = observed.retransmitted
        self._anywhere = not observed.run.has("visits")
        self._telling = _Telling(
            observed,
            self._run,
            Chains(observed),
            Candidates(self._run.signals, span),
            Demands(observed, self._run.signals, self._run.cores, observed.whole or span),
            Profiled(observed.db, span),
        )

    @cached_property
    def near_capacity(self) -> NearCapacity | None:
        """What is to be told of full CPUs where there are no findings."""
        return near_capacity(self._run.signals, self._run.cores, self._span)

    def findings(self, coverage: float) -> list[Finding]:
        """Judge the stalls; ``coverage`` is the share of all sources that there are."""
        run = self._run
        attribution = Attribution(run, coverage, self._anywhere)
        long = lasting(self._saturations, run, attribution)
        short = [
            each
            for incident in incidents(self._stalls, run.topology)
            for each in attribution.occurrences(incident)
        ]
        if long:
            waiting = users_waiting(self._observed, run.cores)
            long = up_to_neighbours(long, short, attribution, waiting)
        told = without_consequences(long, short, run)
        told = without_other_ways(without_asked_again(told, self._retransmitted))
        found = merged(told, run.entry)
        most = max(map(weight, found), default=0.0)
        # Stable: an overload comes first, all others in their order.
        found.sort(key=lambda each: not _is_overloaded(each, long, most))
        return [self._telling.finding(each, _overload(each, long)) for each in found]


def _is_overloaded(each: Merged, long: list[Occurrence], most: float) -> bool:
    """Say whether the system was overloaded for seconds, and requests waited for that about as much
    as for anything else, ``most`` of all: then that is said first.
    """
    return _overload(each, long) is not None and weight(each) >= AS_MUCH * most


def _overload(found: Merged, long: list[Occurrence]) -> Occurrence | None:
    """Return the longest stretch of an overload that lasted; None for anything else."""
    there = {id(each) for each in found.occurrences}
    mine = [each for each in long if id(each) in there and each.cause == overload.NAME]
    return max(mine, key=lambda each: each.stall.window.duration_s, default=None)


@dataclass(frozen=True)
class _Telling:
    """Makes findings of what was found."""

    observed: Observed
    run: RunContext
    chains: Chains
    candidates: Candidates
    demands: Demands
    profiled: Profiled

    def finding(self, found: Merged, overloaded: Occurrence | None) -> Finding:
        """Return the finding; ``overloaded`` is its overload that lasted longest, if any."""
        clearest = found.clearest
        winner = clearest.verdict.winner
        suspects = [each.suspect for each in clearest.verdict.others]
        who = delayed(self.observed, found.windows)
        demand = None if overloaded is None else self._demand(overloaded)
        moved = self.candidates.moved
        messages = self.observed.run.has("visits")
        return Finding(
            cause=clearest.cause,
            subject=found.subject,
            tier=self.run.tier(found.subject),
            words=said(found, who, demand),
            windows=found.windows,
            confidence=confidence(clearest.verdict.strength, messages=messages),
            unusual=_unusual(winner),
            delayed=who,
            chain=self.chains.links(clearest.stall.window),
            evidence=moved(found.windows) if winner is None else winner.suspect.evidence,
            ruled_out=[each for each in suspects if each.most < SHOWN],
            not_ruled_out=[each for each in suspects if each.most >= SHOWN],
            remedies=[] if winner is None else winner.cause.remedies(winner.context),
            demand=demand,
            functions=self.profiled.busier(found.windows),
        )

    def _demand(self, overloaded: Occurrence) -> Demand | None:
        winner = overloaded.verdict.winner
        if winner is None:
            return None
        window = overloaded.stall.window
        return self.demands.of(window, overloaded.subject, winner.context.cores)


def _unusual(winner: Assessment | None) -> float | None:
    """Return how rarely the winner's leading figure was as strong."""
    leading = None if winner is None else winner.cause.leading
    return None if winner is None or leading is None else leading.rarity(winner.context)
