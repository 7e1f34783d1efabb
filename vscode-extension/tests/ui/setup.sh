#!/usr/bin/env bash
# Makes what the UI tests need: Chromium, and code-server 4.99.4, which is VS Code 1.99 in a browser. Does nothing that is
# done already. Needs root only where Chromium is not there yet.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

missing=()
command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
command -v ip >/dev/null || missing+=(iproute2)
command -v g++ >/dev/null || missing+=(g++)
command -v make >/dev/null || missing+=(make)
if [ "${#missing[@]}" -gt 0 ]; then
  echo "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

wanted=$(sha256sum package-lock.json setup.sh | sha256sum)
if [ "$(cat node_modules/.is-set-up 2>/dev/null || true)" = "$wanted" ]; then
  exit 0
fi
nodedir=$(node -p 'path.dirname(path.dirname(process.execPath))')
if [ -f "$nodedir/include/node/node.h" ]; then
  export npm_config_nodedir=$nodedir # Node's own headers, so that none are downloaded
fi
npm ci --ignore-scripts --silent
# argon2 is the one module with native code that code-server cannot start without.
npm rebuild argon2 --silent
cd node_modules/code-server/lib/vscode
npm install --ignore-scripts --omit=dev --silent
ln -sfn node_modules node_modules.asar
# The logs of the extension host and of its output channels are written by this one; it is built here, too.
npm rebuild @vscode/spdlog --silent
# Its ripgrep is downloaded by a script that has not run; without one no file is found by its name.
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sfn "$OLDPWD/node_modules/@vscode/ripgrep-linux-x64/bin/rg" node_modules/@vscode/ripgrep/bin/rg
cd - >/dev/null
echo "$wanted" >node_modules/.is-set-up
