"""The gateway does what its OpenAPI document says, whatever a client sends."""

import pathlib
import subprocess

import pytest


SECRET = "a secret of at least thirty-two bytes, for tests"
HERE = pathlib.Path(__file__).parent
OPENAPI = HERE.parent / "OpenAPI"
# All but those that need a model of what the rooms contain, or that all that the document allows is accepted: names, depth
# and sizes of an app's own fields have limits that a schema cannot express.
CHECKS = ",".join([
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "missing_required_header", "unsupported_method",
    "allow_header_conformance", "ignored_auth",
])


@pytest.fixture(scope="module")
def busy(beside):
    """A gateway whose limits let one client send as fast as it can."""
    settings = ["--commits-per-second", 100_000, "--commit-burst", 100_000, "--connection-messages-per-second", 1_000_000,
                "--user-requests-per-second", 100_000, "--user-request-burst", 100_000,
                "--token-checks-per-second", 10_000, "--address-token-checks-per-second", 100_000]
    with beside(*settings, environment={"TOUCHSYNC_JWT_SECRET": SECRET}) as pipeline:
        yield pipeline


@pytest.mark.long("test_http.py compares each status and refusal")
def test_answers_are_those_that_the_document_describes(busy, tmp_path):
    """Requests drawn from the document, well-formed ones and others, always the same. A stream of events has no end, and
    test_back_ends.py has its answers."""
    python = subprocess.run(
        [str(HERE.parent / "venv.sh"), str(OPENAPI)], check=True, capture_output=True, text=True, timeout=100
    ).stdout.strip()
    done = subprocess.run(
        [python, "-m", "schemathesis.cli", "--config-file", str(OPENAPI / "schemathesis.toml"), "run", busy.url + "/api/openapi.json", "--checks", CHECKS, "--phases",
         "examples,coverage,fuzzing", "--max-examples", "25", "--seed", "1", "--workers", "1",
         "--generation-database", "none", "--exclude-operation-id", "followRoom", "--header", f"Authorization: Bearer {busy.token('ada', ['*'])}", "--no-color"],
        capture_output=True, text=True, timeout=110, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr
