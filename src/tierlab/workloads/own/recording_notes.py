"""What of a browser's recording users do not do, in sentences for whoever brings it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tierlab.exchange.har import Exchange, Recording
from tierlab.exchange.har_fields import counted, shown
from tierlab.values.quantities import SECOND
from tierlab.workloads.own.page_kinds import kind
from tierlab.workloads.own.site import PAGES, Site, host_key, is_near
from tierlab.workloads.own.steps import LONGEST_THINK_S, METHODS, OPEN_NS, Visit, is_resource

MOST_HOSTS = 4
"""Hosts that a sentence lists."""


def notes_of(name: str, recording: Recording, visit: Visit) -> list[str]:
    """Return the sentences on the recording of this name: what of the file cannot be read, which
    requests are left out, and what users do in another way than the browser did.
    """
    found = [
        *recording.notes,
        *_names(visit.site),
        *_other_hosts(visit),
        *_left_out(visit),
        *_slow(visit),
        *_bodies(visit),
        *_pauses(visit),
        *_texts(visit),
    ]
    return [f"{name}: {each}." for each in found]


def _names(site: Site) -> Iterator[str]:
    if len(site.names) > 1:
        listed = ", ".join(map(shown, site.names))
        yield (
            f"{listed} are taken for one host, and users ask the first server of the system for"
            " their pages; if they are different servers, record a visit to each"
        )


def _other_hosts(visit: Visit) -> Iterator[str]:
    elsewhere = visit.left_out.get("elsewhere", ())
    asked = [each for each in elsewhere if not is_resource(each)]
    site = shown(visit.site.name)
    if near := [each for each in asked if is_near(each.host, visit.site.name)]:
        yield (
            f"{_of_all(near, visit)} to {_hosts(near)} and {_are(near)} left out: users ask {site}"
            " alone; to have all in the load, say in sessions which server of the system it is:"
            f' servers = {{ "{shown(host_key(near[0].host))}" = "NAME" }}; or put a reverse proxy'
            " before the servers, make it the first server of the system, and record through it;"
            f" {_instead(site)}"
        )
    if far := [each for each in asked if not is_near(each.host, visit.site.name)]:
        yield (
            f"{_of_all(far, visit)} to {_hosts(far)} and {_are(far)} left out: users ask {site}"
            f" alone; {_instead(site)}"
        )
    if parts := [each for each in elsewhere if is_resource(each)]:
        what = counted(len(parts), "style, script or picture", "styles, scripts and pictures")
        yield (
            f"{what} of {_listed(parts)} {_are(parts)} left out: users ask {site} alone; if your"
            " application is to serve them, record a visit in which it does"
        )


def _instead(site: str) -> str:
    return f"to have another host asked instead, remove the entries of {site} from the recording"


def _of_all(listed: Sequence[Exchange], visit: Visit) -> str:
    goes = "goes" if len(listed) == 1 else "go"
    return f"{len(listed)} of {counted(visit.asked, 'request')} {goes}"


def _are(listed: Sequence[object]) -> str:
    return "is" if len(listed) == 1 else "are"


def _hosts(listed: Sequence[Exchange]) -> str:
    return f"{_listed(listed)} ({_examples(listed)})"


def _listed(exchanges: Sequence[Exchange]) -> str:
    """The hosts, those with most requests first."""
    counts = Counter(host_key(each.host) for each in exchanges).most_common()
    if len(counts) == 1:
        return shown(counts[0][0])
    told = ", ".join(f"{shown(host)} ({count})" for host, count in counts[:MOST_HOSTS])
    more = len(counts) - MOST_HOSTS
    return f"{told} and {counted(more, 'other host')}" if more > 0 else told


def _example(exchange: Exchange) -> str:
    """A request without what may be secret in its address."""
    return shown(f"{exchange.method} {kind(exchange.target)}")


def _examples(listed: Sequence[Exchange]) -> str:
    return f"{_example(listed[0])}{', ...' if len(listed) > 1 else ''}"


def _left_out(visit: Visit) -> Iterator[str]:
    """The requests to the site that are not repeated."""
    if streams := visit.left_out.get("stream"):
        what = counted(len(streams), "websocket or event stream", "websockets and event streams")
        yield (
            f"{what} ({_examples(streams)}) {_are(streams)} left out: users send requests and wait"
            " for their replies, and these have no end; the load lacks what they cost"
        )
    if polls := visit.left_out.get("open"):
        seconds = (polls[0].end_ns - polls[0].start_ns) / SECOND
        yield (
            f"{counted(len(polls), 'long poll')} ({_example(polls[0])}, open for {seconds:,.0f} s)"
            f" {_are(polls)} left out: the browser went on while waiting, and users would not; if"
            " such a request is work of your application, record a visit that waits for it"
        )
    if bare := visit.left_out.get("unanswered"):
        yield (
            f"{counted(len(bare), 'request')} without a reply in the recording"
            f" ({_examples(bare)} in entry {bare[0].number}) {_are(bare)} left out; if users are to"
            " send them, record the visit again and wait for the replies"
        )
    if failed := visit.left_out.get("failed"):
        yield (
            f"{counted(len(failed), 'request')} that failed in the recording ({_example(failed[0])}"
            f" with status {failed[0].status}) {_are(failed)} left out; if users are to send them,"
            " record a visit in which they work"
        )
    if others := visit.left_out.get("method"):
        methods = ", ".join(sorted({shown(each.method) for each in others}))
        yield (
            f"{counted(len(others), 'request')} by {methods} ({_examples(others)}) {_are(others)}"
            f" left out; users send {', '.join(sorted(METHODS))} alone"
        )


def _slow(visit: Visit) -> Iterator[str]:
    """Requests that may be long polls, for which nobody waited."""
    asked = [step.exchange for step in visit.steps if step.exchange.reply_type not in PAGES]
    if slow := [each for each in asked if each.end_ns - each.start_ns >= OPEN_NS]:
        seconds = (slow[0].end_ns - slow[0].start_ns) / SECOND
        yield (
            f"{counted(len(slow), 'request')} took {OPEN_NS // SECOND} s or more"
            f" ({_example(slow[0])} took {seconds:,.0f} s), and users wait for the reply before"
            " they go on; if that is a long poll, remove its entries from the recording"
        )


def _bodies(visit: Visit) -> Iterator[str]:
    if wanting := [each.exchange for each in visit.steps if each.exchange.lacking]:
        rest = f", and {len(wanting) - 1} more lack something" if len(wanting) > 1 else ""
        yield (
            f"{counted(len(wanting), 'request')} cannot be sent as the browser did:"
            f" {_example(wanting[0])} lacks {shown(wanting[0].lacking)}{rest}; see by tierlab check"
            " whether your application takes it, or leave it out of the visit"
        )


def _pauses(visit: Visit) -> Iterator[str]:
    if visit.pauses_ns:
        longest = max(visit.pauses_ns) / SECOND
        yield (
            f"{counted(len(visit.pauses_ns), 'pause')} over {LONGEST_THINK_S} s (the longest of"
            f" {longest:,.0f} s) {_are(visit.pauses_ns)} taken as think times of"
            f" {LONGEST_THINK_S} s, as in a log; record the visit without such pauses, or set"
            ' think = "load"'
        )


def _texts(visit: Visit) -> Iterator[str]:
    """Replies whose text the file lacks, from which nothing can be taken."""
    replies = [step.replies[-1] for step in visit.steps]
    telling = [each for each in replies if each.reply_type in PAGES or "json" in each.reply_type]
    if bare := [each for each in telling if not each.reply and each.reply_size > 0]:
        yield (
            f"{len(bare)} of {counted(len(telling), 'reply', 'replies')} with a page or JSON"
            f" ({_examples(bare)}) {_are(bare)} in the recording without content, so users send"
            " ids and tokens as they were recorded; save the recording with content"
        )
