/usr/bin/python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install -r "$SOURCE/requirements.txt"
mkdir -p web app
cp "$SOURCE/Caddyfile" web/
/usr/bin/python3 - <<'END'
import sqlite3

shop = sqlite3.connect("app/shop.db")
for table in ("items", "orders", "people"):
    shop.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price INTEGER)")
    rows = ((f"{table} {n}", f"kind {n % 7}", n % 90) for n in range(5000))
    shop.executemany(f"INSERT INTO {table} (name, kind, price) VALUES (?, ?, ?)", rows)
shop.commit()
END
