"""Counts what each operation of the hot cores costs, under callgrind: instructions, and calls of the allocator.

    measure.py BINARY [--update | --hot OPERATION]

Compares with the figures in `costs` beside this file and fails for each operation that costs more than 15 % more;
`--update` writes them anew. `--hot` prints the functions in which one operation's instructions are spent instead.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

COSTS = pathlib.Path(__file__).parent / "costs"
MARGIN = 1.15
# Less than one allocation in twenty is a table or a buffer that grows.
SLACK = 0.05
# What runs inside of this function is counted.
COUNTED = "12countedTurns"
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}
HEADER = """\
# What one operation of a hot core costs: make bench-cores fails when one costs more than 15 % more.
# Written by make bench-cores CORES=--update
# operation                instructions  allocations
"""


class Part:
    """What callgrind saw of one operation, all turns together."""

    def __init__(self, path):
        self.own = collections.Counter()  # instructions by function
        self.calls = collections.Counter()  # by (caller, callee)
        self.below = collections.Counter()  # instructions of those calls
        function = callee = None
        is_call = False
        for line in path.read_text().splitlines():
            if line.startswith("fn="):
                function = line[3:]
            elif line.startswith("cfn="):
                callee = line[4:]
            elif line.startswith("calls="):
                self.calls[function, callee] += int(line[6:].split()[0])
                is_call = True
            elif line[:1].isdigit():
                cost = int(line.split()[1])
                if is_call:
                    self.below[function, callee] += cost
                else:
                    self.own[function] += cost
                is_call = False

    @property
    def instructions(self):
        return self.own.total()

    @property
    def allocations(self):
        # realloc of nothing calls malloc.
        return sum(
            count for (caller, callee), count in self.calls.items() if callee in ALLOCATORS and caller not in ALLOCATORS
        )


class Operation:
    """One operation's figures, each for doing it once."""

    def __init__(self, name, count, part):
        self.name = name
        self.count = count
        self.part = part
        self.instructions = round(part.instructions / count)
        self.allocations = round(part.allocations / count, 2)


def run(binary):
    """All operations, in order."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Debian's valgrind gives up on debug information that is newer than it is.
        stripped = folder / "benchmarks"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, binary], check=True)
        counted = symbol(stripped)
        command = ["valgrind", "--tool=callgrind"]
        command += [f"--{option}={counted}" for option in ("dump-before", "dump-after")]
        command += ["--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={folder}/part", stripped]
        # Tables have one order in every process, so that the counts are the same in every run.
        environment = os.environ | {"SWIFT_DETERMINISTIC_HASHING": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        operations = []
        for number, line in enumerate(done.stdout.splitlines(), start=1):
            name, count = line.split()
            operations.append(Operation(name, int(count), Part(folder / f"part.{2 * number}")))
    if not operations or any(operation.instructions == 0 for operation in operations):
        sys.exit("callgrind counted nothing")
    return operations


def symbol(binary):
    """The linker's name of the function that is counted; callgrind's patterns do not match names with a dollar sign."""
    lines = subprocess.run(["nm", binary], check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split()[-1] for line in lines if COUNTED in line]
    if len(names) != 1:
        sys.exit(f"{len(names)} functions are named {COUNTED}")
    return names[0]


def read_costs():
    """Instructions and allocations as they were, by operation."""
    costs = {}
    for line in COSTS.read_text().splitlines() if COSTS.exists() else []:
        if line and not line.startswith("#"):
            name, instructions, allocations = line.split()
            costs[name] = int(instructions), float(allocations)
    return costs


def row(name, instructions, allocations):
    return f"{name:26} {instructions:>12} {allocations:>12}"


def table(operations):
    return "".join(row(o.name, o.instructions, o.allocations) + "\n" for o in operations)


def worse(operation, before):
    """What there is to say against an operation."""
    if before is None:
        yield f"{operation.name}: no figures to compare with; make bench-cores CORES=--update writes them"
        return
    instructions, allocations = before
    if operation.instructions > instructions * MARGIN:
        yield f"{operation.name}: {instructions} instructions before, {operation.instructions} now"
    if operation.allocations > allocations * MARGIN + SLACK:
        yield f"{operation.name}: {allocations} allocations before, {operation.allocations} now"


def demangled(names):
    done = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(names),
                          check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def print_hot(operation):
    """The functions that an operation spends most in, by their own instructions, and who calls the allocator."""
    part = operation.part
    print(f"{operation.name}: {operation.instructions} instructions, {operation.allocations} allocations")
    own = part.own.most_common(25)
    for (_, cost), name in zip(own, demangled([name for name, _ in own])):
        print(f"{cost / operation.count:10.0f}  {100 * cost / part.instructions:4.1f} %  {name[:150]}")


def main():
    parser = argparse.ArgumentParser(description="Counts instructions and allocations of the hot cores.")
    parser.add_argument("binary")
    parser.add_argument("--update", action="store_true", help="write the figures that later runs are compared with")
    parser.add_argument("--hot", metavar="OPERATION", help="print where one operation's instructions are spent")
    options = parser.parse_args()
    operations = run(options.binary)
    if options.hot:
        chosen = [operation for operation in operations if operation.name == options.hot]
        if not chosen:
            sys.exit("no such operation; there are " + ", ".join(operation.name for operation in operations))
        return print_hot(chosen[0])
    print("operation                  instructions  allocations")
    print(table(operations), end="")
    if options.update:
        COSTS.write_text(HEADER + table(operations))
        return
    before = read_costs()
    problems = [problem for operation in operations for problem in worse(operation, before.get(operation.name))]
    problems += [f"{name}: is not measured any more" for name in before.keys() - {o.name for o in operations}]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
