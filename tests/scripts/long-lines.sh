#!/usr/bin/env bash
# Lines of Rust that are longer than rustfmt's limit: comments, and code in macros, which rustfmt leaves as they are.
# Long string literals and the rows of tables in comments are left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
limit=$(sed -n 's/^max_width = //p' rustfmt.toml)
export LC_ALL=C.UTF-8
if git ls-files -z -- '*.rs' | xargs -0 grep -nE "^.{$((limit + 1)),}" | grep -vE '^[^:]*:[0-9]+: *(//[/!]? *\||[^/]*")'; then
    echo "these lines have more than $limit characters" >&2
    exit 1
fi
