#!/bin/sh
# Runs a Windows program: ext/dist/wine.sh PROGRAM.exe ARGUMENT...
#
# Wine's Windows is under build/, made at the first call; it has no screen, and downloads
# nothing for browsers and .NET.
WINEPREFIX=$(cd "$(dirname "$0")/../.." && pwd)/build/dist/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES
unset DISPLAY
exec wine "$@"
