"""A plain proxy in front of gateways: haproxy, which sends each request to the next one and knows no sessions."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile

import requests

import ports
from pipeline import eventually

CONFIGURATION = """
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    timeout tunnel 1h
    # A gateway that stops listening: the next one at once, not after a pause.
    option redispatch 1
frontend apps
    bind 127.0.0.1:{port}
    default_backend gateways
backend gateways
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
"""


class Proxy:
    """One running haproxy."""

    def __init__(self, urls):
        self.port = ports.free()
        self.url = f"http://127.0.0.1:{self.port}"
        self.gateways = [url.removeprefix("http://") for url in urls]
        self.process = None

    @contextlib.contextmanager
    def running(self):
        """The proxy for the length of a block, with all gateways in use."""
        program = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        assert program, "haproxy is missing; deploy/install.sh haproxy installs it"
        with tempfile.TemporaryDirectory(prefix="touchsync-proxy-") as folder:
            path = pathlib.Path(folder) / "haproxy.cfg"
            servers = [
                f"    server gateway-{index} {address} check inter 200ms fall 1 rise 1\n"
                for index, address in enumerate(self.gateways, 1)
            ]
            path.write_text(CONFIGURATION.format(port=self.port) + "".join(servers))
            with open(path.with_name("log"), "wb") as log:
                self.process = subprocess.Popen(
                    [program, "-db", "-f", str(path)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
                )
            try:
                eventually("the proxy listens", self._listens)
                yield self
            finally:
                self.process.kill()
                self.process.wait()

    def _listens(self):
        assert self.process.poll() is None, "haproxy ended"
        with contextlib.suppress(requests.RequestException):
            return requests.get(self.url + "/healthz", timeout=2).status_code == 200
        return False
