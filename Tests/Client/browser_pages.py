"""Pages in headless browsers, and clients in them that are spoken to as those in processes are."""

import contextlib
import http.server
import json
import os
import pathlib
import signal
import threading

from client_process import DrivenClient, wait_stopped
from clients.chromium import Browser
from pipeline import eventually

HERE = pathlib.Path(__file__).resolve().parent
# Any document of a gateway; scripts are the test's.
BLANK = "/client/touchsync.js"


class Page:
    """A page of a browser, in which the test's scripts may do whatever the page's policy forbids its own."""

    def __init__(self, browser, url):
        self.browser = browser
        self.target = browser.run("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.run("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.run("Page.setBypassCSP", self.session, enabled=True)
        browser.run("Page.navigate", self.session, url=url)
        loaded = f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'"
        eventually("the page is there", lambda: self.run(loaded), within=30)

    def run(self, expression):
        """The value of an expression, awaited."""
        result = self.browser.run(
            "Runtime.evaluate", self.session, expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def close(self):
        """Returns when it is gone, with what it held."""
        self.browser.run("Target.closeTarget", targetId=self.target)
        eventually("the page is gone", lambda: self.target not in self._targets())

    def _targets(self):
        return {target["targetId"] for target in self.browser.run("Target.getTargets")["targetInfos"]}


class UserBrowser(Browser):
    """The browser of one user."""

    def signal(self, how):
        """To all of its processes: they are in the group that it leads."""
        os.killpg(self.process.pid, how)


class ScriptServer:
    """Gives pages of every origin the scripts in this folder."""

    def __init__(self):
        class Handler(http.server.SimpleHTTPRequestHandler):
            extensions_map = {".mjs": "text/javascript"}

            def __init__(self, *arguments):
                super().__init__(*arguments, directory=HERE)

            def end_headers(self):
                self.send_header("Access-Control-Allow-Origin", "*")
                super().end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Browsers:
    """A browser for each user, started when it is needed: a browser is a device, with its own store."""

    def __init__(self):
        self.scripts = ScriptServer()
        self.by_user = {}

    def __getitem__(self, user):
        if user not in self.by_user:
            self.by_user[user] = UserBrowser()
        return self.by_user[user]

    def close(self):
        for browser in self.by_user.values():
            browser.close()
        self.scripts.close()


class ClientPage(DrivenClient):
    """A client of web pages in a page of the gateway."""

    def __init__(self, browsers, url, **options):
        super().__init__()
        self.browser = browsers[options.get("userId", "ada")]
        self.url, self.script, self.store = url, f"{browsers.scripts.url}/page.mjs", options.get("store")
        self.is_closed = False
        self.page = self._open()
        self.browser.listeners[self.page.session] = self._happened
        self.browser.run("Runtime.addBinding", self.page.session, name="report")
        self.page.run(f"""import({json.dumps(self.script)}).then(({{ driver }}) => {{
            globalThis.driver = driver({json.dumps({"url": url, **options})});
        }})""")

    def _open(self):
        return Page(self.browser, self.url + BLANK)

    def _happened(self, method, parameters):
        if method == "Runtime.bindingCalled":
            self._received(json.loads(parameters["payload"]))

    def _send(self, command):
        # Not waited for: what it reports is the answer.
        self.browser.send("Runtime.evaluate", self.page.session, expression=f"void driver.perform({json.dumps(command)})")

    def pids(self):
        """The processes in which pages run."""
        processes = self.browser.run("SystemInfo.getProcessInfo")["processInfo"]
        return [process["id"] for process in processes if process["type"] == "renderer"]

    @contextlib.contextmanager
    def frozen(self):
        """The whole browser does nothing."""
        self.browser.signal(signal.SIGSTOP)
        wait_stopped(self.browser.process)
        try:
            yield
        finally:
            self.browser.signal(signal.SIGCONT)

    def kept(self):
        """What its store has, as texts."""
        page = self._open() if self.is_closed else self.page
        try:
            return page.run(f"import({json.dumps(self.script)}).then(({{ kept }}) => kept({json.dumps(self.store)}))")
        finally:
            if self.is_closed:
                page.close()

    def close(self):
        if not self.is_closed:
            self.page.run("driver.close()")
            self.page.close()
            self.is_closed = True
