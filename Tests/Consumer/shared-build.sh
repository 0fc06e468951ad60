# Sourced by Tests/Consumer/check and Alamofire/check, which build in one folder, so that Afar is compiled once. They take turns.
# Sets scratch, the folder, and flags, the options of each build. Without --disable-build-manifest-caching, SwiftPM can build the
# previous package instead.
scratch=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.build/consumers/shared
flags=(--disable-build-manifest-caching --scratch-path "$scratch" -Xswiftc -gline-tables-only)
mkdir -p "${scratch%/*}"
exec 9>"$scratch.lock"
# macOS has no flock.
if command -v flock >/dev/null; then flock -w 1200 9 || { echo "Another check uses $scratch." >&2; exit 1; }; fi
