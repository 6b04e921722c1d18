#!/bin/sh
# Makes what gateways serve of the client for web pages: minified, and its main module compressed once for all, with a map of
# where each part of it is in the source.
#
#     Shared/Client/minify.sh [FOLDER]
#
# Without a folder it replaces the files in `served`, which is needed after each change in web; a test compares. It needs terser and zopfli of Debian 12.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath "${1:-$here/served}")
# Where Debian has terser's own modules, also for a Node from elsewhere.
NODE_PATH=/usr/share/nodejs
export NODE_PATH
# Names of fields and methods that the module alone uses, and never calls by a text: they become shorter as well. All
# others are the protocol's, the app's, or what pages and tests of the project read. Transcripts run against the result.
own='acknowledged aim answered apply arriving ask attemptFailed attempts attended awaited blocked capacity clock
    clockAt composed computedState confirmed connectionLost copies denial differ displacement done doubtful due
    duration edited elementsOf ends entered enteredAgain eventReceived expire fault fill finish firstNumber
    gestured givesUp greeted halt handler handlers hands happened hasSocket hear heard heardAt hearOf here
    hiddenAt inputs interval isAngle isAwaited isAway isBeside isBusy isClosed isDecided isDeep isDirty
    isDraining isJoined isLeaving isOptional isProbing isRefreshing isSaved isSavedBare isSent isStored isTrying
    isUp isWanted isWhole known lastEpoch lastNumber lift listed listen listening looking loseSession lost met
    middle moves nextRequest nextSlot notAcknowledged notEntered number offset ongoing original outputs over
    patience pause pauses persist playing pointing presenting presentToken previewed probe probeAt provideToken
    queue range readHistory ready refresh refusedToken refuseTooLarge repeat replaced requests resendFrom restore
    restoring resumed retry sample samples saved saving searchFrom searchHistory sendAfter sendEdit sending
    sentAt settle smallest sorted spent stream take taken takenAt thrown timer tokenRefused toldAt tooLarge touch
    touched touchEdits trail trip unsent upAt waiting wakesAt'
# The more often a name is used, the shorter it becomes, but none becomes a word of the source. Terser itself would give the
# shortest names to those that it meets first.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cache=$work/names.json
grep -vE '^ *(/?\*|//)' "$here/web/touchsync.js" | grep -oE '\w+' | sort | uniq -c | sort -k1nr -k2 | awk -v own="$(echo $own)" '
    BEGIN {
        split(own, list)
        for (i in list) isOwn[list[i]] = 1
        split("t s e i n o r h a c d u l f m p v g w y b M x j k I S O A T z N R q X Y D B C L W E P H U J F G Z K Q V", letters)
    }
    $2 in isOwn { names[++count] = $2 }
    !($2 in isOwn) { isTaken[$2] = 1 }
    END {
        for (i = 1; i <= count; i++) {
            do { number++; short = number <= 52 ? letters[number] : letters[int((number - 53) / 5) + 1] \
                substr("hsten", (number - 53) % 5 + 1, 1) } while (short in isTaken)
            entries = entries (i > 1 ? "," : "") "\"$" names[i] "\":\"" short "\""
        }
        print "{\"vars\":{\"props\":{}},\"props\":{\"props\":{" entries "}}}"
    }' > "$cache"
# Fields without a value are there for their types alone. Their lines stay: the map counts them.
sed -E '/^  (return|break|continue);$/!{ s/^  \w+;$// }' "$here/web/touchsync.js" > "$work/touchsync.src.js"
cd "$work"
terser --module --ecma 2022 --mangle \
    --compress passes=3,reduce_funcs=false,pure_getters=true,sequences=false,inline=1,keep_fargs=false,comparisons=false,unsafe_arrows=true \
    --mangle-props "builtins,regex=/^($(echo $own | tr ' ' '|'))$/" --name-cache "$cache" --format wrap_func_args=false \
    --source-map "filename='touchsync.js'" --output "$folder/touchsync.min.js" -- touchsync.src.js
for name in projection react store; do
    terser --module --ecma 2022 --compress passes=3 --mangle --output "$folder/$name.min.js" -- "$here/web/$name.js"
done
zopfli --i50 "$folder/touchsync.min.js"
