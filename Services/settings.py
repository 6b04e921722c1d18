#!/usr/bin/env python3
"""Writes SETTINGS.md, the settings of all daemons as their programs tell them, and LIMITS.md, which is limits.txt with their
defaults: settings.py FOLDER [--check]

FOLDER has the built programs. With --check it writes nothing; exit code 1 if a page is another one."""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE, LIMITS, LIMITS_TEXT = HERE / "SETTINGS.md", HERE / "LIMITS.md", HERE / "limits.txt"
PROGRAMS = {
    "Gateway": ["touchsync-gateway"],
    "Coalescer": ["touchsync-coalescer"],
    "Committer": ["touchsync-committer"],
    "Fan-out": ["touchsync-fanout"],
    "Monitor": ["touchsync", "monitor"],
}
HEAD = """# Settings

Written by `Services/settings.py` from what the programs print with `--help`. A setting `name-of-it` is a flag `--name-of-it`, else
the environment variable `TOUCHSYNC_NAME_OF_IT`, else `"nameOfIt"` in the daemon's section of the settings file (`--config`), else its
default. `--check-config` checks the settings, `--print-config` prints the effective ones and where each came from.

The file is a JSON object with an object for each of `gateway`, `coalescer`, `committer`, `fanout` and `monitor`, and `common` for
what several daemons have. `TOUCHSYNC_CONFIG` names it, too, and `DATABASE_URL` is another name of `TOUCHSYNC_DATABASE_URL`.
"""
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LIMITS_HEAD = "<!-- Written by Services/settings.py from limits.txt and the defaults of settings. -->\n\n"


def settings(folder, command):
    """A daemon's own settings, and those that it shares with others: name, default or None, values, meaning."""
    text = subprocess.run([folder / command[0], *command[1:], "--help"], check=True, capture_output=True, text=True).stdout
    for name, body in re.findall(r"^  --([\w-]+)\n((?:      .*\n)+)", text, re.MULTILINE):
        *meaning, values = [line.strip() for line in body.splitlines()]
        if not meaning:  # A command, such as --check-config.
            continue
        values = re.sub(r"\. TOUCHSYNC_\w+.*$", "", values)
        values, _, default = values.partition("; default ")
        yield name, default or None, values, " ".join(meaning)


def sized(number):
    """A number of bytes as people write it."""
    count = int(number)
    for unit in ("GiB", "MiB", "KiB"):
        if count and count % UNITS[unit] == 0 and count >= UNITS[unit]:
            return f"{count // UNITS[unit]} {unit}"
    return f"{count:,}" if count >= 10000 else number


def cell(text):
    return text.replace("|", "\\|")


def page(all_settings):
    parts = [HEAD]
    shared = [row for row in all_settings["Gateway"] if all(row in rows for rows in all_settings.values())]
    sections = {"Every daemon": shared}
    sections |= {daemon: [row for row in rows if row not in shared] for daemon, rows in all_settings.items()}
    for daemon, rows in sections.items():
        parts.append(f"\n## {daemon}\n\n| setting | default | values | meaning |\n| --- | --- | --- | --- |\n")
        for name, default, values, meaning in rows:
            in_bytes = "bytes" in name
            written = sized if in_bytes else lambda number: f"{int(number):,}" if len(number) > 4 else number
            shown = "" if default is None else re.sub(r"^\d+$", lambda number: written(number[0]), default)
            values = re.sub(r"\d+", lambda number: written(number[0]), values)
            parts.append(f"| `{name}` | {cell(shown)} | {cell(values)} | {cell(meaning)} |\n")
    return "".join(parts)


def limits(all_settings):
    """limits.txt, with the default of each `{setting}` behind its name; a daemon's own in the section of the daemon."""
    parts = []
    for section in re.split(r"(?m)^(?=## )", LIMITS_TEXT.read_text()):
        defaults = {row[0]: row[1] for rows in all_settings.values() for row in rows}
        defaults |= {row[0]: row[1] for row in all_settings.get(section[3:].split("\n")[0], [])}
        parts.append(re.sub(r"\{([a-z]+(?:-[a-z]+)+)\}", lambda found: bound(found[1], defaults), section))
    return LIMITS_HEAD + "".join(parts)


def bound(name, defaults):
    if name not in defaults:
        sys.exit(f"limits.txt: {name} is no setting")
    default = defaults[name]
    if "bytes" in name:
        default = sized(default)
    elif name.endswith("-ms") and default.endswith("000"):
        default = f"{default[:-3]} s"
    elif len(default) > 4:
        default = f"{int(default):,}"
    return f"`{name}` {default}"


def main():
    folder = pathlib.Path(sys.argv[1])
    all_settings = {daemon: list(settings(folder, command)) for daemon, command in PROGRAMS.items()}
    for path, text in ((PAGE, page(all_settings)), (LIMITS, limits(all_settings))):
        if sys.argv[2:] != ["--check"]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.name} is another page than the programs tell: Services/settings.py FOLDER writes it")


if __name__ == "__main__":
    main()
