"""The systems that a proof can be made on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

ANYWHERE = ("burst", "cpu", "disk", "freeze", "loss", "memory", "network", "quota", "weight")


@dataclass(frozen=True)
class System:
    """A workload, the mix of its users, how many of them two cores serve at most once all is warm,
    and the classes of disturbance that can be injected into it. ``paired`` are the servers at
    which one of two at once may happen, by class; none where there are no two. The ``capacity``
    here is where the search for today's begins (:mod:`capacity`); ``loads`` are the load levels.

    ``times`` is how often a trial has each class, ``slower`` how many times as long it takes there
    until what piled up is worked off, and ``lengths`` the keys of the file that say how long those
    last, if not as long as elsewhere.

    ``name`` is what the proof is asked for by, ``system`` and ``load`` what else those tables of an
    experiment file say; ``tables`` are those that class ``lock`` takes one of, where the workload
    knows of none.
    """

    workload: str
    mix: str | None
    capacity: int
    classes: tuple[str, ...]
    paired: dict[str, list[str]]
    system: str = ""
    load: str = ""
    tables: tuple[str, ...] = ()
    called: str = ""
    loads: tuple[str, ...] = ("low", "middle", "high")
    times: int = 1
    slower: float = 1.0
    lengths: str = ""

    @property
    def name(self) -> str:
        """As ``--workload`` has it."""
        return self.called or self.workload


def _one_core(*tiers: str) -> str:
    """The tables by which all tiers' servers share a CPU."""
    return "".join(f"\n[system.{name}.mapping]\npus = [0]\n" for name in tiers)


RUBBOS = System(
    "rubbos",
    "read-write",
    6500,  # 911 to 1,051 requests/s at saturation, thinking for 7 s, on a machine that others used
    tuple(
        sorted(
            {*ANYWHERE, "checkpoint", "cold_cache", "gc", "lock", "pool", "restart", "slow_clients"}
        )
    ),
    {
        "freeze": ["web.1", "app.1", "lb.1", "db.1"],
        "gc": ["app.1"],
        "lock": ["db.1"],
        "memory": ["db.1"],
        "pool": ["app.1"],
        "cpu": ["web.1", "app.1", "db.1"],
    },
)
RUBIS = System(
    "rubis",
    "bidding",
    7500,  # 857 requests/s of 6,000 users kept two cores 74 % busy; 8,000 wait for a CPU
    # Nothing collects garbage.
    tuple(sorted({*ANYWHERE, "checkpoint", "cold_cache", "lock", "pool"})),
    {
        "freeze": ["web.1", "app.1", "db.1"],
        "lock": ["db.1"],
        "memory": ["db.1"],
        "pool": ["app.1"],
        "cpu": ["web.1", "app.1", "db.1"],
        "quota": ["web.1", "app.1", "db.1"],
    },
)
OLIO = System(
    "olio",
    None,
    750,  # 200 operations/s took 6.9 ms of CPU time each beside others; users begin one every 5 s
    # Pictures and pages are PHP's: nothing collects garbage.
    tuple(sorted({*ANYWHERE, "checkpoint", "cold_cache", "lock", "pool"})),
    {
        "freeze": ["web.1", "app.1", "cache.1", "geocoder.1", "db.1"],
        "lock": ["db.1"],
        "memory": ["db.1"],
        "pool": ["app.1"],
        "cpu": ["web.1", "app.1", "db.1"],
        "quota": ["web.1", "app.1", "db.1"],
    },
    # The data grow with the users, who each have people of their own to log in as, and up to 1.8
    # times as many users come as are served. So the servers share one core, and the data of twice
    # as many users need not be made: they take minutes, once for all trials.
    system=f"""scale = 1.35
data_seed = 1
{_one_core("web", "app", "cache", "geocoder", "db")}
[system.db.soft]
buffer_pool = "512MiB"
""",
)
SHOP = System(
    "own",
    None,
    11_000,  # 2,633 requests/s of 7,872 users kept two cores 64 % busy, thinking for 3 s
    # One thread takes all connections at once: no worker can be held, by slow clients or others.
    tuple(sorted({*ANYWHERE, "checkpoint", "cold_cache", "lock"})),
    {
        "freeze": ["shop.1", "store.1", "cache.1"],
        "lock": ["store.1"],
        "memory": ["store.1"],
        "cpu": ["shop.1", "store.1"],
        "quota": ["shop.1", "store.1"],
    },
    # One process for each of two cores, as each works in one thread. Each page is forgotten by the
    # cache after a second, so that the database has a part in many.
    system=f"""
[system.shop]
server = "nodejs"
count = 2
folder = "{Path(__file__).parents[2] / "apps" / "shop"}"
port = 3000
ready = "/health"

[system.shop.environment]
PGHOST = "{{store.address}}"
PGUSER = "{{store.user}}"
PGPASSWORD = "{{store.password}}"
PGDATABASE = "{{store.database}}"
REDIS_URL = "redis://{{cache}}"
POOL = "{{pool}}"
CACHE_SECONDS = "1"
PRODUCTS = "20000"

[system.store]
server = "postgresql"

[system.cache]
server = "redis"

[system.sessions]
start = ["/", "/search?words=lamp", "/search?words=green"]
pages = ["/products/*", "/categories/*", "/basket"]
length = 5
""",
    load='think = "3s"\n',
    tables=("category", "product", "review"),
    called="shop",
)
# Xen and all that it runs is emulated, and takes some 25 times as long as here.
STOLEN = System(
    "static",
    None,
    16,  # 11 requests/s of 8 users kept two cores, which emulate four, 40 % busy; not searched for
    ("steal",),
    {},
    system="""environment = "xen"
[system.web]
count = 2
memory = "384MiB"
mapping = { place = "package:1.core:{n}" }
[observe]
interval = "10ms"
""",
    load='think = "700ms"\nimages = false\n',
    called="stolen",
    loads=("middle",),
    times=12,
    slower=3.5,
    lengths='shortest = "1250ms"\nlongest = "8s"\n',
)
STOLEN_TIERS = replace(
    STOLEN,
    workload="rubbos",
    capacity=10,  # 1.1 requests/s of 4 users kept them 57 % busy
    # The balancer, which next to nothing is enough for, is with the web server. A PU is left to
    # domain 0, which may run on all of them.
    system="""environment = "xen"
scale = 0.002
[system.web.mapping]
pus = [1]
[system.app.mapping]
pus = [2]
[system.lb.mapping]
pus = [1]
[system.db.mapping]
pus = [3]
[observe]
interval = "10ms"
""",
    load='think = "3s"\nimages = false\n',
    called="stolen-tiers",
    times=10,
)
SYSTEMS = {each.name: each for each in (RUBBOS, RUBIS, OLIO, SHOP, STOLEN, STOLEN_TIERS)}
