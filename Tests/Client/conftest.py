"""The pipeline suite's fixtures, and clients."""

import functools
import pathlib
import re
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "PipelineTests"))

from browser_pages import Browsers, ClientPage  # noqa: E402
from client_process import DRIVERS, ClientProcess  # noqa: E402
from pipeline import running  # noqa: E402

KINDS = [*sorted(DRIVERS), "chromium"]
SECRET = "a secret of at least thirty-two bytes, for tests"


@pytest.fixture(scope="session")
def single():
    """One of each daemon, in open mode."""
    with running() as pipeline:
        yield pipeline


@pytest.fixture
def room(request):
    """A room that no other test uses."""
    return re.sub(r"[^\w.:-]", ".", request.node.name)[-60:]


@pytest.fixture(params=KINDS)
def kind(request):
    """Which client it is: the others do the same."""
    return request.param


@pytest.fixture(scope="session")
def browsers():
    made = Browsers()
    yield made
    made.close()


@pytest.fixture
def clients_of(browsers):
    """Makes clients of any kind, and ends them afterwards."""
    made = []

    def make(kind, url, user=None, **options):
        options |= {"userId": user} if user else {}
        made.append(ClientPage(browsers, url, **options) if kind == "chromium" else ClientProcess(kind, url, **options))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def clients(kind, clients_of):
    """Makes clients of the test's kind."""
    return functools.partial(clients_of, kind)


@pytest.fixture
def two(single, clients, room):
    """Two clients in a room: (ada, bob)."""
    return clients(single.url, "ada").enter(room), clients(single.url, "bob").enter(room)
