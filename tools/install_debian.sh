#!/bin/sh
# Install Debian packages when we are root, and say plainly what is missing when we are not.
set -eu
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "please install: $* (on Debian: sudo apt-get install $*)" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" >/dev/null
