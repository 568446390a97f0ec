#!/usr/bin/env bash
# Certificates for trying the files of this folder, and for tools/deploy-check.sh: an
# authority, the service, a proxy, and one client of each kind. Not for production: the
# authority's key lies beside them, without a password. Needs openssl.
#
#   deploy/certificates.sh DIR [DAYS]
#
# Each NAME.pem has its NAME.key. They are readable by all within DIR, which is 0700: a
# bind mount of one file then works for a container that is not root.
set -eu -o pipefail

[ $# -ge 1 ] || { echo "usage: deploy/certificates.sh DIR [DAYS]" >&2; exit 2; }
dir=$1
days=${2:-30}
umask 077
mkdir -p "$dir"
cd "$dir"
for old in ./*.pem; do
	[ ! -e "$old" ] || { echo "certificates.sh: $dir holds certificates already; name another directory" >&2; exit 2; }
done

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "$days" \
	-subj "/O=example.test/CN=trial authority" -addext basicConstraints=critical,CA:TRUE,pathlen:0 \
	-addext keyUsage=critical,keyCertSign,cRLSign -keyout ca.key -out ca.pem 2>/dev/null

# issue NAME USAGE SAN
issue() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/O=example.test/CN=$1" \
		-keyout "$1.key" -out "$1.csr" 2>/dev/null
	printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%s\nsubjectAltName=%s\n' \
		"$2" "$3" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$days" \
		-extfile "$1.ext" -out "$1.pem" 2>/dev/null
	rm "$1.csr" "$1.ext"
}

issue server serverAuth "DNS:hallmark.example.test,DNS:localhost,IP:127.0.0.1,DNS:hallmark-1,DNS:hallmark-2,DNS:hallmark-3"
issue proxy serverAuth,clientAuth "URI:spiffe://example.test/proxy,DNS:hallmark.example.test,DNS:localhost,IP:127.0.0.1"
# The clients of identities.example.yaml.
issue assistant clientAuth URI:spiffe://example.test/agents/assistant
issue mail-adapter clientAuth DNS:mail-adapter.example.test
issue mail-executor clientAuth URI:spiffe://example.test/executors/mail
issue operator clientAuth URI:spiffe://example.test/people/operator
# Known to nobody: good enough to ask for health, and for nothing else.
issue probe clientAuth DNS:probe.example.test
issue stranger clientAuth URI:spiffe://example.test/stranger
chmod 444 ./*.pem ./*.key
chmod 400 ca.key
