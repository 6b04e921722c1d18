#!/usr/bin/env bash
# Formatting, and the rules on who may import what. Prints every offence; exit code 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0

offence() { bad=1; printf 'lint: %s\n' "$1"; }

# grep over tracked and new files; each hit is an offence.
refuse() { # message, pattern, path…
    local message=$1 pattern=$2 hits
    shift 2
    if hits=$(grep -rnE --include='*.swift' -- "$pattern" "$@" 2>/dev/null); then
        offence "$message"
        printf '%s\n' "$hits"
    fi
}

swift format lint --strict -r Package.swift Services Shared Tests || offence 'formatting; make format repairs most of it'

imports='^[[:space:]]*(@[a-z]+ )*((public|package|internal|private) )?import (struct |class |enum |func )?'
pure=(Services/*/Core Shared/Timing Shared/JSONBytes Shared/Canvas Shared/Wire Shared/SocketIO
    Services/Operator/Monitor/Model Shared/TouchSyncClient/Core)
refuse 'a pure module imports what does I/O' \
    "${imports}(Foundation.*|Dispatch|NIO.*|Logging|ServiceLifecycle|Crypto|Mesh|Postgres|Boot|SocketIOServer|C(Linux|ZeroMQ|Libpq|Resolver))\b" \
    "${pure[@]}"
# Canvas takes sine and cosine from the C library, where there is no other.
refuse 'a pure module imports the C library' "${imports}Glibc\b" $(printf '%s\n' "${pure[@]}" | grep -v Canvas)
# Apps import Canvas and the client's core: they and what they depend on stand on the standard library and the C library
# alone.
if hits=$(grep -rnE --include='*.swift' -- "${imports}" Shared/Canvas Shared/JSONBytes Shared/TouchSyncClient/Core |
    grep -vE 'import (JSONBytes|Canvas|Darwin|Glibc|Musl)$'); then
    offence 'a library for apps imports a package or Foundation'
    printf '%s\n' "$hits"
fi
refuse 'a pure module reads a clock or draws random numbers' \
    '(Continuous|Suspending)Clock(\(\)|\.now)|clock_gettime|\.random\(|SystemRandomNumberGenerator' "${pure[@]}"

others() { find "$1" -mindepth 1 -maxdepth 1 -type d ! -name "$2"; }
refuse 'only Mesh may import CZeroMQ' "${imports}CZeroMQ\b" Services Tests $(others Shared Mesh)
refuse 'only Postgres may import CLibpq' "${imports}CLibpq\b" Services Tests $(others Shared Postgres)
refuse 'only Boot may import CResolver' "${imports}CResolver\b" Services Tests $(others Shared Boot)
for service in Gateway Coalescer Committer Fanout; do
    # The operator's command knows all services; nobody else knows another.
    refuse "another service imports $service" "${imports}${service}(Core|Daemon)\b" Shared \
        $(others Services "$service" | grep -v '/Operator$')
done

Services/Operator/Monitor/handbook.py --check ||
    offence 'the page of the handbook is an older one: Services/Operator/Monitor/handbook.py makes it'

Tests/links.py || offence 'a page names a file or a heading that is not there'

# What is not in a program is not there: a page would load half, a schema lack a step.
embedded() { # where the list is, folder of the files
    local file
    for file in $(git ls-files --cached --others --exclude-standard "$2"); do
        grep -qF "#embed \"../${file#"$(dirname "$(dirname "$1")")"/}\"" "$1" || offence "$file is not in $1"
    done
}
embedded Services/Gateway/Pages/Embedded/pages.c Services/Gateway/Pages/served
embedded Services/Gateway/Pages/Embedded/pages.c 'Services/Gateway/Pages/web/*.svg'
embedded Services/Operator/Monitor/Embedded/monitor.c Services/Operator/Monitor/web
embedded Services/Committer/Daemon/Embedded/schema.c Services/Committer/Daemon/Schema

# The page that Xcode shows: that it can be made.
catalog=Shared/TouchSyncClient/Client/TouchSyncClient.docc
documents=$(mktemp -d)
if ! report=$(docc convert "$catalog" --analyze --warnings-as-errors --fallback-display-name TouchSyncClient \
    --fallback-bundle-identifier touchsync.client --output-path "$documents" 2>&1); then
    offence 'the page that Xcode shows'
    printf '%s\n' "$report"
fi
rm -r "$documents"
# The code of the pages about the client in Swift, the example, and what of the client is for Apple's platforms alone.
Tests/Apple/check.py || offence 'what is for Apple, or on a page, does not compile'

sources=(Services Shared)
refuse 'a lock that the thread sanitizer does not see; use NIOLockedValueBox' '\bMutex[<(]' "${sources[@]}"
refuse 'try! and as! end the process' '\btry!|\bas!' "${sources[@]}"

# A file that only works where it was written.
if hits=$(git ls-files --cached --others --exclude-standard | grep -v '^Tests/lint.sh$' |
    xargs -r -d '\n' grep -nIE '/work/|/tmp/ts/|/home/[a-z]|/root/' -- 2>/dev/null); then
    offence "paths of one machine"
    printf '%s\n' "$hits"
fi

if hits=$(git ls-files --cached --others --exclude-standard -- '*.o' '*.a' '*.so' '*.swiftmodule' | grep .); then
    offence "what a compiler wrote"
    printf '%s\n' "$hits"
fi

for script in $(git ls-files --cached --others --exclude-standard '*.sh' .ci/run); do
    [ -x "$script" ] || offence "$script is not executable"
    bash -n "$script" || offence "$script is no valid script"
done

[ $bad -eq 0 ] && echo 'lint: fine'
exit $bad
