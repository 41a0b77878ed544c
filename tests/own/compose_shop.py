"""The shop of apps/shop as a compose file of images made here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.own.made_images import made_image

SHOP = Path(__file__).parents[2] / "apps" / "shop"
SECRET = "hunter2-of-the-shop"
POSTGRESQL = next(iter(sorted(Path("/usr/lib/postgresql").glob("*"), reverse=True)), Path())
ENTRY = f"""\
#!/bin/sh
set -e
if [ ! -f /data/db/PG_VERSION ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  {POSTGRESQL}/bin/initdb --pgdata=/data/db --username=shop --no-locale --encoding=UTF8 --no-sync \\
    --auth-local=trust --auth-host=scram-sha-256 --pwfile=/tmp/password
  echo "host all all all scram-sha-256" >>/data/db/pg_hba.conf
fi
exec {POSTGRESQL}/bin/postgres -D /data/db -k /tmp -c fsync=off "$@"
"""
COMPOSE = """\
services:
  shop-front:
    image: {shop}
    env_file: shop.env
    environment:
      HOST: 0.0.0.0
      PGHOST: database
      PGUSER: shop
      PGDATABASE: postgres
      REDIS_URL: redis://cache:6379
      PRODUCTS: "${{PRODUCTS:-200}}"
    ports:
      - "8080:3000"
    depends_on:
      database:
        condition: service_healthy
      cache:
        condition: service_started
    restart: unless-stopped
  database:
    image: {db}
    command: ["-c", "listen_addresses=*"]
    environment:
      - POSTGRES_PASSWORD=${{SHOP_PASSWORD}}
    volumes:
      - data:/data
    healthcheck:
      test: ["CMD", "{postgresql}/bin/pg_isready", "--quiet", "--host=127.0.0.1"]
      interval: 1s
  cache:
    image: {cache}
    volumes:
      - ./redis.conf:/etc/redis.conf
volumes:
  data:
"""
EXPERIMENT = """\
[experiment]
name = "t"
[system]
workload = "own"
environment = "podman"
compose = "docker-compose.yml"
sessions = { start = "/", pages = ["/products/*", "/categories/*"] }
shopfront = { ready = "/health" }
[load]
users = 5
think = "200ms"
phases = { ramp_up = "0s", runtime = "2s", ramp_down = "0s" }
"""


@contextmanager
def compose_shop(place: Path) -> Iterator[None]:
    """Make the images and the files in `place`; the images go when the context ends."""
    images = place / "images"
    with ExitStack() as stack:
        shop = stack.enter_context(
            made_image(
                "shop",
                images,
                programs=["node"],
                trees={
                    f"/app/{name}": SHOP / name for name in ("main.js", "source", "node_modules")
                }
                | {"/app/package.json": SHOP / "package.json"},
                lines=["WORKDIR /app", "USER shop", "EXPOSE 3000", 'CMD ["node", "main.js"]'],
            )
        )
        db = stack.enter_context(_database(images))
        cache = stack.enter_context(
            made_image(
                "cache",
                images,
                programs=["redis-server"],
                lines=["EXPOSE 6379", 'CMD ["redis-server", "/etc/redis.conf"]'],
            )
        )
        shutil.rmtree(images)
        (place / "redis.conf").write_text("bind 0.0.0.0\nprotected-mode no\nsave ''\n")
        (place / "shop.env").write_text(f"PGPASSWORD={SECRET}\n")
        (place / ".env").write_text(f"SHOP_PASSWORD={SECRET}\n")
        text = COMPOSE.format(shop=shop, db=db, cache=cache, postgresql=POSTGRESQL)
        (place / "docker-compose.yml").write_text(text)
        (place / "e.toml").write_text(EXPERIMENT)
        yield


@contextmanager
def _database(place: Path) -> Iterator[str]:
    entry = place / "entry"
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(ENTRY)
    entry.chmod(0o755)
    version = POSTGRESQL.name
    modules = [f"{POSTGRESQL}/lib/{name}.so" for name in ("dict_snowball", "plpgsql")]
    programs = [f"{POSTGRESQL}/bin/{name}" for name in ("initdb", "postgres", "pg_isready")]
    with made_image(
        "db",
        place,
        programs=[*programs, *modules, "/bin/sh"],
        trees={
            "/entry": entry,
            f"/usr/share/postgresql/{version}": Path(f"/usr/share/postgresql/{version}"),
            "/usr/share/zoneinfo/UTC": Path("/usr/share/zoneinfo/UTC"),
            "/usr/share/zoneinfo/GMT": Path("/usr/share/zoneinfo/GMT"),
        },
        lines=[
            "COPY --chown=1234:1234 tmp /data",
            "USER shop",
            "EXPOSE 5432",
            "STOPSIGNAL SIGINT",
            'ENTRYPOINT ["/entry"]',
        ],
    ) as name:
        yield name
