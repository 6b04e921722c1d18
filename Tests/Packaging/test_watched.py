"""What watches a pipeline: scrape configurations, alert rules and the dashboard for Grafana."""

import json
import os
import re
import shutil
import subprocess

import pytest

from certificates import Certificate
from linked import linked
from manager import REPOSITORY
from pipeline import running

KEYS = json.dumps({"keys": [{"kty": "oct", "kid": "one", "k": "A" * 43}]})
PROMETHEUS = REPOSITORY / "deploy/prometheus"
DASHBOARD = json.loads((REPOSITORY / "deploy/grafana/touchsync.json").read_text())
# The text of each rule; promtool checks that they are what they look like.
ALERTS = {
    rule.split("\n", 1)[0]: rule for rule in (PROMETHEUS / "touchsync.rules.yml").read_text().split("- alert: ")[1:]}

# A series that raises an alert, and how it looks when all is well or over in a moment; every 5 s, see promtool. After them
# what the rule compares it with.
CASES = {
    "DaemonDown": ('up{job="touchsync"}', "1 0x60", "1 0 1x60", {}),
    "DaemonNotReady": ("touchsync_ready{}", "0x60", "0 0 0 1x60", {}),
    "LoopStalled": ("touchsync_stalled_loops{}", "0 1x60", "0x60", {}),
    "NoDatabase": ("touchsync_fanout_database_connections{}", "0x60", "2 0 2x60", {}),
    "SlowDatabase": ("touchsync_committer_queue_oldest_seconds{}", "0 4x60", "0.9x60",
                     {"touchsync_committer_database_connections{}": "4x60"}),
    "CommitsWait": ("touchsync_gateway_commits_in_flight_oldest_seconds{}", "0 4x60", "0 4 0x60", {}),
    "NoCredit": ("touchsync_gateway_committers_without_credit{}", "1x60", "0 1 0x60", {}),
    "PreviewsWait": ("touchsync_coalescer_previews_held_oldest_seconds{}", "2x60", "0.02x60", {}),
    "SlowApps": ("touchsync_gateway_slow_apps{}", "10x60", "2x60", {"touchsync_gateway_connections{}": "100x60"}),
    "MemoryBudgetExceeded": ("touchsync_gateway_connections_shed_total{}", "0 0 64x60", "64x60", {}),
    "ForeignSessions": ("touchsync_gateway_foreign_sessions_total{}", "0+5x60", "0 20x60", {}),
    "RoomsSlowed": ('touchsync_gateway_slowed_rooms{interval_ms="66"}', "3x60", "3 3 3 0x60", {}),
    # One that drops nothing must not hide another.
    "RecordsDropped": ("touchsync_gateway_previews_dropped_total{}", "0+50x60", "0 50x60",
                       {"touchsync_gateway_envelopes_dropped_total{}": "0x60"}),
    "LinksRefused": ('touchsync_link_refusals_total{reason="no_key"}', "0+5x60", "7x60", {}),
    "FanoutBehind": ("touchsync_fanout_shard_lag_updates{}", "7x60", "7 0 7 0x60", {}),
    "GatewayBlocked": ("touchsync_fanout_gateways_blocked{}", "1x60", "1 0 1 0x60", {}),
    "RulesDiffer": ("touchsync_fanout_rules_differing_committers{}", "1x60", "1 1 0x60", {}),
    "SettingsDiffer": ("touchsync_committer_upkeep_user_sessions_differing_total{}", "0+1x60", "0 1x60", {}),
    "FileRefused": ('touchsync_file_refused{file="revocations"}', "1x60", "1 0x60", {}),
    "CertificateExpires": ("touchsync_gateway_certificate_expiry_timestamp_seconds{}", "200000x60", "300000x60", {}),
    "SetStale": ("touchsync_set_stale{}", "1x60", "1 0x60", {}),
    "HistoryChanged": ("touchsync_committer_history_changes_total{}", "0 0 1x60", "3x60", {}),
    "UpkeepFails": ("touchsync_committer_upkeep_failures_total{}", "0+1x60", "0 1x60", {}),
    "DatabaseKeeperDown": ('up{job="database"}', "0x60", "1 0 1x60", {}),
    "NoQuorum": ("etcd_server_has_leader{}", "0x60", "1 0 1x60", {}),
    "NoStandby": ('patroni_primary{scope="t"}', "1x60", "0x60", {'patroni_sync_standby{scope="t", is="another"}': "0x60"}),
    "ClocksDiffer": ("touchsync_clock_seconds{}", "2+5x60", "0+5x60", {}),
    "FewDescriptors": ('process_open_fds{job="touchsync"}', "950x60", "800x60",
                       {'process_max_fds{job="touchsync"}': "1000x60"}),
}


def promtool(*arguments):
    done = subprocess.run([os.environ["PROMTOOL"], *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def series(name, values):
    labels = 'stage="s", daemon="d-1"'
    return {"series": name.replace("{", "{" + labels + ", ", 1).replace(", }", "}"), "values": values}


@pytest.mark.parametrize("name", ["prometheus.yml", "prometheus-dns.yml"])
def test_prometheus_accepts_its_configuration(name, tmp_path):
    shutil.copytree(PROMETHEUS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "touchsync-operator-token").touch()
    promtool("check", "config", str(tmp_path / name))


def test_prometheus_accepts_its_configuration_for_kubernetes(tmp_path):
    """But for the discovery, which Debian's Prometheus is built without."""
    text = (PROMETHEUS / "prometheus-kubernetes.yml").read_text()
    discovery = "kubernetes_sd_configs:\n      - role: pod\n        namespaces: {names: [touchsync]}\n"
    assert discovery in text
    (tmp_path / "prometheus.yml").write_text(text.replace(discovery, "static_configs: [{targets: [localhost]}]\n"))
    shutil.copy(PROMETHEUS / "touchsync.rules.yml", tmp_path)
    (tmp_path / "touchsync-operator-token").touch()
    promtool("check", "config", str(tmp_path / "prometheus.yml"))


def test_the_listed_targets_are_the_units_admin_servers():
    listed = {
        target["labels"]["daemon"]: target["targets"] for target in json.loads((PROMETHEUS / "targets/touchsync.json").read_text())}
    watched = json.loads((REPOSITORY / "deploy/debian/etc/daemons.json").read_text())["processes"]
    assert listed == {process["name"]: [process["http"].removeprefix("http://")] for process in watched}


@pytest.mark.parametrize("alert", sorted(ALERTS))
def test_an_alert_is_raised_when_it_lasts(alert, tmp_path):
    name, wrong, well, others = CASES[alert]
    firing = 'count by (alertname) (ALERTS{alertstate="firing"})'

    def case(values, expected):
        return {
            "interval": "5s",
            "input_series": [series(name, values), *(series(*other) for other in others.items())],
            "promql_expr_test": [{"expr": firing, "eval_time": "4m", "exp_samples": expected}],
        }

    # Only this one, and nothing when all is well.
    raised = [{"labels": f'{{alertname="{alert}"}}', "value": 1}]
    tests = {
        "rule_files": [str(PROMETHEUS / "touchsync.rules.yml")],
        "evaluation_interval": "5s",
        "tests": [case(wrong, raised), case(well, [])],
    }
    (tmp_path / "tests.json").write_text(json.dumps(tests))
    promtool("test", "rules", str(tmp_path / "tests.json"))


def test_every_alert_leads_to_its_section_of_the_handbook():
    sections = set(re.findall(r"^## (.+)$", (REPOSITORY / "Services/HANDBOOK.md").read_text(), re.MULTILINE))
    titles = {name: re.sub(r"(?<=.)([A-Z])", lambda match: " " + match[1].lower(), name) for name in ALERTS}
    # To Prometheus a silent daemon is a daemon that is down; the others are about what has no number.
    assert set(titles.values()) == sections - {"Daemon silent", "Metrics unreadable", "Monitor shows nothing", "Noted"}
    for name, title in titles.items():
        rule = ALERTS[name]
        assert f"handbook: HANDBOOK.md#{title.lower().replace(' ', '-')}\n" in rule
        assert re.search("severity: (critical|warning)}", rule) and 'summary: "{{ $labels.daemon }}: ' in rule


@pytest.fixture(scope="module")
def exposed(tmp_path_factory):
    """The names of all series that a pipeline has which has every file, and one whose links have keys."""
    folder = tmp_path_factory.mktemp("files")
    files = {"rules.json": "{}", "keys.json": KEYS, "revocations": ""}
    for name, text in files.items():
        (folder / name).write_text(text)
    made = Certificate.make(folder)
    settings = [
        "--rules", folder / "rules.json", "--jwt-keys-file", folder / "keys.json", "--revocations", folder / "revocations",
        "--tls-certificate", made.certificate, "--tls-key", made.key]
    with running(*settings) as pipeline, linked(pipeline.own_database("watched")) as links:
        texts = [pipeline.admin(process, "/metrics").text for process in pipeline.ps()["processes"]]
        texts += [links.metrics(name) for name in links.http]
    return {re.match(r"\w+", line)[0] for text in texts for line in text.splitlines() if line and line[0] != "#"}


def panels(of):
    for panel in of["panels"]:
        yield panel
        yield from panels(panel) if panel.get("panels") else ()


def expressions():
    return [target["expr"] for panel in panels(DASHBOARD) for target in panel.get("targets", [])]


def names(expression):
    return set(re.findall(r"\b(?:touchsync|process)_\w+", expression))


def test_alerts_and_dashboard_use_only_metrics_that_exist(exposed):
    used = set().union(*(names(text) for text in [*expressions(), *(rule.split("expr: ")[1].split(" for: ")[0] for rule in ALERTS.values())]))
    assert len(used) > 40
    assert used <= exposed, used - exposed


def test_prometheus_understands_the_dashboard(tmp_path):
    rules = [
        {"record": f"panel:{number}", "expr": re.sub(r"\$__rate_interval", "1m", expression)}
        for number, expression in enumerate(expressions())]
    (tmp_path / "rules.json").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(tmp_path / "rules.json"))
    ids = [panel["id"] for panel in panels(DASHBOARD)]
    assert len(set(ids)) == len(ids)
