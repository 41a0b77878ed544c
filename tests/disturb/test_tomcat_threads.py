"""The threads of a Tomcat that speaks HTTP: it reads a request's head without any of them."""

from __future__ import annotations

import http.client
import time

import pytest

from tests.disturb.conftest import LEAD, MS, SLOWER, Disturb, Domain, at, entry
from tests.pace import wait_until
from tierlab.environments.network.netns import Namespace
from tierlab.workloads.rubbos.shape import APPLICATION_LIBRARIES

ADDRESS, PORT, THREADS = "127.0.2.1", 8080, 4
PROGRAM = f"""
import jakarta.servlet.http.*;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

public class Form extends HttpServlet {{
    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) {{
        request.getParameter("name");
    }}

    public static void main(String[] arguments) throws Exception {{
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat");
        tomcat.setPort({PORT});
        tomcat.getConnector().setProperty("address", "{ADDRESS}");
        tomcat.getConnector().setProperty("maxThreads", "{THREADS}");
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "form", new Form());
        context.addServletMappingDecoded("/", "form");
        tomcat.start();
        tomcat.getServer().await();
    }}
}}
"""


@pytest.fixture
def tomcat(domain: Domain) -> Namespace:
    """One with few threads, and a page that reads a form."""
    (domain.folder / "Form.java").write_text(PROGRAM)
    jars = ":".join(map(str, APPLICATION_LIBRARIES.glob("tomcat-*.jar")))
    with (domain.folder / "log").open("wb") as log:
        domain.start(
            *("java", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", jars, "Form.java"),
            stdout=log,
            stderr=log,
        )
    namespace = Namespace(domain.namespace)
    wait_until(lambda: answers(namespace, 5), "Tomcat's start", 60)
    return namespace


def answers(namespace: Namespace, timeout: float) -> bool:
    """Whether a page comes in time."""
    connection = http.client.HTTPConnection(ADDRESS, PORT, timeout=timeout)

    def get() -> bool:
        try:
            connection.request("GET", "/")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    return namespace.inside(get)


def test_held_threads_of_a_tomcat_that_speaks_http_keep_the_next_client_waiting_until_the_end(
    domain: Domain, disturb: Disturb, tomcat: Namespace
) -> None:
    where = {"address": ADDRESS, "port": PORT, "protocol": "http", "whole_head": True}
    run = disturb(
        entry(domain, 1, "pool", LEAD, 800 * MS, resource="threads", hold=THREADS, **where)
    )
    at(run.start_ns())
    wait_until(lambda: not answers(tomcat, 0.1), "the holding", 0.5)
    assert answers(tomcat, 10)
    answered = time.time_ns()
    (truth,) = run.finish()
    assert run.end_ns() <= answered < truth["end_ns"] + 500 * MS * SLOWER
