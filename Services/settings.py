#!/usr/bin/env python3
"""Writes SETTINGS.md, the settings of all daemons as their programs tell them: settings.py FOLDER [--check]

FOLDER has the built programs. With --check it writes nothing; exit code 1 if the page is another one, or if LIMITS.md names a
setting that does not exist or has another default."""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE, LIMITS = HERE / "SETTINGS.md", HERE / "LIMITS.md"
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
"""
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# What the page of bounds counts in, beside what a setting does.
FACTORS = UNITS | {"s": 1000, "": 1}


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


def untrue(all_settings):
    """What the page of bounds says of settings and is not so."""
    defaults = {}
    for rows in all_settings.values():
        for name, default, _, _ in rows:
            defaults.setdefault(name, set()).add(default)
    # A setting and its default, such as `in-flight-bytes` 64 MiB.
    stated = re.compile(r"`([a-z]+(?:-[a-z]+)+)`(?: (\d[\d,]*)(?: (KiB|MiB|GiB|s)\b)?)?")
    for name, number, unit in stated.findall(LIMITS.read_text()):
        if name not in defaults:
            yield f"LIMITS.md: {name} is no setting"
        elif number and str(int(number.replace(",", "")) * FACTORS[unit]) not in defaults[name]:
            yield f"LIMITS.md: {name} is not {number} {unit}".rstrip() + f" but {', '.join(map(str, defaults[name]))}"


def main():
    folder = pathlib.Path(sys.argv[1])
    all_settings = {daemon: list(settings(folder, command)) for daemon, command in PROGRAMS.items()}
    text = page(all_settings)
    if sys.argv[2:] != ["--check"]:
        PAGE.write_text(text)
        return
    problems = list(untrue(all_settings))
    if not PAGE.exists() or PAGE.read_text() != text:
        problems.append("SETTINGS.md is another page than the programs tell: Services/settings.py FOLDER writes it")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
