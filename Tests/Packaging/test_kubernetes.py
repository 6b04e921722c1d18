"""The manifests: they build, follow the schemas, say what the daemons say of themselves, and a pipeline runs by them."""

import collections
import contextlib
import pathlib
import re
import secrets as random
import shutil
import ssl
import subprocess
import tempfile

import kubernetes_validate
import psycopg
import pytest
import requests

import operators
import pipeline as pipelines
from app import App
from certificates import Certificate
from conftest import PROGRAMS
from hosts import Switch
from pods import Pod, build, records, resolver_file, settings
from resolver import Resolver

STAGES = ["coalescer", "committer", "fanout"]
OVERLAYS = ["overlays/example", "overlays/large"]
JWT = random.token_hex(32)


@pytest.fixture(scope="module", params=OVERLAYS)
def made(request):
    return build(request.param)


def workloads(made):
    return [found for (kind, _), found in made.items() if kind in ("Deployment", "StatefulSet")]


def is_stage(workload):
    return stage_of(workload) != "monitor"


def stage_of(workload):
    return workload["metadata"]["name"].removeprefix("touchsync-")


def variables(stage):
    """The environment variables that a daemon knows."""
    return set(re.findall(r"\b(TOUCHSYNC_\w+|DATABASE_URL)\b", help_of(stage)))


def command(stage):
    return ["touchsync", "monitor"] if stage == "monitor" else [f"touchsync-{stage}"]


def help_of(stage):
    program, *words = command(stage)
    return subprocess.run([PROGRAMS / program, *words, "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("overlay", [*OVERLAYS, "migrate"])
def test_everything_follows_the_schemas(overlay):
    made = build(overlay)
    assert made
    for found in made.values():
        kubernetes_validate.validate(found, "1.37", strict=True)


def test_settings_exist_and_are_meant_for_somebody(made):
    known = {stage: variables(stage) for stage in [*STAGES, "gateway", "monitor"]}
    for workload in workloads(made):
        container = workload["spec"]["template"]["spec"]["containers"][0]
        assert container["command"] == command(stage_of(workload))
        own = {entry["name"] for entry in container["env"]}
        assert own <= known[stage_of(workload)], own - known[stage_of(workload)]
        shared = next(source["configMapRef"]["name"] for source in container["envFrom"] if "configMapRef" in source)
        assert set(made["ConfigMap", shared]["data"]) <= set.union(*known.values())


def test_stages_find_each_other_by_the_records_of_their_services(made):
    for workload in filter(is_stage, workloads(made)):
        container = workload["spec"]["template"]["spec"]["containers"][0]
        given = settings(made, container, "x", {"touchsync-database": {}, "touchsync-tokens": {}, "touchsync-operator": {}})
        for stage in STAGES:
            peers = made["StatefulSet", f"touchsync-{stage}"]
            service = made["Service", peers["spec"]["serviceName"]]
            assert service["spec"]["clusterIP"] == "None" and service["spec"]["publishNotReadyAddresses"] is True
            ports = [port["containerPort"] for port in peers["spec"]["template"]["spec"]["containers"][0]["ports"]]
            assert [port["port"] for port in service["spec"]["ports"]] == ports
            assert given[f"TOUCHSYNC_{stage.upper()}S"] == (
                f"srv://_{service['spec']['ports'][0]['name']}._tcp.{service['metadata']['name']}")
            if stage_of(workload) == stage:
                assert given["TOUCHSYNC_BIND"].endswith(f":{ports[0]}")
        assert int(given["TOUCHSYNC_ADMIN_PORT"]) == container["ports"][-1]["containerPort"]


def test_a_drain_ends_before_kubernetes_loses_patience(made):
    """A daemon's drain has a limit of its own, which --help says."""
    for workload in workloads(made):
        limit = int(re.search(
            r"--drain-timeout-ms\n.*\n\s+a whole number of milliseconds from 0 to (\d+)", help_of(stage_of(workload)))[1])
        pod = workload["spec"]["template"]["spec"]
        pause = pod["containers"][0].get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["", "0"])
        assert pod["terminationGracePeriodSeconds"] >= int(pause[1]) + limit / 1000 + 5


def test_policies_and_budgets_cover_every_stage(made):
    """Whoever has a peer in its lists may connect to it, at its ports."""
    for workload in workloads(made):
        name = workload["metadata"]["name"]
        labels = workload["spec"]["template"]["metadata"]["labels"]
        assert workload["spec"]["selector"]["matchLabels"] == labels
        policy = made["NetworkPolicy", name]["spec"]
        assert policy["podSelector"]["matchLabels"] == labels
        assert not is_stage(workload) or made["PodDisruptionBudget", name]["spec"]["selector"]["matchLabels"] == labels
        ports = {port["name"] for port in workload["spec"]["template"]["spec"]["containers"][0]["ports"]}
        assert {port["port"] for rule in policy["ingress"] for port in rule["ports"]} == ports
        sources = {
            source["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
            for rule in policy["ingress"] for source in rule.get("from", []) if "podSelector" in source}
        assert sources == {
            "gateway": {"monitor"}, "coalescer": {"gateway", "monitor"}, "committer": {"gateway", "monitor"},
            "fanout": {"gateway", "coalescer", "committer", "monitor"}, "monitor": set()}[stage_of(workload)]


def test_the_monitor_looks_for_every_stage_where_its_service_is(made):
    [container] = made["Deployment", "touchsync-monitor"]["spec"]["template"]["spec"]["containers"]
    [daemons] = [entry["value"] for entry in container["env"] if entry["name"] == "TOUCHSYNC_DAEMONS"]
    sources = dict(item.split("=") for item in daemons.split(","))
    assert set(sources) == {*STAGES, "gateway"}
    for stage, source in sources.items():
        name = source.split(":9400")[0].removeprefix("dns://").removeprefix("srv://_admin._tcp.")
        service = made["Service", name]["spec"]
        assert service["clusterIP"] == "None" and service["publishNotReadyAddresses"] is True
        assert {"name": "admin", "port": 9400} in service["ports"]
        assert service["selector"]["app.kubernetes.io/component"] == stage


@contextlib.contextmanager
def database(folder):
    """A server with the two roles; yields the folder of its socket, which network namespaces do not matter to."""
    place = folder / "postgres"
    place.mkdir()
    shutil.chown(place, "postgres", "postgres")
    programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))

    def run(program, *words):
        subprocess.run(
            [programs / program, *words], user="postgres", group="postgres", extra_groups=[], cwd="/", check=True,
            stdout=subprocess.DEVNULL, timeout=60)

    run("initdb", "--pgdata", place / "data", "--username=postgres", "--auth=trust", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{place}'"
    run("pg_ctl", "--pgdata", place / "data", "--wait", "--log", place / "log", "--options", options, "start")
    try:
        with psycopg.connect(f"host={place} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute("create role touchsync_owner login")
            connection.execute("create role touchsync login")
            connection.execute(
                "create database touchsync owner touchsync_owner encoding 'UTF8' lc_collate 'C' lc_ctype 'C'"
                " template template0")
        yield place
    finally:
        run("pg_ctl", "--pgdata", place / "data", "--mode=immediate", "stop")


class Cluster:
    """Pods on one switch, with their name server, and what an operator gives them."""

    def __init__(self, folder, made, secrets, files, stack):
        self.folder, self.made, self.secrets, self.files, self.stack = folder, made, secrets, files, stack
        self.switch = stack.enter_context(contextlib.closing(Switch()))
        address = f"{self.switch.net}.1"
        self.resolver = stack.enter_context(contextlib.closing(Resolver(address)))
        self.resolver_file = folder / "resolv.conf"
        self.resolver_file.write_text(resolver_file(address))
        self.pods = []

    def add(self, workload, number):
        """One more pod of a workload; DNS knows it before it starts."""
        suffix = number if workload["kind"] == "StatefulSet" else f"6d4f9c7b5-x{number}"
        name = f"{workload['metadata']['name']}-{suffix}"
        pod = Pod(self.folder, self.made, workload, name, self.switch, len(self.pods))
        self.pods.append(self.stack.enter_context(contextlib.closing(pod)))
        self.resolver.names = records(self.made, self.pods)
        pod.mount(self.files)
        pod.start(self.secrets, self.resolver_file)
        return pod


@pytest.fixture
def cluster():
    """The example's pods, started on a database that the Job has migrated."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="touchsync-pods-")))
        folder.chmod(0o755)
        server = stack.enter_context(database(folder))
        made, job = build("overlays/example"), build("migrate")
        secrets = {
            "touchsync-database": {"DATABASE_URL": f"postgresql://touchsync@/touchsync?host={server}"},
            "touchsync-database-owner": {"DATABASE_URL": f"postgresql://touchsync_owner@/touchsync?host={server}"},
            "touchsync-operator": operators.ENVIRONMENT,
            "touchsync-tokens": {"TOUCHSYNC_JWT_SECRET": JWT}}
        migrate = job["Job", "touchsync-migrate"]["spec"]["template"]["spec"]["containers"][0]
        done = subprocess.run(
            [PROGRAMS / migrate["command"][0], *migrate["command"][1:]], env=settings(job, migrate, "", secrets),
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        certificate = Certificate.make(folder)
        files = {
            "touchsync-keys": keys(folder),
            "touchsync-tls": {"tls.crt": certificate.certificate.read_bytes(), "tls.key": certificate.key.read_bytes()}}
        cluster = Cluster(folder, made, secrets, files, stack)
        for workload in workloads(made):
            for number in range(workload["spec"].get("replicas", 2)):
                cluster.add(workload, number)
        try:
            yield cluster
        except BaseException:
            print("\n".join(pod.tail() for pod in cluster.pods))
            raise


def keys(folder):
    """What README.md says: a key pair for each stage, and the list of all."""
    files, lines = {}, []
    for stage in [*STAGES, "gateway"]:
        made = subprocess.run(
            [PROGRAMS / "touchsync", "keys", "new", folder / f"{stage}.key", "--role", stage, "--name",
             f"touchsync-{stage}-*"],
            capture_output=True, text=True, check=True)
        files[f"{stage}.key"] = (folder / f"{stage}.key").read_bytes()
        lines.append(made.stdout.splitlines()[1])
    return {**files, "peers": "".join(f"{line}\n" for line in lines).encode()}


def url(pod):
    return f"https://{pod.host.address}:{pod.port('apps')}"


@pytest.mark.timeout(120)
def test_a_pipeline_runs_by_the_manifests(cluster):
    """Two apps on two gateways, over TLS and with tokens, by links with keys between hosts with names; a stage grows;
    then a gateway ends, and its app goes on at the other one."""
    pods = cluster.pods
    pipelines.eventually("all pods are ready", lambda: all(pod.passes("readinessProbe") for pod in pods), within=30)
    assert all(pod.passes("livenessProbe") for pod in pods)
    gateways = [pod for pod in pods if "gateway" in pod.name]
    trust = ssl.create_default_context(cafile=str(gateways[0].folder / "tls/tls.crt"))
    # The test's certificate is for loopback.
    trust.check_hostname = False
    ada, bob = (
        App(url(pod), tls=trust, auth={"token": token(user)}, headers={"Host": "canvas.example.com"}).connect()
        for pod, user in zip(gateways, ("ada", "bob")))
    for app in (ada, bob):
        app.join("pods")
    done = ada.ok("element:create", {"roomId": "pods", "element": {"type": "note", "id": "e"}})
    bob.wait_seq(done["seq"])
    monitor = next(pod for pod in pods if "monitor" in pod.name)
    pipelines.eventually("the monitor sees all", lambda: seen(monitor) == {"ready": 8}, within=15)
    third = cluster.add(cluster.made["StatefulSet", "touchsync-fanout"], 2)
    pipelines.eventually(
        "all know the third fan-out",
        lambda: all(pod.knows("fanouts", 3) for pod in pods if "fanout" not in pod.name and pod is not monitor),
        within=15)
    pipelines.eventually("the monitor sees it", lambda: sum(seen(monitor).values()) == 9, within=15)
    pipelines.eventually("it is ready", lambda: third.passes("readinessProbe"), within=15)
    assert gateways[0].end() < gateways[0].spec["terminationGracePeriodSeconds"]
    assert bob.ok("element:transform", {"roomId": "pods", "elementId": "e", "positionX": 5})["seq"] == 2
    for app in (ada, bob):
        app.close()


def seen(monitor):
    """How many daemons the monitor's page shows, by their condition."""
    url = f"http://{monitor.host.address}:{monitor.port('admin')}/overview"
    overview = requests.get(url, headers=operators.fields(), timeout=5).json()
    return collections.Counter(
        instance["condition"] for stage in overview["stages"] for instance in stage["instances"])


def token(user):
    command = [PROGRAMS / "touchsync", "token", "--user", user, "--right", "commit", "--ttl", "600", "--room", "pods"]
    return subprocess.run(
        command, env={"TOUCHSYNC_JWT_SECRET": JWT}, capture_output=True, text=True, check=True).stdout.strip()
