"""The client's core on its own, its types and what gateways serve of it."""

import gzip
import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
MODULE = HERE.parent.parent / "Shared" / "Client" / "web" / "touchsync.js"
# Modules that pages import beside it.
OTHERS = ["projection", "react", "store"]
# Built like the daemons, if it is there.
BUILDS = [pathlib.Path(os.environ.get("TOUCHSYNC_PROGRAMS", "")), HERE.parent.parent / ".build" / "debug"]
SIMULATE = next((folder / "simulate" for folder in BUILDS if (folder / "simulate").is_file()), "simulate")
TRANSCRIPTS = sorted((HERE.parent / "ClientTranscripts").glob("*.txt"))


def run(*command):
    environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript(transcript):
    run("node", HERE / "transcripts.mjs", transcript)


def test_what_gateways_serve_does_the_same():
    run("node", HERE / "transcripts.mjs", "--served", *TRANSCRIPTS)


def test_what_moves_is_where_the_client_in_swift_has_it(tmp_path):
    """Whole lives of clients in simulated worlds: faults, joins, undo and halt in flight, and poses at random times."""
    run(SIMULATE, "--seed", 1, "--seeds", 40, "--transcripts", tmp_path)
    lives = sorted(tmp_path.iterdir())
    for served in ([], ["--served"]):
        done = run("node", HERE / "transcripts.mjs", *served, *lives)
        assert int(done.split()[0]) > 10_000
        print(f"{len(lives)} lives: {done}")


def test_pages_read_no_name_that_is_shortened():
    folder = MODULE.parent.parent
    own = re.search(r"^own='([^']+)'", (folder / "minify.sh").read_text(), re.MULTILINE)[1].split()
    pages = HERE.parent.parent / "Services" / "Gateway" / "Pages" / "web" / "canvas"
    for script in pages.glob("*.js"):
        assert not set(re.findall(r"\b(?:room|client)\.(\w+)", script.read_text())) & set(own), script
    for script in (HERE / "commands.mjs", HERE / "page.mjs", HERE / "test_browser.py"):
        assert not set(re.findall(r"\.(\w+)", script.read_text())) & set(own), script
    types = (folder / "types" / "touchsync.d.ts").read_text()
    declared = re.findall(r"^\s*(?:export function |readonly |static |get |set )*(\w+)\??[:(<]", types, re.MULTILINE)
    assert len(declared) > 100 and not set(declared) & set(own)
    # Nor do these name a method so that the client does not find it.
    for name in OTHERS:
        assert not set(re.findall(r"\w+", (folder / "served" / f"{name}.min.js").read_text())) & set(own), name


def test_random_edits_converge_and_none_counts_twice():
    print(run("node", HERE / "property.mjs", 100))


def test_faulty_messages_break_nothing():
    print(run("node", HERE / "faulty.mjs", 200))


def test_edits_that_were_kept_without_a_number_are_sent_when_it_is_kept():
    print(run("node", HERE / "saving.mjs"))


def test_what_an_app_sees_of_rooms_and_failures():
    print(run("node", HERE / "shell.mjs"))


def test_node_knows_why_connections_fail():
    print(run("node", HERE / "failures.mjs"))


def test_geometry_follows_the_rules():
    print(run("node", HERE / "geometry.mjs"))


def test_what_moves_shows_the_golden_values():
    print(run("node", HERE / "golden.mjs"))


@pytest.mark.timed
def test_three_hundred_publishers_cost_less_than_half_a_frame():
    print(run("node", HERE / "motion.mjs"))


def test_types():
    """Those of the hooks need React's: test_package.py."""
    flags = "--allowJs --checkJs --strict --noEmit --target es2022 --lib es2022,dom --module es2022"
    run("tsc", *flags.split(), MODULE, *(MODULE.with_name(f"{name}.js") for name in OTHERS if name != "react"))


def test_what_gateways_serve_is_the_source(tmp_path):
    """minify.sh was run after the last change, and what comes over the network is small."""
    folder = MODULE.parent.parent
    run(folder / "minify.sh", tmp_path)
    served = folder / "served/touchsync.min.js"
    for file in (served, *(served.with_name(f"{name}.min.js") for name in OTHERS)):
        assert file.read_text() == (tmp_path / file.name).read_text()
    compressed = served.with_name(served.name + ".gz").read_bytes()
    assert gzip.decompress(compressed) == served.read_bytes() and len(compressed) <= 16384
    assert served.with_name(served.name + ".map").read_text() == (tmp_path / (served.name + ".map")).read_text()


def test_the_source_map_leads_into_the_source():
    """Node finds texts of the module in the lines of the source that its map names."""
    served = MODULE.parent.parent / "served/touchsync.min.js"
    program = """
        import { readFileSync } from "node:fs";
        import { SourceMap } from "node:module";
        const [module, map, source, ...texts] = process.argv.slice(1);
        const lines = readFileSync(source, "utf8").split("\\n"), [line] = readFileSync(module, "utf8").split("\\n");
        const sources = new SourceMap(JSON.parse(readFileSync(map)));
        for (const text of texts) {
          const { originalSource, originalLine } = sources.findEntry(0, line.indexOf(text));
          if (originalSource !== "touchsync.src.js" || !lines[originalLine].includes(text)) throw new Error(text);
        }
    """
    texts = ['"No valid certificate."', '"room:signaled"', '"history:redo"', '"cancel"']
    run("node", "--input-type=module", "--eval", program, served, f"{served}.map", MODULE, *texts)
