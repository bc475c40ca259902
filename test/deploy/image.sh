#!/usr/bin/env bash
# Builds the image without a container engine and runs it: a read-only root file system, the health
# check, SIGTERM, a volume that the server cannot write, and the cluster of compose.yaml.
# Needs root, Debian's buildah, debootstrap and etcd-server, and Node.js with npm. Usage:
#   test/deploy/image.sh                  # makes a base image from Debian and this machine's Node.js
#   BASE=node:22-bookworm-slim test/deploy/image.sh
#   NODE=/path/to/node ...                # the Node.js of the base image (default: this machine's)
set -euo pipefail
cd "$(dirname "$0")/../.."
export BUILDAH_ISOLATION=chroot
buildah() { command buildah --storage-driver vfs "$@"; }
image=localhost/folkmoot:0.1.0
work=$(mktemp -d)
container=
server=
finish() {
  [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
  [ -z "$container" ] || buildah rm "$container" >/dev/null
  rm -rf "$work"
}
trap finish EXIT
say() { printf '%s\n' "image: $*"; }
fail() { say "FAILED: $*" >&2; exit 1; }

if [ -z "${BASE:-}" ]; then
  base=$work/base
  debootstrap --variant=minbase --include=libstdc++6,ca-certificates bookworm "$base" >"$work/log" ||
    fail "debootstrap: $(tail -1 "$work/log")"
  cp "${NODE:-$(readlink -f "$(command -v node)")}" "$base/usr/local/bin/node"
  mkdir -p "$base/usr/local/lib/node_modules"
  cp -a "$(npm root --global)/npm" "$base/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/local/bin/npm"
  # The certificate authorities of this machine, for its package registry.
  cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
  from=$(buildah from scratch)
  buildah add -q "$from" "$base" / >/dev/null
  buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$from"
  BASE=localhost/folkmoot-base
  buildah commit -q --rm "$from" "$BASE" >/dev/null
fi
# The Docker format, because an OCI image has no health check.
[ -n "${SKIP_BUILD:-}" ] || buildah bud -q --format docker --build-arg BASE="$BASE" -t $image . >/dev/null
say "built from $BASE"

config() { buildah inspect --type image --format "{{.Docker.Config.$1}}" $image; }
[ "$(config User)" = 10001:10001 ] || fail "user $(config User)"
[ "$(config StopSignal)" = SIGTERM ] || fail "stop signal $(config StopSignal)"
config Healthcheck | grep -q healthz || fail 'no health check'
config Volumes | grep -q /data || fail 'no volume'
say "configuration: user $(config User), $(config StopSignal), health check, volume /data"

container=$(buildah from $image)
root=$(buildah mount "$container")
# Runs a command of the image as its user: read-only root, /tmp in memory, $volume as /data.
inside() {
  exec unshare --mount bash -c '
    set -e
    mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"
    mount -t tmpfs tmpfs "$0/tmp" && mount -t proc proc "$0/proc"
    mount --bind "$1" "$0/data"
    cd "$0" && exec chroot --userspec=10001:10001 "$0" "${@:2}"' "$root" "$volume" \
    /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production FOLKMOOT_HOST=127.0.0.1 \
    FOLKMOOT_PORT="$port" FOLKMOOT_DATA=/data/network XDG_STATE_HOME=/data/state "$@"
}
entry=(node --max-semi-space-size=128 /app/dist/cli/main.js)
port=$((20000 + RANDOM % 10000))
volume=$work/volume
install -d -m 0700 -o 10001 -g 10001 "$volume"
(inside "${entry[@]}" serve) >"$work/out" 2>"$work/err" &
server=$!
until grep -q listening "$work/out"; do
  kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat "$work/err")"
  sleep 0.2
done
check=$(grep -o "fetch(.*)'*)" Dockerfile | sed 's/"]$//')
(inside node -e "$check") || fail 'the health check fails at a running server'
port=1
! (inside node -e "$check") || fail 'the health check succeeds without a server'
kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
[ $code = 0 ] || fail "SIGTERM: exit code $code: $(cat "$work/err")"
[ -s "$volume/network/data.mdb" ] || fail 'no data in the volume'
say 'read-only root: serves, is healthy, and ends with code 0 after SIGTERM'

volume=$work/foreign
install -d -m 0755 -o root -g root "$volume"
code=0
(inside "${entry[@]}" serve --port 0) >"$work/out" 2>"$work/err" || code=$?
[ $code = 2 ] || fail "a volume that is not writable: exit code $code: $(cat "$work/err")"
say "a volume that is not writable: exit code $code: $(cat "$work/err")"

mount -t proc proc "$root/proc"
FOLKMOOT_IMAGE_ROOT=$root npx vitest run --project slow test/deploy/compose.slow.test.ts ||
  { umount "$root/proc"; fail 'cluster'; }
umount "$root/proc"
say 'three nodes of compose.yaml: killed, restarted, nothing lost'
