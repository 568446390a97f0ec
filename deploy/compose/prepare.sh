#!/usr/bin/env bash
# Secrets for compose.yaml, for trying it: passwords and certificates, in secrets/ beside
# this file. What is there stays. Needs openssl.
set -eu -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/secrets}
umask 077
mkdir -p "$dir"
for role in admin owner service; do
	[ -s "$dir/${role}_password" ] || openssl rand -hex 24 | tr -d '\n' >"$dir/${role}_password"
done
printf '*:*:*:hallmark_owner:%s\n' "$(cat "$dir/owner_password")" >"$dir/owner_pgpass"
printf '*:*:*:hallmark_service:%s\n' "$(cat "$dir/service_password")" >"$dir/service_pgpass"
[ -d "$dir/tls" ] || "$here/../certificates.sh" "$dir/tls"
# The directory keeps others out; the files are mounted one by one for users that are not
# this one.
chmod 444 "$dir"/*_password "$dir"/*_pgpass
echo "secrets are in $dir"
