. "$TOOLS/databases.sh"
/usr/bin/python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install -r "$SOURCE/requirements.txt"
postgresql_data db
postgresql_start "$PWD/db" 15432
mkdir web
venv/bin/trac-admin web/project initenv shop postgres://shop:shop@127.0.0.1:15432/shop >/dev/null
psql -q -h "$PWD/db" -p 15432 -U shop -d shop <<'END'
SET search_path = trac, public;
INSERT INTO ticket (type, time, changetime, component, priority, owner, reporter, status, summary, description, milestone)
SELECT 'defect', 1.7e15 + n * 1e9, 1.7e15 + n * 1e9, 'component' || 1 + n % 2, 'major', 'ann', 'bob', 'new', 'Lamp ' || n || ' is dark',
    'The lamp of number ' || n || ' does not go on.', 'milestone' || 1 + n % 4 FROM generate_series(1, 400) AS n;
END
postgresql_stop "$PWD/db"
# Its logo is one that everybody is to replace, and is not there.
sed -i "s|site/your_project_logo.png|common/trac_banner.png|" web/project/conf/trac.ini
sed -i 's|127.0.0.1:15432|127.0.0.1:5432|' web/project/conf/trac.ini
chmod -R a+rwX web
