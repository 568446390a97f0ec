#!/usr/bin/env bash
# Checks deploy/ as far as this machine can, and says what it left out.
#
#   tools/deploy-check.sh [PART ...]     all parts, or some: see parts below
#
# What runs: the static binary in an empty root, nginx and Envoy with three replicas
# behind them, PostgreSQL with the shipped roles, Prometheus' promtool, kustomize, and
# schemas of Compose and Kubernetes. Servers listen on loopback and end with the script.
# Exit codes: 0 nothing failed (a part may be skipped, and then says so), 1 a check
# failed. STRICT=1 makes a skipped part a failure.
set -eu -o pipefail

cd "$(dirname "$0")/.."
readonly parts="binary chroot config nginx envoy postgres prometheus grafana compose kubernetes systemd container"
readonly GO=${GO:-go}
readonly id=65532 # of the image's user
work=$(mktemp -d "${TMPDIR:-/tmp}/hallmark-deploy.XXXXXX")
chmod 711 "$work"
failed=0
skipped=()
pids=()
database=

cleanup() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	[ -z "$database" ] || tools/postgres.sh stop "$database" || true
	rm -rf "$work"
}
trap cleanup EXIT

ok() { echo "ok       $*"; }
bad() { echo "FAILED   $*" >&2; failed=$((failed + 1)); }
skip() { echo "SKIPPED  $*"; skipped+=("$*"); }

# expect WHAT COMMAND...: the command succeeds; its output is shown where it does not.
expect() {
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1; then ok "$what"; else bad "$what"; sed 's/^/         | /' "$work/out" >&2; fi
}
# refuse WHAT TEXT COMMAND...: the command fails, and says TEXT.
refuse() {
	local what=$1 text=$2
	shift 2
	if "$@" >"$work/out" 2>&1; then bad "$what: it succeeded"; elif grep -q -- "$text" "$work/out"; then ok "$what"; else
		bad "$what: no \"$text\""
		sed 's/^/         | /' "$work/out" >&2
	fi
}
has() { command -v "$1" >/dev/null 2>&1; }
port() { # a free one: taken by nobody now, and below those that the system gives away
	local p
	while p=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; do :; done
	echo "$p"
}
# until_ok SECONDS COMMAND...
until_ok() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep 0.2; done
}

# install PROGRAM PACKAGE: installs a Debian package where root runs this, and starts
# nothing of it: policy-rc.d says no for that time.
install() {
	if has "$1" || [ -x "/usr/sbin/$1" ]; then return; fi
	[ "$(id -u)" = 0 ] && has apt-get || return 1
	local policy=/usr/sbin/policy-rc.d made= code=0
	[ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy && made=yes; }
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null 2>&1 || code=$?
	[ -z "$made" ] || rm -f $policy
	return $code
}

build() {
	[ -x "$work/hallmark" ] && return
	CGO_ENABLED=0 $GO build -trimpath -buildvcs=false -ldflags="-s -w -buildid=" -o "$work/hallmark" ./cmd/hallmark
}

# python: a venv of tools/deploycheck/requirements.txt; fails where it cannot be made.
venv=.tmp/deploy-venv
python() {
	if [ ! -f $venv/made ] || ! cmp -s tools/deploycheck/requirements.txt $venv/made; then
		has python3 && mkdir -p .tmp && rm -rf $venv && python3 -m venv $venv >/dev/null 2>&1 &&
			$venv/bin/pip install -q --disable-pip-version-check -r tools/deploycheck/requirements.txt >/dev/null 2>&1 &&
			cp tools/deploycheck/requirements.txt $venv/made || return 1
	fi
}
manifests() { $venv/bin/python tools/deploycheck/manifests.py "$@"; }

certificates() { [ -d "$work/tls" ] || deploy/certificates.sh "$work/tls" 2; }

# serve NAME FLAGS...: a service in the background; sets grpc and ops.
serve() {
	local name=$1
	shift
	mkdir -p "$work/$name"
	"$work/hallmark" serve --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 --contracts contracts --policies policies \
		--data "$work/$name/data" --config /dev/null "$@" >"$work/$name/out" 2>"$work/$name/log" &
	pids+=($!)
	if ! until_ok 90 grep -q '^ready ' "$work/$name/out"; then
		bad "$name: hallmark serve did not become ready"
		tail -n 3 "$work/$name/log" >&2
		return 1
	fi
	read -r _ grpc ops < <(sed 's/grpc=//; s/ops=//' "$work/$name/out")
}

# fleet: three replicas with TLS that trust the proxy; sets grpc1 to grpc3, once.
fleet_started=
fleet() {
	[ -z "$fleet_started" ] || return 0
	build
	certificates
	for n in 1 2 3; do
		serve "replica$n" --tls-cert "$work/tls/server.pem" --tls-key "$work/tls/server.key" \
			--tls-client-ca "$work/tls/ca.pem" --identities deploy/identities.example.yaml || return 1
		eval "grpc$n=$grpc"
	done
	fleet_started=yes
}

# as NAME ADDR METHOD [BODY] [grpcurl's flags]: calls with the certificate of NAME.
as() {
	local name=$1 addr=$2 method=$3 body=${4:-\{\}}
	shift $(($# < 4 ? $# : 4))
	.tmp/bin/grpcurl -max-time 15 -cacert "$work/tls/ca.pem" -cert "$work/tls/$name.pem" -key "$work/tls/$name.key" \
		-authority hallmark.example.test "$@" -d "$body" "$addr" "$method"
}
grpcurl() { [ -x .tmp/bin/grpcurl ] || make -s .tmp/bin/grpcurl >/dev/null; }

readonly reply='{"request": {"tool": "deploy_status", "request_id": "req.D1e2P3l4", "arguments_json": "{\"environment\":\"staging\"}"}, "raw_text": "{\"environment\":\"staging\",\"revision\":\"a83f19c\",\"state\":\"healthy\"}"}'

# through WHAT ADDR PROBE: what every proxy must do. PROBE is whose certificate may ask for
# health.
through() {
	local what=$1 addr=$2 probe=$3
	expect "$what: a client is who its certificate says" as assistant "$addr" hallmark.v1.GateService/Validate "$reply"
	expect "$what: a client with a DNS name too" as mail-adapter "$addr" hallmark.v1.GateService/Validate \
		'{"request": {"tool": "no_such_tool", "request_id": "req.D1e2P3l4"}, "raw_text": ""}'
	refuse "$what: its roles count, not the proxy's" PermissionDenied as assistant "$addr" hallmark.v1.AuditService/ListEvents
	refuse "$what: a forged identity is removed" PermissionDenied as assistant "$addr" hallmark.v1.AuditService/ListEvents '{}' \
		-H 'hallmark-forwarded-identity: spiffe://example.test/people/operator'
	expect "$what: a client that forges one is still itself" as assistant "$addr" hallmark.v1.GateService/Validate "$reply" \
		-H 'hallmark-forwarded-identity: spiffe://example.test/people/operator'
	refuse "$what: a stranger with a forged identity is nobody" PermissionDenied as stranger "$addr" hallmark.v1.GateService/Validate "$reply" \
		-H 'hallmark-forwarded-identity: spiffe://example.test/agents/assistant'
	refuse "$what: the proxy's own certificate is nobody" PermissionDenied as proxy "$addr" hallmark.v1.GateService/Validate "$reply"
	refuse "$what: no certificate, no connection" 'rror' .tmp/bin/grpcurl -max-time 5 -cacert "$work/tls/ca.pem" -authority hallmark.example.test -d '{}' "$addr" grpc.health.v1.Health/Check
	expect "$what: health, for $probe" "$work/hallmark" healthcheck --addr "$addr" --ca "$work/tls/ca.pem" \
		--server-name hallmark.example.test --cert "$work/tls/$probe.pem" --key "$work/tls/$probe.key"
}

# ---- parts -------------------------------------------------------------------

binary() {
	build
	if has file; then expect "binary: is static" grep -q 'statically linked' <(file "$work/hallmark"); else skip "binary: is static: no file(1)"; fi
	if has ldd; then refuse "binary: has no dynamic loader" 'not a dynamic executable' ldd "$work/hallmark"; fi
	mkdir "$work/elsewhere"
	tar -c --exclude=./.git --exclude=./.tmp --exclude=./bin --exclude=./data . | tar -x -C "$work/elsewhere"
	(cd "$work/elsewhere" && CGO_ENABLED=0 $GO build -trimpath -buildvcs=false -ldflags="-s -w -buildid=" -o "$work/hallmark2" ./cmd/hallmark)
	expect "binary: is the same when it is built elsewhere" cmp "$work/hallmark" "$work/hallmark2"
	rm -rf "$work/elsewhere" "$work/hallmark2"
}

# What the image holds, without an engine for images: an empty root and its user.
chroot_part() {
	[ "$(id -u)" = 0 ] && has chroot || { skip "chroot: needs root"; return; }
	build
	local root=$work/root pid code=0
	mkdir -p "$root/etc/hallmark" "$root/var/lib/hallmark" "$root/tmp"
	cp "$work/hallmark" "$root/hallmark"
	cp -r contracts policies "$root/etc/hallmark/"
	chmod -R a+rX "$root/etc"
	chmod 1777 "$root/tmp"
	chown $id:$id "$root/var/lib/hallmark"
	chmod 0700 "$root/var/lib/hallmark"
	local in=(chroot --userspec=$id:$id --groups= "$root" /hallmark)
	expect "chroot: hallmark version as user $id, in a root with nothing else" "${in[@]}" version
	"${in[@]}" serve --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 --contracts /etc/hallmark/contracts \
		--policies /etc/hallmark/policies --data /var/lib/hallmark >"$work/root.out" 2>"$work/root.log" &
	pid=$!
	pids+=("$pid")
	until_ok 90 grep -q '^ready ' "$work/root.out" || { bad "chroot: serve did not become ready"; tail -n 3 "$work/root.log" >&2; return; }
	read -r _ grpc ops < <(sed 's/grpc=//; s/ops=//' "$work/root.out")
	expect "chroot: healthcheck from inside" "${in[@]}" healthcheck --addr "$grpc"
	expect "chroot: its data are its own" test "$(stat -c %u:%a "$root/var/lib/hallmark/audit.db")" = "$id:600"
	kill -TERM "$pid"
	wait "$pid" || code=$?
	expect "chroot: SIGTERM ends with 0 (was $code)" test "$code" = 0
	refuse "chroot: healthcheck after that has no answer" 'nobody answers' "${in[@]}" healthcheck --addr "$grpc"
	refuse "chroot: beyond loopback without TLS it does not start" 'listen' "${in[@]}" serve --listen 0.0.0.0:0 --ops-listen 127.0.0.1:0 \
		--contracts /etc/hallmark/contracts --data /var/lib/hallmark
}

config() {
	build
	local file
	for file in deploy/hallmark.example.yaml deploy/compose/hallmark.yaml deploy/kubernetes/hallmark.yaml; do
		expect "config: $file is understood" "$work/hallmark" serve --print-config --config "$file"
	done
	# What the example calls a default is one, but for what a fleet behind TLS needs.
	expect "config: the example's other values are the defaults" test "$(diff <("$work/hallmark" serve --print-config --config /dev/null) \
		<("$work/hallmark" serve --print-config --config deploy/hallmark.example.yaml) | sed -n 's/^> \([a-z_]*\):.*/\1/p' | sort | tr '\n' ' ')" = \
		"audit_dsn audit_store contracts data identities keys listen ops_listen policies tls_cert tls_client_ca tls_key "
	"$work/hallmark" serve --print-config --config /dev/null | cut -d: -f1 | sort >"$work/settings"
	python || { skip "config: the example has every setting: no Python with venv and a package index"; return; }
	$venv/bin/python -c '
import sys, yaml
for k, v in yaml.safe_load(open(sys.argv[1])).items():
    print("\n".join(f"{k}_{n}" for n in v) if isinstance(v, dict) else k)' deploy/hallmark.example.yaml | sort >"$work/examples"
	expect "config: the example has every setting" diff "$work/settings" "$work/examples"
}

nginx_part() {
	install nginx nginx-light || { skip "nginx: not here and cannot be installed"; return; }
	fleet && grpcurl || return 0
	local addr stream nginx
	addr=127.0.0.1:$(port)
	stream=127.0.0.1:$(port)
	nginx=$(command -v nginx || echo /usr/sbin/nginx)
	local modules=/usr/lib/nginx/modules/ngx_stream_module.so
	python || { skip "nginx: no Python with venv and a package index"; return; }
	manifests redirect deploy/nginx/hallmark.conf "/etc/nginx/hallmark=$work/tls" "listen 7443=listen $addr" \
		"127.0.0.1:8081=127.0.0.1:$(port)" "/dev/stdout=$work/nginx.access" \
		"hallmark-1:7443=$grpc1" "hallmark-2:7443=$grpc2" "hallmark-3:7443=$grpc3" >"$work/nginx.http"
	manifests redirect deploy/nginx/hallmark.stream.conf "listen 7443=listen $stream" \
		"hallmark-1:7443=$grpc1" "hallmark-2:7443=$grpc2" "hallmark-3:7443=$grpc3" >"$work/nginx.stream"
	{
		[ ! -e $modules ] || echo "load_module $modules;"
		echo "daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.error;"
		[ "$(id -u)" != 0 ] || echo "user root;"
		echo "events { worker_connections 256; }"
		echo "http { client_body_temp_path $work/n1; proxy_temp_path $work/n2; fastcgi_temp_path $work/n3; uwsgi_temp_path $work/n4; scgi_temp_path $work/n5;"
		cat "$work/nginx.http"
		echo "}"
		[ ! -e $modules ] || cat "$work/nginx.stream"
	} >"$work/nginx.conf"
	[ -e $modules ] || skip "nginx: hallmark.stream.conf: no stream module (Debian: libnginx-mod-stream)"
	expect "nginx: -t takes the configuration" "$nginx" -t -q -e "$work/nginx.error" -c "$work/nginx.conf"
	"$nginx" -e "$work/nginx.error" -c "$work/nginx.conf" >/dev/null 2>&1 &
	pids+=($!)
	until_ok 15 test -s "$work/nginx.pid" || { bad "nginx: did not start"; return; }
	through nginx "$addr" probe
	for _ in 1 2 3 4 5 6; do as assistant "$addr" hallmark.v1.GateService/Validate "$reply" >/dev/null || true; done
	expect "nginx: all three replicas were used" test "$(grep -o '"upstream":"[^"]*"' "$work/nginx.access" | sort -u | grep -c :)" -ge 3
	[ -e $modules ] || return 0
	expect "nginx stream: the client's own certificate arrives" as operator "$stream" hallmark.v1.AuditService/ListEvents '{"page_size": 1}'
	refuse "nginx stream: a forwarded identity is refused" PermissionDenied as assistant "$stream" hallmark.v1.AuditService/ListEvents '{}' \
		-H 'hallmark-forwarded-identity: spiffe://example.test/people/operator'
}

envoy() {
	python || { skip "envoy: no Python with venv and a package index"; return; }
	fleet && grpcurl || return 0
	local p
	p=$(port)
	# Addresses instead of names.
	sed -E "s#address: hallmark-([123]), port_value: 7443#address: 127.0.0.1, port_value: @\1@#; s#address: 0.0.0.0, port_value: 7443#address: 127.0.0.1, port_value: $p#
		s#/etc/envoy/hallmark#$work/tls#; s#port_value: 9901#port_value: 0#; s#@1@#${grpc1##*:}#; s#@2@#${grpc2##*:}#; s#@3@#${grpc3##*:}#" \
		deploy/envoy/envoy.yaml >"$work/envoy.yaml"
	expect "envoy: --mode validate takes the configuration" $venv/bin/envoy --mode validate -c "$work/envoy.yaml" --log-level error
	$venv/bin/envoy -c "$work/envoy.yaml" --concurrency 1 --disable-hot-restart --log-level error >"$work/envoy.access" 2>"$work/envoy.log" &
	pids+=($!)
	until_ok 30 as assistant "127.0.0.1:$p" hallmark.v1.ContractService/ListContracts || { bad "envoy: did not start"; tail -n 5 "$work/envoy.log" >&2; return; }
	# Envoy names whoever it is, and health is refused for a forwarded name that is unlisted.
	through envoy "127.0.0.1:$p" assistant
	for _ in 1 2 3 4 5 6; do as assistant "127.0.0.1:$p" hallmark.v1.GateService/Validate "$reply" >/dev/null || true; done
	until_ok 15 eval "[ \"\$(grep -o '\"upstream\":\"[^\"]*\"' '$work/envoy.access' | sort -u | grep -c :)\" -ge 3 ]" || true
	expect "envoy: all three replicas were used" test "$(grep -o '"upstream":"[^"]*"' "$work/envoy.access" | sort -u | grep -c :)" -ge 3
}

postgres() {
	has psql && database=$(tools/postgres.sh start 2>"$work/out") || { database=; skip "postgres: $(tail -n 1 "$work/out" 2>/dev/null || echo 'no psql')"; return; }
	build
	grpcurl
	local admin host dir=$work/db
	admin=$(tools/postgres.sh dsn "$database")
	host=${admin##*@}
	host=${host%%/*}
	deploy/compose/prepare.sh "$dir" >/dev/null
	export OWNER_PASSWORD_FILE=$dir/owner_password SERVICE_PASSWORD_FILE=$dir/service_password
	expect "postgres: roles.sql" psql -q -v ON_ERROR_STOP=1 -f deploy/postgres/roles.sql "$admin"
	local owner="host=${host%:*} port=${host#*:} user=hallmark_owner dbname=hallmark sslmode=disable"
	local service="host=$database/run port=${host#*:} user=hallmark_service dbname=hallmark sslmode=disable"
	expect "postgres: keys init" "$work/hallmark" keys init --data "$work/pgkeys"
	refuse "postgres: without tables the service does not start" 'run: hallmark migrate' env PGPASSFILE="$dir/service_pgpass" \
		"$work/hallmark" serve --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 --contracts contracts --data "$work/pgdata" \
		--audit-store postgres --audit-dsn "$service" --keys "$work/pgkeys/keys"
	expect "postgres: migrate, by the owner with PGPASSFILE" env PGPASSFILE="$dir/owner_pgpass" HALLMARK_AUDIT_DSN="$owner" "$work/hallmark" migrate
	expect "postgres: grants.sql" env PGPASSWORD="$(cat "$dir/owner_password")" psql -q -v ON_ERROR_STOP=1 -f deploy/postgres/grants.sql "$owner"
	PGPASSFILE=$dir/service_pgpass serve pgservice --audit-store postgres --audit-dsn "$service" --keys "$work/pgkeys/keys" || return 0
	expect "postgres: a judgement is recorded, over the socket" .tmp/bin/grpcurl -plaintext -d "$reply" "$grpc" hallmark.v1.GateService/Validate
	expect "postgres: and read" .tmp/bin/grpcurl -plaintext -d '{"page_size": 1}' "$grpc" hallmark.v1.AuditService/ListEvents
	refuse "postgres: the service's role cannot change a record" 'permission denied' env PGPASSWORD="$(cat "$dir/service_password")" \
		psql -q -v ON_ERROR_STOP=1 -c "UPDATE events SET tool = ''" "$service"
	refuse "postgres: nor make tables" 'permission denied' env PGPASSWORD="$(cat "$dir/service_password")" \
		psql -q -v ON_ERROR_STOP=1 -c 'CREATE TABLE t (n int)' "$service"
}

prometheus() {
	install promtool prometheus || { skip "prometheus: no promtool and it cannot be installed"; return; }
	expect "prometheus: check rules" promtool check rules deploy/prometheus/hallmark.rules.yml
	expect "prometheus: test rules" promtool test rules deploy/prometheus/hallmark.rules.test.yml
}

grafana() {
	python || { skip "grafana: no Python with venv and a package index"; return; }
	expect "grafana: the dashboard parses, panels have ids of their own" manifests queries deploy/grafana/hallmark.json
	manifests queries deploy/grafana/hallmark.json >"$work/queries.yml" || return 0
	if has promtool; then expect "grafana: every query is PromQL" promtool check rules "$work/queries.yml"; else skip "grafana: every query is PromQL: no promtool"; fi
	fleet && grpcurl || return 0
	as assistant "$grpc1" hallmark.v1.GateService/Validate "$reply" >/dev/null || true
	read -r _ _ ops < <(sed 's/grpc=//; s/ops=//' "$work/replica1/out")
	if ! has curl; then skip "grafana: names of metrics: no curl"; return; fi
	curl -fsS "http://$ops/metrics" | sed -n 's/^# TYPE \([a-z0-9_]*\) .*/\1/p' >"$work/names"
	# A counter with labels appears with its first count; the sources know it before.
	grep -oh '"hallmark_[a-z0-9_]*"' server/*.go | tr -d '"' >>"$work/names"
	local name missing=
	while IFS= read -r name; do
		grep -qx -e "$name" -e "${name%_bucket}" -e "${name%_count}" "$work/names" || missing+=" $name"
	done < <(manifests metrics deploy/prometheus/hallmark.rules.yml deploy/grafana/hallmark.json)
	expect "grafana: every metric of dashboard and rules is one of the service's (missing:${missing:- none})" test -z "$missing"
}

compose() {
	python || { skip "compose: no Python with venv and a package index"; return; }
	local dir module=github.com/compose-spec/compose-go/v2@v2.10.1
	dir=$(cd "$work" && $GO mod download -json $module 2>/dev/null | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	[ -n "$dir" ] || { skip "compose: no schema, $module cannot be fetched"; return; }
	expect "compose: compose.yaml fits the Compose schema, and what it mounts is there" manifests compose "$dir/schema/compose-spec.json" deploy/compose/compose.yaml
	expect "compose: prepare.sh" deploy/compose/prepare.sh "$work/secrets"
	local missing=
	while IFS= read -r file; do [ -s "$work/$file" ] || missing+=" $file"; done < <(sed -n 's/.*{file: \(secrets\/[^}]*\)}.*/\1/p' deploy/compose/compose.yaml)
	expect "compose: it makes every secret (missing:${missing:- none})" test -z "$missing"
	skip "compose: nothing is started: no images can be pulled here"
}

kubernetes() {
	python || { skip "kubernetes: no Python with venv and a package index"; return; }
	local code=0 version
	if ! has kubectl; then skip "kubernetes: no kubectl to render kustomization.yaml"; return; fi
	cp -r deploy/kubernetes "$work/kubernetes"
	expect "kubernetes: contracts.sh" "$work/kubernetes/contracts.sh" contracts policies
	expect "kubernetes: kustomize renders" kubectl kustomize "$work/kubernetes" -o "$work/rendered.yaml"
	[ -s "$work/rendered.yaml" ] || return 0
	for version in 1.33 1.37; do
		code=0
		manifests kubernetes $version "$work/rendered.yaml" deploy/kubernetes/migrate-job.yaml >"$work/out" 2>&1 || code=$?
		[ $code = 0 ] && ok "kubernetes: manifests fit the schemas of $version" || { bad "kubernetes: schemas of $version"; cat "$work/out" >&2; }
	done
	code=0
	manifests kubernetes 1.37 deploy/kubernetes/examples/*.yaml >"$work/out" 2>&1 || code=$?
	[ $code = 3 ] || bad "kubernetes: examples: $(cat "$work/out")"
	while IFS= read -r line; do skip "kubernetes: examples/$line"; done <"$work/out"
	expect "kubernetes: volumes as the kubelet lays them out" manifests volumes "$work/rendered.yaml" "$work/pod"
	build
	local etc=$work/pod/etc/hallmark name
	for name in contracts policies; do
		expect "kubernetes: mounted $name are those of the tree" diff -r "$name" "$etc/$name/..data/"
	done
	expect "kubernetes: and pass check" "$work/hallmark" check "$etc/contracts" --policies "$etc/policies"
	serve pod --contracts "$etc/contracts" --policies "$etc/policies" || return 0
	expect "kubernetes: and are served" "$work/hallmark" contracts --addr "$grpc"
	sed "s#\(listen\|ops_listen\): .*#\1: 127.0.0.1:0#; s#/etc/hallmark#$etc#" "$etc/config/hallmark.yaml" >"$work/pod.yaml"
	expect "kubernetes: the mounted settings name mounted files" test -f "$(sed -n 's/^identities: //p' "$work/pod.yaml")"
	skip "kubernetes: nothing is applied: there is no cluster here"
}

systemd() {
	has systemd-analyze || { skip "systemd: no systemd-analyze"; return; }
	build
	mkdir -p "$work/units"
	sed "s#/usr/local/bin/hallmark#$work/hallmark#" deploy/systemd/hallmark.service >"$work/units/hallmark.service"
	# Faults of lines are told at debug alone where no manager runs; system calls that this
	# kernel's libseccomp does not know are no fault. A unit that was not read would have no fault either.
	SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console systemd-analyze verify --man=no "$work/units/hallmark.service" >"$work/verify" 2>&1 || true
	echo 'NoSuchKey=1' | cat "$work/units/hallmark.service" - >"$work/units/wrong.service"
	SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console systemd-analyze verify --man=no "$work/units/wrong.service" >"$work/wrong" 2>&1 || true
	if ! grep -q 'NoSuchKey' "$work/wrong"; then
		skip "systemd: verify: it does not tell faults here"
	else
		expect "systemd: verify finds nothing in the unit" eval "! grep -E 'units/hallmark.service:[0-9]+: |hallmark.service: Command' '$work/verify' | grep -v 'Failed to parse system call, ignoring'"
	fi
	if systemd-analyze security --offline=true --threshold=20 --no-pager "$work/units/hallmark.service" >"$work/out" 2>&1; then
		ok "systemd: $(grep -o 'Overall exposure.*' "$work/out")"
	else
		bad "systemd: exposure above 2.0: $(tail -n 1 "$work/out")"
	fi
	skip "systemd: the unit is not started: systemd does not run here"
}

container() {
	# The steps of the image that need no engine are the part chroot. What is named in COPY
	# must be there.
	local source missing=
	for source in $(sed -n 's/^COPY \(--[^ ]* \)*\(.*\) [^ ]*$/\1\2/p' deploy/container/Containerfile | grep -v -- --from=); do
		[ -e "$source" ] || missing+=" $source"
	done
	expect "container: what the Containerfile copies is there (missing:${missing:- none})" test -z "$missing"
	skip "container: the image is not built: its base image cannot be pulled here"
}

for part in ${*:-$parts}; do
	case " $parts " in *" $part "*) ;; *) echo "deploy-check: no part is called $part; there are: $parts" >&2; exit 2 ;; esac
	case $part in chroot | nginx) "${part}_part" ;; *) "$part" ;; esac
done
echo
for s in "${skipped[@]}"; do echo "SKIPPED: $s"; done
[ "${STRICT:-0}" = 0 ] || failed=$((failed + ${#skipped[@]}))
[ $failed = 0 ] || { echo "deploy-check: $failed failed" >&2; exit 1; }
echo "deploy-check: nothing failed, ${#skipped[@]} left out"
