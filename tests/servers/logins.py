"""Who a trial's database lets in: the one account of this trial, on TCP and on its socket."""

from __future__ import annotations

import pymysql
import pytest
from talk import query, running

from tierlab.deploy.system import System
from tierlab.environments.native.native import Native
from tierlab.servers.base import NotReadyError
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.greetings import mysql_login
from tierlab.servers.mariadb_options import DATA, SOCKET

GUESSES = (("root", ""), ("root", "root"), ("rubbos", "rubbos"), ("rubbos", ""), ("", ""))


def check_nobody_logs_in_without_the_trials_own_password(system: System, native: Native) -> None:
    """Neither at the database nor through the balancer, by TCP or by its socket."""
    database, balancer = running(system, "db.1"), running(system, "lb.1")
    for place in (database.endpoint, balancer.endpoint):
        for user, password in GUESSES:
            assert refused(native, place, user, password), (place, user, password)
        assert query(native, system, place, "SELECT 1") == [(1,)]
    socket = str(database.folder / DATA / SOCKET)
    for user, password in GUESSES:
        with pytest.raises(pymysql.MySQLError, match="Access denied"):
            pymysql.connect(unix_socket=socket, user=user, password=password)


def refused(native: Native, place: Endpoint, user: str, password: str) -> bool:
    link = native.connect(place.address, place.port, timeout=20)
    try:
        mysql_login(link, user, password).close()
    except NotReadyError as error:
        return "Access denied" in str(error)
    return False
