#!/bin/sh
# Runs a command with what everyone else leaves of the processors; it ends with who started it.
#
#     Tests/behind.sh COMMAND [ARGUMENT]…
#
# A nice value ranks a process among those of its session only, where the kernel groups by session (sched(7), "The
# autogroup feature"). So the command gets a session of its own, and the session steps back.
# shellcheck disable=SC2016
exec setsid setpriv --pdeathsig TERM \
    sh -c '[ ! -w "/proc/$$/autogroup" ] || echo 19 >"/proc/$$/autogroup"; exec nice -n 19 "$@"' behind "$@"
