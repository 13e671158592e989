#!/bin/sh
# Runs a Windows program: ext/dist/wine.sh PROGRAM.exe ARGUMENT...
#
# In a Windows of its own under build/, made at the first call, without a screen and
# without what would be downloaded for browsers and .NET.
WINEPREFIX=$(cd "$(dirname "$0")/../.." && pwd)/build/dist/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES
unset DISPLAY
exec wine "$@"
