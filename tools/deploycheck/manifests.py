"""What tools/deploy-check.sh asks about YAML and JSON files.

    manifests.py compose SCHEMA FILE           compose.yaml against the Compose schema
    manifests.py kubernetes VERSION FILE...    manifests against the schemas of a version
    manifests.py volumes RENDERED DIR          lays the pod's mounted ConfigMaps out below DIR
    manifests.py redirect FILE FROM=TO...      FILE with texts replaced, on standard output
    manifests.py metrics RULES DASHBOARD       names of metrics that they use, one a line
    manifests.py queries DASHBOARD             its queries as rules for promtool

Exit codes: 0 good, 1 a fault (said on standard error), 3 something was left out (said on
standard output, a line each).
"""

import base64
import json
import os
import re
import sys

import yaml


def documents(path):
    with open(path, encoding="utf-8") as f:
        return [d for d in yaml.safe_load_all(f) if d is not None]


def compose(schema, path):
    import jsonschema

    with open(schema, encoding="utf-8") as f:
        schema = json.load(f)
    cls = jsonschema.validators.validator_for(schema)
    faults = list(cls(schema).iter_errors(documents(path)[0]))
    for fault in faults:
        print(f"{path}: /{'/'.join(map(str, fault.absolute_path))}: {fault.message[:300]}", file=sys.stderr)
    (doc,) = documents(path)
    base = os.path.dirname(path)
    for name, service in doc["services"].items():  # what is mounted is there, secrets apart
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith(".") and not os.path.exists(os.path.join(base, source)):
                faults.append(source)
                print(f"{path}: {name} mounts {source}, which is not there", file=sys.stderr)
        for secret in service.get("secrets", []):
            secret = secret if isinstance(secret, str) else secret["source"]
            if secret not in doc["secrets"]:
                faults.append(secret)
                print(f"{path}: {name} has the secret {secret}, which is not declared", file=sys.stderr)
    return 1 if faults else 0


def kubernetes(version, *paths):
    import kubernetes_validate

    code = 0
    for path in paths:
        for d in documents(path):
            what = f"{os.path.basename(path)}: {d['kind']} {d['metadata'].get('name', d['metadata'].get('generateName'))}"
            if not re.fullmatch(r"(v1|apps/v1|batch/v1|policy/v1|networking\.k8s\.io/v1)", d["apiVersion"]):
                print(f"{what}: no schema here for {d['apiVersion']}")
                code = code or 3
                continue
            try:
                kubernetes_validate.validate(d, version, strict=True)
            except kubernetes_validate.ValidationError as e:
                print(f"{what}: {e.message[:300]} at {list(e.path)}", file=sys.stderr)
                code = 1
    return code


def volumes(rendered, out):
    """Lays volumes out as the kubelet does: files below a dated folder, ..data a link to
    it, and a link through ..data for each first name."""
    docs = documents(rendered)
    maps = {d["metadata"]["name"]: d for d in docs if d["kind"] == "ConfigMap"}
    (deployment,) = [d for d in docs if d["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    mounts = {m["name"]: m["mountPath"] for m in pod["containers"][0]["volumeMounts"]}
    declared = {v["name"] for v in pod["volumes"]}
    if set(mounts) != declared:
        print(f"mounted and declared volumes differ: {sorted(set(mounts) ^ declared)}", file=sys.stderr)
        return 1
    for volume in pod["volumes"]:
        sources = [s["configMap"] for s in volume.get("projected", {}).get("sources", [])]
        if "configMap" in volume:
            sources = [volume["configMap"]]
        if not sources:
            continue
        root = out + mounts[volume["name"]]
        dated = os.path.join(root, "..2026_01_15_09_30_00.000000001")
        for source in sources:
            data = {k: v.encode() for k, v in (maps[source["name"]].get("data") or {}).items()}
            data |= {k: base64.b64decode(v) for k, v in (maps[source["name"]].get("binaryData") or {}).items()}
            items = source.get("items") or [{"key": k, "path": k} for k in data]
            if len(items) != len(data):
                print(f"{source['name']}: {len(data)} keys and {len(items)} items", file=sys.stderr)
                return 1
            for item in items:
                path = os.path.join(dated, item["path"])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "xb") as f:  # two sources with one path are a fault
                    f.write(data[item["key"]])
        os.symlink(os.path.basename(dated), os.path.join(root, "..data"))
        for first in os.listdir(dated):
            os.symlink(os.path.join("..data", first), os.path.join(root, first))
    return 0


def redirect(path, *pairs):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for pair in pairs:
        old, new = pair.split("=", 1)
        if old not in text:
            print(f"{path}: holds no {old!r}", file=sys.stderr)
            return 1
        text = text.replace(old, new)
    sys.stdout.write(text)
    return 0


def panels(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def dashboard_queries(path):
    with open(path, encoding="utf-8") as f:
        dashboard = json.load(f)
    queries = [t["expr"] for p in panels(dashboard) for t in p.get("targets", [])]
    return dashboard, queries


def metrics(rules, dashboard_path):
    dashboard, texts = dashboard_queries(dashboard_path)
    own = set()
    for group in documents(rules)[0]["groups"]:
        for rule in group["rules"]:
            texts.append(rule["expr"])
            own.add(rule.get("record"))
    texts += [str(v.get("query", "")) for v in dashboard["templating"]["list"]]
    found = set()
    for text in texts:
        text = re.sub(r'"(\\.|[^"\\])*"', "", text)  # label values are no names
        found |= set(re.findall(r"\b(?:hallmark|go|process)_[a-z0-9_]+\b", text))
    print("\n".join(sorted(found - own)))
    return 0


def queries(path):
    dashboard, exprs = dashboard_queries(path)
    ids = [p["id"] for p in panels(dashboard)]
    if len(ids) != len(set(ids)) or not exprs:
        print(f"{path}: panels without queries, or with the same id", file=sys.stderr)
        return 1
    rules = []
    for n, expr in enumerate(exprs):
        expr = re.sub(r"\$__rate_interval|\$__interval", "5m", expr)
        expr = re.sub(r"\$\{?[a-z_]+(:[a-z]+)?\}?", "x", expr)
        rules.append({"record": f"panel:{n}", "expr": expr})
    yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, sys.stdout)
    return 0


if __name__ == "__main__":
    commands = {f.__name__: f for f in (compose, kubernetes, volumes, redirect, metrics, queries)}
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
