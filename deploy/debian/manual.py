#!/usr/bin/env python3
"""Writes a manual page from what a program says about itself.

    manual.py daemon PROGRAM     from its --help, section 8
    manual.py command PROGRAM    from its --experimental-dump-help, the help of all subcommands as JSON, section 1

The page goes to standard output. SOURCE_DATE_EPOCH is its date.
"""

import datetime
import json
import os
import subprocess
import sys


def run(program: str, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def text(words: str) -> str:
    """Words that roff prints as they are."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in words.splitlines())


def heading(program: str, section: int, summary: str) -> list[str]:
    name = os.path.basename(program)
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    version = run(program, "--version").split()[1]
    return [
        f'.TH {name.upper()} {section} "{moment:%Y-%m-%d}" "TouchSync {version}" "TouchSync"',
        ".nh",
        ".SH NAME",
        f"{text(name)} \\- {text(summary)}",
    ]


def daemon(program: str) -> list[str]:
    """Of a daemon's help: a line `program: summary`, a paragraph, then flags, each with indented lines about it."""
    name = os.path.basename(program)
    first, *lines = run(program, "--help").splitlines()
    page = heading(program, 8, first.split(": ", 1)[1].rstrip("."))
    page += [".SH SYNOPSIS", f".B {text(name)}", "[\\fIsettings\\fR]", ".SH DESCRIPTION"]
    is_among_settings = False
    for line in lines:
        word = line.strip()
        if line.startswith("  --"):
            if not is_among_settings:
                page.append(".SH SETTINGS")
                is_among_settings = True
            page += [".TP", f".B {text(word)}"]
        elif word:
            page.append(text(word) + ("\n.br" if is_among_settings and not word.startswith('"') else ""))
    page += [
        ".SH EXIT STATUS", ".TP", ".B 0", "stopped on request", ".TP", ".B 1", "failed", ".TP", ".B 78",
        "invalid settings", ".SH SEE ALSO", ".BR touchsync (1)",
    ]
    return page


def label(argument: dict) -> str:
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return f"\\fI{text(value)}\\fR"
    names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"]]
    shown = ", ".join(f"\\fB{text(name)}\\fR" for name in names)
    return shown + (f" \\fI{text(value)}\\fR" if argument["kind"] == "option" else "")


def arguments_of(command: dict) -> list[str]:
    page = []
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True) or any(
            name["name"] in ("help", "version") for name in argument.get("names") or []
        ):
            continue
        about = argument.get("abstract", "")
        if argument.get("defaultValue"):
            about += f" (default: {argument['defaultValue']})"
        page += [".TP", label(argument), text(about)]
    return page


def subcommands_of(command: dict, path: str) -> list[str]:
    page = []
    for inner in command.get("subcommands", []):
        if not inner.get("shouldDisplay", True) or inner["commandName"] == "help":
            continue
        name = f"{path} {inner['commandName']}"
        page += [f'.SS "{text(name)}"', text(inner.get("abstract", ""))]
        if inner.get("discussion"):
            page += [".PP", text(inner["discussion"])]
        page += arguments_of(inner) + subcommands_of(inner, name)
    return page


def command(program: str) -> list[str]:
    described = json.loads(run(program, "--experimental-dump-help"))["command"]
    name = described["commandName"]
    page = heading(program, 1, described["abstract"].rstrip(".")[0].lower() + described["abstract"].rstrip(".")[1:])
    page += [".SH SYNOPSIS", f".B {name}", "\\fIsubcommand\\fR [\\fIoptions\\fR]", ".SH SUBCOMMANDS"]
    page += subcommands_of(described, name)
    daemons = ["gateway", "coalescer", "committer", "fanout"]
    page += [".SH SEE ALSO", *(f".BR touchsync\\-{daemon} (8)" for daemon in daemons)]
    return page


if __name__ == "__main__":
    kind, path = sys.argv[1:]
    print("\n".join({"daemon": daemon, "command": command}[kind](path)))
