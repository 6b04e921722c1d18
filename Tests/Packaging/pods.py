"""Pods of the manifests as far as a machine without Kubernetes can have them: each in a network namespace, with the records
of the headless services in its DNS, its volumes as folders, its settings and commands as they stand."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

import requests
import yaml

import operators
from conftest import PROGRAMS
from hosts import Host
from manager import REPOSITORY

MANIFESTS = REPOSITORY / "deploy/kubernetes"


def build(overlay):
    """The objects of an overlay, by kind and name."""
    done = subprocess.run(
        [os.environ["KUBECTL"], "kustomize", MANIFESTS / overlay], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return {(made["kind"], made["metadata"]["name"]): made for made in yaml.safe_load_all(done.stdout)}


def settings(made, container, pod, secrets):
    """A container's environment. `secrets` holds the variables of each Secret that the operator creates."""
    found = {}
    for source in container.get("envFrom", []):
        if "configMapRef" in source:
            found |= made["ConfigMap", source["configMapRef"]["name"]]["data"]
        else:
            found |= secrets[source["secretRef"]["name"]]
    for entry in container.get("env", []):
        field = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        assert field in (None, "metadata.name")
        found[entry["name"]] = pod if field else entry["value"]
    return found


class Pod:
    """One pod of a workload."""

    def __init__(self, folder, made, workload, name, switch, number):
        self.made, self.name = made, name
        self.spec = workload["spec"]["template"]["spec"]
        self.container = self.spec["containers"][0]
        self.folder = folder / name
        self.host = Host(switch, number)
        self.process = None

    def mount(self, files):
        """Makes the volumes; `files` holds the contents of each Secret with files."""
        user = self.spec["securityContext"]["runAsUser"]
        self.folder.mkdir()
        for volume in self.spec.get("volumes", []):
            place = self.folder / volume["name"]
            place.mkdir(parents=True)
            shutil.chown(place, 0 if "secret" in volume else user, self.spec["securityContext"]["fsGroup"])
            secret = volume.get("secret", {})
            contents = files.get(secret.get("secretName"), {})
            for item in secret.get("items", [{"key": key, "path": key} for key in contents]):
                path = place / item["path"]
                path.write_bytes(contents[item["key"]])
                # As Kubernetes does it: root's, and readable for the group of the pod.
                path.chmod((secret.get("defaultMode", 0o644)) | 0o040)
                shutil.chown(path, 0, self.spec["securityContext"]["fsGroup"])

    def local(self, container, text):
        """A text of the manifest with the folders of the test."""
        for mount in container.get("volumeMounts", []):
            text = text.replace(mount["mountPath"], str(self.folder / mount["name"]))
        return text

    def run(self, container, variables, log, resolver="/etc/resolv.conf"):
        """Starts a container's command as its user, with the names that a resolver knows."""
        environment = {"PATH": f"{PROGRAMS}:/usr/bin:/bin", "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        environment |= {name: self.local(container, value) for name, value in variables.items()}
        context = self.spec["securityContext"]
        script = 'mount --bind "$0" /etc/resolv.conf; exec "$@"'
        return self.host.run(
            "unshare", "--mount", "bash", "-c", script, resolver,
            "setpriv", f"--reuid={context['runAsUser']}", f"--regid={context['runAsGroup']}",
            f"--groups={context['fsGroup']}", "--no-new-privs", "--",
            *[self.local(container, word) for word in container["command"]],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def start(self, secrets, resolver):
        with open(self.folder / "log", "ab") as log:
            for first in self.spec.get("initContainers", []):
                assert self.run(first, settings(self.made, first, self.name, secrets), log).wait(10) == 0, self.tail()
            variables = settings(self.made, self.container, self.name, secrets)
            self.process = self.run(self.container, variables, log, str(resolver))

    def port(self, name):
        return next(port["containerPort"] for port in self.container["ports"] if port["name"] == name)

    def passes(self, probe):
        """Whether a probe of the manifest succeeds now."""
        get = self.container[probe]["httpGet"]
        with contextlib.suppress(requests.RequestException):
            url = f"http://{self.host.address}:{self.port(get['port'])}{get['path']}"
            return requests.get(url, timeout=self.container[probe]["timeoutSeconds"]).status_code == 200
        return False

    def knows(self, stage, count):
        """Whether its set of a stage has this number of instances."""
        daemon = self.container["command"][0].removeprefix("touchsync-")
        url = f"http://{self.host.address}:{self.port('admin')}/metrics"
        metrics = requests.get(url, headers=operators.fields(), timeout=2).text
        return f'touchsync_set_instances{{set="{stage}"}} {count}\n' in metrics

    def end(self):
        """As Kubernetes ends it, but for the pause of preStop; returns the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(self.spec["terminationGracePeriodSeconds"])
        return time.monotonic() - began

    def tail(self):
        return f"{self.name}:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}"

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.host.close()


DOMAIN = "touchsync.svc.cluster.local"


def records(made, pods):
    """What the cluster's DNS knows: of each headless service's port the pods behind it, and where each pod is."""
    found = {}
    for (kind, name), service in made.items():
        if kind != "Service" or service["spec"].get("clusterIP") != "None":
            continue
        stage = service["spec"]["selector"]["app.kubernetes.io/component"]
        mine = [pod for pod in pods if pod.name.startswith(f"touchsync-{stage}-")]
        found[f"{name}.{DOMAIN}"] = [pod.host.address for pod in mine]
        behind = {f"{pod.name}.{name}.{DOMAIN}": pod for pod in mine}
        found |= {host: [pod.host.address] for host, pod in behind.items()}
        for port in service["spec"]["ports"]:
            found[f"_{port['name']}._tcp.{name}.{DOMAIN}"] = [(host, port["port"]) for host in behind]
    return found


def resolver_file(address):
    """A pod's resolv.conf."""
    return f"nameserver {address}\nsearch {DOMAIN} svc.cluster.local cluster.local\noptions ndots:5\n"
