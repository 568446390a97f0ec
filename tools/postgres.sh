#!/usr/bin/env bash
# A throw-away PostgreSQL for tests, in a directory of its own. Installs nothing.
#
#   dir=$(tools/postgres.sh start)    makes and starts a cluster, prints its directory
#   tools/postgres.sh dsn "$dir"      prints the DSN of its empty database
#   tools/postgres.sh down "$dir"     shuts the server down, fast
#   tools/postgres.sh up "$dir"       starts it again, at the same port
#   tools/postgres.sh stop "$dir"     stops it and removes the directory
#
#   export HALLMARK_TEST_POSTGRES=$(tools/postgres.sh dsn "$dir")
#
# It listens on 127.0.0.1, on a free port, and on a socket in its directory; the password
# is made anew each time. Server programs are looked for in POSTGRES_BIN, then on the
# PATH, then where Debian keeps them. PostgreSQL does not run as root: for root the user
# postgres, else nobody, runs it.
set -eu -o pipefail

fail() {
	echo "postgres.sh: $*" >&2
	exit 1
}

# bin prints the directory of the server's programs, the newest where there are several.
bin() {
	local found
	if [ -n "${POSTGRES_BIN:-}" ]; then
		found=$POSTGRES_BIN/initdb
	else
		found=$(command -v initdb || find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
	fi
	[ -n "$found" ] && [ -x "$found" ] && [ -x "$(dirname "$found")/pg_ctl" ] ||
		fail "no PostgreSQL server here (initdb, pg_ctl); install it (Debian: apt-get install postgresql) or set POSTGRES_BIN"
	dirname "$(readlink -f "$found")"
}

# as runs a program as a user whom PostgreSQL accepts.
as() {
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
		return
	fi
	local user=postgres
	id "$user" >/dev/null 2>&1 || user=nobody
	(cd / && setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- "$@") # it may not enter ours
}

# up starts the server of a directory.
up() {
	as "$(bin)/pg_ctl" -D "$1/data" -l "$1/run/server.log" -w -t 60 -s \
		-o "-p $(cat "$1/port") -c listen_addresses=127.0.0.1 -c unix_socket_directories=$1/run -c max_connections=200" \
		start >/dev/null 2>&1 </dev/null
}

start() {
	local bin dir user password port
	bin=$(bin)
	dir=$(mktemp -d "${TMPDIR:-/tmp}/hallmark-postgres.XXXXXX")
	chmod 711 "$dir"
	mkdir "$dir/run"
	if [ "$(id -u)" -eq 0 ]; then
		user=postgres
		id "$user" >/dev/null 2>&1 || user=nobody
		command -v setpriv >/dev/null || fail "setpriv is missing (util-linux); run this as another user than root"
		chown "$user" "$dir" "$dir/run"
	fi
	password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	printf '%s\n' "$password" >"$dir/password"
	[ "$(id -u)" -ne 0 ] || chown "$user" "$dir/password"
	chmod 600 "$dir/password"
	as "$bin/initdb" -D "$dir/data" -U hallmark --pwfile="$dir/password" --auth=scram-sha-256 \
		--encoding=UTF8 --locale=C >"$dir/initdb.log" 2>&1 ||
		{ cat "$dir/initdb.log" >&2; rm -rf "$dir"; fail "initdb failed"; }
	# A port is free until somebody takes it: another is tried then.
	for _ in 1 2 3 4 5 6 7 8; do
		port=$((20000 + RANDOM % 12000))
		printf '%s\n' "$port" >"$dir/port"
		if up "$dir"; then
			echo "$dir"
			return
		fi
		grep -q 'Address already in use' "$dir/run/server.log" 2>/dev/null || break
		: >"$dir/run/server.log"
	done
	cat "$dir/run/server.log" >&2 || true
	rm -rf "$dir"
	fail "the server did not start"
}

# ours checks that a directory is one that start made.
ours() {
	[ -n "${1:-}" ] && [ -f "$1/port" ] && [ -d "$1/data" ] ||
		fail "name the directory that start printed"
}

case "${1:-}" in
start) start ;;
dsn)
	ours "${2:-}"
	echo "postgres://hallmark:$(cat "$2/password")@127.0.0.1:$(cat "$2/port")/postgres?sslmode=disable"
	;;
down)
	ours "${2:-}"
	as "$(bin)/pg_ctl" -D "$2/data" -w -t 60 -s -m fast stop >/dev/null
	;;
up)
	ours "${2:-}"
	up "$2" || fail "the server did not start; see $2/run/server.log"
	;;
stop)
	ours "${2:-}"
	as "$(bin)/pg_ctl" -D "$2/data" -w -t 60 -s -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$2"
	;;
*) fail "usage: tools/postgres.sh start | dsn DIR | down DIR | up DIR | stop DIR" ;;
esac
