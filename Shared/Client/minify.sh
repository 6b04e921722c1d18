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
own='acknowledged aim arriving attempt attempts attended awaited blocked capacity clock clockAt closeSocket composed
    computedState confirmed connectionLost copies database delay denial displacement doubtful due duration enteredAgain
    eventReceived expire firstNumber givesUp greeted halt hands happened hasSocket heardAt held hiddenAt inputs
    interval isAngle isAway isBeside isBusy isClosed isDeep isDirty isDraining isLeaving isOptional isOurs isProbing
    isRefreshing isSaved isSent isSettled isStored isUp isWanted isWhole lastEpoch lastGesture lastNumber listening
    looking loseSession middle moves nextRequest nextSlot notAcknowledged notEntered noteState ongoing opening outputs
    over patience pauses playing pointing presenting previewed probe probeAt provideToken queue readHistory records refresh
    refusedToken refuseTooLarge replaced resendFrom restoring resumed samples searchFrom searchHistory sendAfter
    sendEdit sending sentAt settle stream taken takenAt thrown timer tokenRefused told tooLarge touch touched
    touchEdits trail trip unnumbered upAt waiting wakesAt wantToken writing'
# shellcheck disable=SC2086
terser --module --ecma 2022 --compress passes=3,reduce_funcs=false,sequences=false --mangle \
    --mangle-props "builtins,regex=/^($(echo $own | tr ' ' '|'))$/" \
    --output "$folder/touchsync.min.js" -- "$here/web/touchsync.js"
terser --module --ecma 2022 --compress passes=3 --mangle --output "$folder/projection.min.js" -- "$here/web/projection.js"
zopfli --i50 "$folder/touchsync.min.js"
