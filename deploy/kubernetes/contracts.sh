#!/usr/bin/env bash
# Makes generated/ for kustomization.yaml: contracts and policies as ConfigMaps, and the
# volumes that put them together again.
#
#   deploy/kubernetes/contracts.sh CONTRACTS POLICIES [OUT]
#
# ConfigMaps are flat and hold at most 1 MiB, and contracts are folders. So each tool (and
# what lies beside the tools) is a ConfigMap whose keys are the paths with __ for /, and a
# projected volume with an item for each file lays them out as folders. Names have no
# suffix: a changed file reaches running pods within a minute or two, all of a volume at
# once, and is served without a restart. A file more or less changes the items, and with
# them the Deployment: that is a rollout.
#
# Where contracts should change by rollouts only, use an image volume in place of this
# (deploy/README.md).
set -eu -o pipefail

fail() { echo "contracts.sh: $*" >&2; exit 1; }
[ $# -ge 2 ] || { echo "usage: deploy/kubernetes/contracts.sh CONTRACTS POLICIES [OUT]" >&2; exit 2; }
contracts=$1 policies=$2
out=${3:-$(cd "$(dirname "$0")" && pwd)/generated}
[ -d "$contracts" ] && [ -d "$policies" ] || fail "name two directories"

rm -rf "$out"
mkdir -p "$out/files"
printf 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n' >"$out/kustomization.yaml"
printf 'generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n' >>"$out/kustomization.yaml"
printf '[\n' >"$out/volumes.json"

# volume NAME DIR: one projected volume, and a ConfigMap for each first folder of DIR.
separator=
volume() {
	local volume=$1 dir=$2 path key map last=
	printf '%s{"op":"add","path":"/spec/template/spec/volumes/-","value":{"name":"%s","projected":{"sources":[' "$separator" "$volume" >>"$out/volumes.json"
	separator=,
	while IFS= read -r path; do
		case $path in *__* | *[!A-Za-z0-9._/-]*) fail "$dir/$path: a path here has letters, digits, dots, dashes and single underscores only" ;; esac
		key=${path//\//__}
		[ ${#key} -le 253 ] || fail "$dir/$path: the path is too long for a ConfigMap"
		case $path in */*) map=hallmark-$volume-${path%%/*} ;; *) map=hallmark-$volume ;; esac
		map=$(printf %s "$map" | tr '_A-Z.' '-a-z-')
		if [ "$map" != "$last" ]; then
			! grep -q "^  - name: $map\$" "$out/kustomization.yaml" || fail "$dir: two folders would be the ConfigMap $map"
			[ -z "$last" ] || printf ']}},' >>"$out/volumes.json"
			printf '{"configMap":{"name":"%s","items":[' "$map" >>"$out/volumes.json"
			printf '  - name: %s\n    files:\n' "$map" >>"$out/kustomization.yaml"
			mkdir "$out/files/$map"
		else
			printf , >>"$out/volumes.json"
		fi
		last=$map
		cp "$dir/$path" "$out/files/$map/$key"
		printf '      - files/%s/%s\n' "$map" "$key" >>"$out/kustomization.yaml"
		printf '{"key":"%s","path":"%s"}' "$key" "$path" >>"$out/volumes.json"
	done < <(cd "$dir" && { find . -maxdepth 1 -type f; find . -mindepth 2 -type f; } | sed 's#^\./##' | LC_ALL=C awk '{ print (index($0, "/") ? "1" : "0") $0 }' | LC_ALL=C sort | cut -c2-)
	[ -n "$last" ] || fail "$dir holds no file"
	printf ']}}]}}}\n' >>"$out/volumes.json"
}
volume contracts "$contracts"
volume policies "$policies"
printf ']\n' >>"$out/volumes.json"
cat >>"$out/kustomization.yaml" <<END
patches:
  - target: {kind: Deployment, name: hallmark}
    path: volumes.json
END
for map in "$out"/files/*; do
	size=$(cat "$map"/* | wc -c)
	[ "$size" -le 900000 ] || fail "$(basename "$map") would hold $size bytes, and a ConfigMap takes 1 MiB: use an image volume"
done
echo "made $out: $(find "$out/files" -mindepth 1 -maxdepth 1 | wc -l) ConfigMaps of $(find "$out/files" -type f | wc -l) files"
