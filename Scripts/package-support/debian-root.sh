# shellcheck shell=bash
# Sourced by the scripts that try what is delivered in a bare Debian, without a container engine. They set
# `me` to their name before. Needs root and debootstrap.

readonly release=bookworm
# The mirror for debootstrap; its own default if not set.
readonly mirror=${DEBIAN_MIRROR:-}
readonly start_seconds_max=20
root=''
pids=()

fail() {
  printf '%s: %s\n' "$me" "$1" >&2
  exit 1
}

say() {
  printf '== %s\n' "$1"
}

# make_root TOOL…: installs the release into a temporary folder, `root`, which is removed at the end.
make_root() {
  local tool
  [[ $(id -u) -eq 0 ]] || fail "chroot needs root"
  for tool in debootstrap curl "$@"; do
    command -v "$tool" >/dev/null || fail "$tool is missing; run: apt-get install binutils curl debootstrap dpkg"
  done
  root=$(mktemp --directory --tmpdir larder-root.XXXXXX)
  # mktemp makes the folder private; inside the root, its users must be able to read /.
  chmod 0755 "$root"
  trap clean_up EXIT
  debootstrap --variant=minbase "$release" "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 || {
    tail -n 20 "$root.log" >&2
    fail "debootstrap failed; its log is $root.log"
  }
  rm -f "$root.log"
  # Swift's runtime reads its arguments from /proc, which every container has.
  mount -t proc proc "$root/proc" || fail "cannot mount /proc"
}

clean_up() {
  local pid
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  if mountpoint --quiet "$root/proc"; then umount "$root/proc"; fi
  rm -rf --one-file-system "$root"
}

inside() {
  chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"
}

# run LOG FOLDER COMMAND…: runs a command as the user larder, with no other environment, in the background.
run() {
  local log=$1 folder=$2
  shift 2
  chroot --userspec=larder:larder "$root" env --chdir="$folder" --ignore-environment \
    PATH=/usr/local/bin:/usr/bin:/bin "$@" >"$root/$log" 2>&1 &
  pids+=($!)
}

# end NAME: ends the last process that was run as systemd and container engines do; fails if that is no clean end.
end() {
  kill -TERM "${pids[-1]}"
  wait "${pids[-1]}" || fail "$1 exited with $? after SIGTERM"
  unset 'pids[-1]'
}

# until_answered LOG URL: waits for 200.
until_answered() {
  local deadline=$((SECONDS + start_seconds_max))
  until curl --silent --fail --output /dev/null "$2"; do
    if ((SECONDS >= deadline)); then
      cat "$root/$1" >&2
      fail "no response from $2 within $start_seconds_max s"
    fi
    sleep 0.2
  done
}
