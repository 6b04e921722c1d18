"""What a Prometheus of a machine says."""

import requests


class Prometheus:
    def __init__(self, address):
        self.url = f"http://{address}:9090/api/v1"

    def query(self, expression):
        """Label sets and values of an expression, now."""
        answer = requests.get(f"{self.url}/query", {"query": expression}, timeout=10).json()
        assert answer["status"] == "success", answer
        return [(series["metric"], float(series["value"][1])) for series in answer["data"]["result"]]

    def up(self, job="touchsync"):
        """The daemons of a job that it reaches."""
        return {labels["daemon"] for labels, value in self.query(f'up{{job="{job}"}}') if value == 1}

    def firing(self, over="1s"):
        """Names of alerts and daemons that fire, or did in a time up to now."""
        fired = self.query(f'count_over_time(ALERTS{{alertstate="firing"}}[{over}])')
        return {(labels["alertname"], labels.get("daemon")) for labels, _ in fired}
