#!/usr/bin/env python3
"""Type-checks what no Linux program runs, with small stand-ins for Apple's modules (folder Stubs): the client's sources for
Apple's platforms, the example for SwiftUI, and the Swift of the client's pages. Prints what the compiler says; exit code 1 if
that is anything. Nothing here shows how it behaves on a device.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLIENT = ROOT / "Shared" / "TouchSyncClient"
CATALOG = CLIENT / "Client" / "TouchSyncClient.docc"
EXAMPLE = ROOT / "Shared" / "Client" / "examples" / "swiftui" / "Sources" / "wall"
# What the package's settings are for its own modules, and what Xcode sets for a new app.
STRICT = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
APP = ["MemberImportVisibility", "NonisolatedNonsendingByDefault"]


def features(names):
    return [part for name in names for part in ("-enable-upcoming-feature", name)]


def compiler(modules, *arguments, files):
    """What the compiler says, if it is not content."""
    command = ["swiftc", "-swift-version", "6", "-I", str(modules), *arguments, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 and "warning:" not in done.stderr else done.stderr


def module(modules, name, files, *arguments):
    return compiler(
        modules, "-emit-module", "-parse-as-library", "-module-name", name, "-o", str(modules / f"{name}.swiftmodule"),
        *arguments, files=files,
    )


def libraries(modules):
    """Builds the client's modules for Apple's platforms; yields what is wrong."""
    package = ["-package-name", "touchsync", *features(STRICT)]
    for name, folder in {"JSONBytes": "JSONBytes", "Canvas": "Canvas", "TouchSyncClientCore": "TouchSyncClient/Core"}.items():
        yield module(modules, name, sorted((ROOT / "Shared" / folder).rglob("*.swift")), *package)
    files = [
        file for file in sorted((CLIENT / "Client").rglob("*.swift"))
        if CATALOG not in file.parents and "NIO" not in file.parts
    ]
    additions = ["-Xfrontend", "-import-module", "-Xfrontend", "FoundationAdditions"]
    yield module(modules, "TouchSyncClient", files, *package, *additions)


def blocks(page):
    """The Swift of a page, without a package's description."""
    found = re.findall(r"^```swift\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [block for block in found if "import PackageDescription" not in block]


def programs(folder):
    """Names, files and compiler's arguments of the example and of all programs that pages print."""
    app = ["-parse-as-library", "-default-isolation", "MainActor", *features(APP)]
    yield "the example", sorted(EXAMPLE.glob("*.swift")), ["-parse-as-library"]
    yield "the example in an app of Xcode's", sorted(EXAMPLE.glob("*.swift")), app
    for page in [CLIENT / "README.md", CATALOG / "TouchSyncClient.md"]:
        for number, block in enumerate(blocks(page)):
            program = folder / f"{page.stem}-{number}"
            program.mkdir()
            main = program / "main.swift"
            is_whole = "import TouchSyncClient" in block
            main.write_text(block if is_whole else "import TouchSyncClient\n" + block)
            prelude = [] if is_whole else [HERE / "Prelude.swift"]
            yield f"block {number + 1} of {page.relative_to(ROOT)}", [main, *prelude], features(APP)
    yield "names beside SwiftUI's", [HERE / "Names.swift"], app


def tutorial():
    """Yields what the first tutorial has otherwise than the page."""
    printed = re.findall(r"^```swift\n(.*?)^```", (CLIENT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    for name, block in zip(["Package.swift", "main.swift"], printed):
        if (CATALOG / "Resources" / name).read_text() != block:
            yield f"{name} of the tutorial is not that of the page about the client\n"


def main():
    errors = [*tutorial()]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        modules = folder / "modules"
        modules.mkdir()
        for stub in ["Darwin", "os", "Network", "UIKit", "AppKit", "FoundationAdditions", "SwiftUI"]:
            errors.append(module(modules, stub, [HERE / "Stubs" / f"{stub}.swift"]))
        errors += libraries(modules)
        for name, files, arguments in programs(folder):
            said = compiler(modules, "-typecheck", "-module-name", "app", *arguments, files=files)
            errors.append(said and f"{name}:\n{said}")
    errors = [error for error in errors if error]
    print("\n".join(errors), end="")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
