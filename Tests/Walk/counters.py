"""How often each function of a running program was entered, from the counters of an instrumented build."""

import collections
import dataclasses
import functools
import json
import pathlib
import re
import shutil
import subprocess

TOOLCHAIN = pathlib.Path(shutil.which("swiftc")).resolve().parent
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("Services", "Shared")


@dataclasses.dataclass(frozen=True)
class Function:
    """A function of the product: its file below the repository's folder and its name in the sources."""

    file: str
    name: str


def tool(name, *arguments, text=None):
    """What a program of the toolchain prints."""
    done = subprocess.run([TOOLCHAIN / name, *arguments], input=text, capture_output=True, text=True, check=True)
    return done.stdout


class Counters:
    """The counters of one process, which maps `raw` into its memory."""

    def __init__(self, program, raw):
        self.program = program
        self.raw = raw

    def read(self):
        """Present counts by symbol; closures have symbols of their own."""
        copy = self.raw.with_suffix(".copy")
        shutil.copyfile(self.raw, copy)
        text = tool("llvm-profdata", "merge", "--text", str(copy), "-o", "-")
        # For each function: its name, a comment and its hash, a comment and how many counters it has, a comment and them.
        found = re.findall(r"^(\S+)\n# Func Hash:\n\d+\n# Num Counters:\n\d+\n# Counter Values:\n(\d+)", text, re.M)
        counts = collections.Counter()
        for name, count in found:
            counts[_symbol(name)] += int(count)
        return counts

    def functions(self, symbols):
        """The functions of the product that have one of these symbols."""
        places = _places(self.program, self.raw)
        known = [symbol for symbol in symbols if symbol in places]
        return {
            symbol: Function(places[symbol], name)
            for symbol, name in zip(known, _source_names(known))
            # The value that a property begins with is a part of `init`.
            if not name.startswith("variable initialization expression of ")
        }


def _symbol(name):
    """The linker name; a private function's counter has the path of its file and a colon in front."""
    return name.rsplit(":", 1)[-1]


@functools.cache
def _places(program, raw):
    """File by symbol, of what the product's sources define."""
    profile = raw.with_suffix(".profdata")
    tool("llvm-profdata", "merge", str(raw.with_suffix(".copy")), "-o", str(profile))
    folders = [str(REPOSITORY / folder) for folder in PRODUCT]
    export = tool("llvm-cov", "export", str(program), f"--instr-profile={profile}", *folders)
    return {
        _symbol(function["name"]): str(pathlib.Path(function["filenames"][0]).relative_to(REPOSITORY))
        for function in json.loads(export)["data"][0]["functions"]
        if function["filenames"][0].startswith(tuple(folders))
    }


def _source_names(symbols):
    """`receive(_:at:into:)` for each symbol; closures belong to the function around them."""
    lines = tool("swift-demangle", "--simplified", "--compact", text="\n".join(symbols)).splitlines()
    return [_shortened(line) for line in lines]


def _shortened(name):
    name = re.sub(r"^(implicit )?closure #\d+ .*? in (?=\w)", "", name)
    while " in " in name: name = name.split(" in ", 1)[1]
    name = re.sub(r"^(static|protocol witness for|specialized|merged) ", "", name)
    # A property has one name, however it is used.
    return re.sub(r" -> .*$| throws.*$|\.(getter|setter|modify|read|willset|didset)( : .*)?$", "", name)
