#!/bin/sh
# venv.sh DIR PACKAGE==VERSION...: makes sure DIR is a Python virtual environment with exactly these packages and
# prints its python. Kept between runs. Status 77 with a reason when python3 or pip cannot provide it.
set -u
dir=$1
shift
mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock"
flock 9
if [ "$(cat "$dir/packages" 2>/dev/null)" != "$*" ]; then
    rm -rf "$dir"
    log=$(python3 -m venv "$dir" 2>&1) || { echo "python3 -m venv failed: $log" >&2; rm -rf "$dir"; exit 77; }
    log=$("$dir/bin/pip" install --quiet --disable-pip-version-check "$@" 2>&1) ||
        { echo "pip install $* failed: $(echo "$log" | tail -n 1)" >&2; rm -rf "$dir"; exit 77; }
    echo "$*" >"$dir/packages"
fi
echo "$dir/bin/python"
