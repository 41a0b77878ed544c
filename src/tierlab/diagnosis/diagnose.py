"""From a run to its diagnosis. Reads the run folder's tables and nothing else."""

from tierlab.analysis.observed import Observed
from tierlab.analysis.own_gaps import own_gaps
from tierlab.analysis.span import Span
from tierlab.diagnosis.attribution import Attribution
from tierlab.diagnosis.chain import Chains, delayed
from tierlab.diagnosis.confidence import confidence
from tierlab.diagnosis.finding import Diagnosis, Finding
from tierlab.diagnosis.incidents import incidents
from tierlab.diagnosis.merge import Merged, merged
from tierlab.diagnosis.moved import Candidates
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.stalls import LEAST_GAP_NS, Stall, stalls
from tierlab.diagnosis.verdicts import SHOWN, Assessment
from tierlab.diagnosis.waits import connecting, responding
from tierlab.diagnosis.words import paragraph, said
from tierlab.tables.schemas import SCHEMAS

NOTHING = "Nothing abnormal: no server kept requests waiting for longer than they usually take."
UNSEEN = "Nothing can be said: the run holds neither requests nor visits."


def diagnose(observed: Observed) -> Diagnosis:
    """Find the bottlenecks that delayed requests in the measured stretch, and their causes."""
    span, run = observed.measured, observed.run
    missing = {name: run.missing[name] for name in SCHEMAS if not run.has(name)}
    if span is None or not (run.has("requests") or run.has("visits")):
        return Diagnosis(verdict="not observed", words=UNSEEN, findings=[], missing=missing)
    run_context = RunContext(observed)
    coverage = 1 - len(missing) / len(SCHEMAS)
    attribution = Attribution(run_context, coverage, anywhere=not run.has("visits"))
    occurrences = [
        each
        for incident in incidents(_stalls(observed, span, run_context), run_context.servers)
        for each in attribution.occurrences(incident)
    ]
    chains, candidates = Chains(observed), Candidates(run_context.signals, span)
    findings = [
        _completed(observed, run_context, chains, candidates, each)
        for each in merged(occurrences, run_context.entry)
    ]
    if not findings:
        return Diagnosis(verdict="nothing abnormal", words=NOTHING, findings=[], missing=missing)
    return Diagnosis(
        verdict="findings", words=paragraph(findings), findings=findings, missing=missing
    )


def _stalls(observed: Observed, span: Span, run_context: RunContext) -> list[Stall]:
    run, db = observed.run, observed.db
    if not run.has("visits"):
        return stalls(responding(db, span, LEAST_GAP_NS))
    found = stalls(own_gaps(db, span, LEAST_GAP_NS))
    if run.has("requests") and run_context.servers:
        found += stalls(connecting(db, span, LEAST_GAP_NS, run_context.servers[0]))
    return found


def _completed(
    observed: Observed,
    run_context: RunContext,
    chains: Chains,
    candidates: Candidates,
    found: Merged,
) -> Finding:
    clearest = found.clearest
    winner = clearest.verdict.winner
    suspects = [each.suspect for each in clearest.verdict.others]
    who = delayed(observed, found.windows)
    return Finding(
        cause=clearest.cause,
        subject=found.subject,
        tier=run_context.tier(found.subject),
        words=said(found, who),
        windows=found.windows,
        confidence=confidence(clearest.verdict.strength, messages=observed.run.has("visits")),
        unusual=_unusual(winner),
        delayed=who,
        chain=chains.links(clearest.stall.window, run_context.servers),
        evidence=candidates.moved(found.windows) if winner is None else winner.suspect.evidence,
        ruled_out=[each for each in suspects if each.most < SHOWN],
        not_ruled_out=[each for each in suspects if each.most >= SHOWN],
        remedies=[] if winner is None else winner.cause.remedies(winner.context),
    )


def _unusual(winner: Assessment | None) -> float | None:
    """Return how rarely the winner's leading figure was as strong."""
    leading = None if winner is None else winner.cause.leading
    return None if winner is None or leading is None else leading.rarity(winner.context)
