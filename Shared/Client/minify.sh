#!/bin/sh
# Makes what gateways serve of the client for web pages: minified, and its main module compressed once for all.
#
#     Shared/Client/minify.sh [FOLDER]
#
# Without a folder it replaces the files in `served`, which is needed after each change in web; a test compares. It needs terser and zopfli of Debian 12.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/served}
# Where Debian has terser's own modules, also for a Node from elsewhere.
NODE_PATH=/usr/share/nodejs
export NODE_PATH
# Names of fields and methods that the module alone uses, and never calls by a text: they become shorter as well. All
# others are the protocol's, the app's, or what pages and tests of the project read. Transcripts run against the result.
own='acknowledged aim answered apply arriving ask attempt attempts attended awaited blocked capacity clock
    clockAt closeSocket composed computedState confirmed connectionLost copies database denial displacement
    doubtful due duration edited emit entered enteredAgain eventReceived expire fill finish firstNumber givesUp
    greeted halt handler handlers hands happened hasSocket hear hearOf heardAt held here hiddenAt inputs
    interval isAngle isAway isBusy isClosed isDecided isDeep isDirty isDraining isJoined isLeaving isOptional
    isProbing isRefreshing isSaved isSavedBare isSent isStored isUp isWanted isWhole lastEpoch lastGesture
    lastNumber listen listening looking loseSession lost met middle moves nextRequest nextSlot notAcknowledged
    notEntered number offset ongoing opening original output outputs over patience pauses playing pointing
    previewed probe probeAt provideToken queue range readHistory ready records refresh refuseTooLarge
    refusedToken repeat replaced requests resendFrom restore restoring resumed retry samples saved searchFrom
    searchHistory sendAfter sendEdit sending sentAt settle smallest stream take taken takenAt thrown timer
    tokenRefused toldAt tooLarge touch touchEdits touched trail trip upAt waiting wakesAt wantToken
    writing'
# shellcheck disable=SC2086
terser --module --ecma 2022 --compress passes=3,reduce_funcs=false,sequences=false,inline=1 --mangle --format wrap_func_args=false \
    --mangle-props "builtins,regex=/^($(echo $own | tr ' ' '|'))$/" \
    --output "$folder/touchsync.min.js" -- "$here/web/touchsync.js"
terser --module --ecma 2022 --compress passes=3 --mangle --output "$folder/projection.min.js" -- "$here/web/projection.js"
zopfli --i50 "$folder/touchsync.min.js"
