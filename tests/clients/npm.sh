#!/bin/sh
# Installs package.json's packages under build/clients/node, unless they are there.
into=build/clients/node
mkdir -p $into
if ! cmp -s tests/clients/package.json $into/installed.json; then
  rm -rf $into/node_modules $into/installed.json
  cp tests/clients/package.json $into/package.json
  # If the prebuilt better-sqlite3 cannot be downloaded, it is compiled, with the headers
  # of the Node that will run it if the machine has them.
  prefix=$(node -p 'require("path").join(process.execPath, "../..")') &&
    [ -e "$prefix/include/node/node.h" ] && export npm_config_nodedir="$prefix"
  (cd $into && npm install --no-package-lock --no-audit --no-fund) >$into/log 2>&1 &&
    cp tests/clients/package.json $into/installed.json
fi
if [ -e $into/installed.json ]; then
  echo "1 passed, 0 failed"
else
  cat $into/log
  echo "FAILED npm install, for better-sqlite3 and libsql"
  echo "0 passed, 1 failed"
  exit 1
fi
