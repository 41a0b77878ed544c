# Makes the data folder of a database, as its owner's user, with what SQL files say. Sourced by set-ups.

# A set-up that fails leaves no server running.
mariadb_process=
postgresql_place=
end_databases() {
    [ -z "$mariadb_process" ] || kill "$mariadb_process" 2>/dev/null || true
    [ -z "$postgresql_place" ] || postgresql_stop "$postgresql_place" || true
}
trap end_databases EXIT

# mariadb_data FOLDER FILE...: FOLDER/data, where anybody on the trial's network may log in as shop.
mariadb_data() {
    place=$(realpath -m "$1")
    shift
    mkdir -p "$place/data" && chown -R nobody "$place"
    mariadb-install-db --no-defaults --datadir="$place/data" --user=nobody \
        --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=16M >/dev/null
    mariadb_start "$place"
    mariadb --no-defaults --socket="$place/made.sock" -e "CREATE DATABASE shop CHARACTER SET utf8mb4;
        CREATE USER shop@'%' IDENTIFIED BY 'shop'; GRANT ALL ON *.* TO shop@'%' WITH GRANT OPTION;"
    for file in "$@"; do
        mariadb --no-defaults --socket="$place/made.sock" shop <"$file"
    done
    mariadb_stop "$place"
    cat >"$place/my.cnf" <<-END
	[mysqld]
	skip-name-resolve
	innodb_log_file_size = 16M
	general_log = ON
	log_output = TABLE
	END
}

# mariadb_start FOLDER [PORT]: with a port it listens at 127.0.0.1, too.
mariadb_start() {
    mariadbd --no-defaults --datadir="$1/data" --socket="$1/made.sock" --user=nobody --innodb-log-file-size=16M \
        --pid-file="$1/made.pid" --bind-address=127.0.0.1 --skip-name-resolve \
        $([ $# -gt 1 ] && echo "--port=$2" || echo --skip-networking) >"$1/made.log" 2>&1 &
    mariadb_process=$!
    for _ in $(seq 300); do
        mariadb --no-defaults --socket="$1/made.sock" -e 'SELECT 1' >/dev/null 2>&1 && return
        sleep 0.1
    done
    tail -n 3 "$1/made.log" >&2
    return 1
}

mariadb_stop() {
    mariadb --no-defaults --socket="$1/made.sock" -e SHUTDOWN
    wait "$mariadb_process"
    mariadb_process=
    rm -f "$1"/made.*
}

# postgresql_data FOLDER FILE...: FOLDER/data, where anybody on the trial's network is shop, who may do all.
POSTGRESQL=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
postgresql_data() {
    place=$(realpath -m "$1")
    shift
    mkdir -p "$place" && chown nobody "$place"
    setpriv --reuid nobody --regid nogroup --clear-groups "$POSTGRESQL/initdb" --pgdata="$place/data" \
        --username=shop --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    echo "host all all 0.0.0.0/0 trust" >>"$place/data/pg_hba.conf"
    postgresql_start "$place"
    psql -qh "$place" -U shop -d postgres -c "CREATE DATABASE shop"
    for file in "$@"; do
        psql -qh "$place" -U shop -d shop -v ON_ERROR_STOP=1 -f "$file" >/dev/null
    done
    postgresql_stop "$place"
    cat >>"$place/data/postgresql.conf" <<-END
	unix_socket_directories = '.'
	log_statement = all
	log_line_prefix = '%n %p '
	logging_collector = off
	shared_buffers = 64MB
	synchronous_commit = off
	max_connections = 100
	END
}

# With a port it listens at 127.0.0.1, too: some set-up programs know no sockets.
postgresql_start() {
    setpriv --reuid nobody --regid nogroup --clear-groups "$POSTGRESQL/pg_ctl" start -w -D "$1/data" -l "$1/made.log" \
        -o "-c unix_socket_directories=$1 -c listen_addresses=${2:+127.0.0.1} -c port=${2:-5432} -c log_statement=none -c fsync=off" >/dev/null
    postgresql_place=$1
}

postgresql_stop() {
    setpriv --reuid nobody --regid nogroup --clear-groups "$POSTGRESQL/pg_ctl" stop -w -m fast -D "$1/data" >/dev/null
    postgresql_place=
    rm -f "$1"/made.*
}
