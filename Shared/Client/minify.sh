#!/bin/sh
# Makes what gateways serve of the client for web pages: minified, and compressed once for all.
#
#     Shared/Client/minify.sh [FOLDER]
#
# Without a folder it replaces the files in `served`, which is needed after each change of web/touchsync.js; a test
# compares. It needs terser and zopfli of Debian 12.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/served}
# Where Debian has terser's own modules, also for a Node from elsewhere.
NODE_PATH=/usr/share/nodejs
export NODE_PATH
terser --module --ecma 2022 --compress passes=3 --mangle --output "$folder/touchsync.min.js" -- "$here/web/touchsync.js"
zopfli --i50 "$folder/touchsync.min.js"
