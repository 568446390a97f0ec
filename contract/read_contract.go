package contract

import (
	"regexp"
	"time"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Bounds of texts, in bytes.
const (
	maxName     = 256
	maxSentence = 4096
	maxSource   = 2048
)

// Bounds of durations. The short ones keep a mistyped unit from passing as a promise.
const (
	day          = 24 * time.Hour
	maxKeep      = 10 * 366 * day
	maxTTL       = 30 * day
	maxAge       = 366 * day
	maxBudget    = time.Hour
	defaultKeep  = 720 * time.Hour
	maxAttempts  = 20
	maxDisplay   = 2000
	maxVersion   = 999_999
	maxTextChars = 1_000_000
)

var (
	toolForm   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$`)
	scopeForm  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	nameForm   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
	labelForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _.:/@-]{0,127}$`)
	mediaForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$`)
	schemaForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*\.json$`)
)

// A draft is one contract folder being read.
type draft struct {
	*source
	contract *Contract
	files    map[string][]byte // of the folder, by path relative to it
	version  int               // of the folder's name
	// named are the files that the contract or a case names.
	named map[string]bool
	// beyond is true where the contract uses something that this program does not
	// judge; what follows from it is then not looked at.
	beyond bool
	// schemaFaults are those of the schemas' files, relative to the folder.
	schemaFaults Faults
}

// readContract reads contract.yaml and the schemas that it names.
func readContract(dir string, version int, files map[string][]byte) *draft {
	root, s := readYAML(dir+"/"+mainFile, files[mainFile])
	d := &draft{
		source: s, files: files, version: version, named: make(map[string]bool),
		contract: &Contract{Dir: dir, Version: version, Digest: digest(files), Files: files, places: s.places},
	}
	if root == nil {
		return d
	}
	d.questions(root, files[mainFile])
	c := d.contract
	var trust string
	d.object(root, "",
		need("tool", d.matching(&c.Tool, toolForm, "a tool name: letters, digits and _.:/-, at most 128")),
		may("aliases", d.list(0, collect(d.source, &c.Aliases, d.anyName))),
		need("version", d.folderVersion),
		need("owner", d.text(&c.Owner, maxName)),
		may("description", d.text(&c.Description, maxSentence)),
		need("effect", word(d.source, &c.Effect, ReadOnly, SideEffect)),
		may("egress", word(d.source, &c.Egress, EgressNone, EgressOpen, EgressGranted)),
		may("idempotent", d.boolean(&c.Idempotent)),
		may("trust", word(d.source, &trust, "trusted", "untrusted")),
		may("trusted_sources", d.list(0, collect(d.source, &c.Trust.Sources, d.texts(maxSource)))),
		may("trusted_callers", d.list(0, collect(d.source, &c.Trust.Callers, d.texts(maxName)))),
		may("source_label", d.matching(&c.SourceLabel, labelForm, "a label: letters, digits, spaces and _.:/@-, at most 128")),
		need("result", d.result),
		may("retry", d.retry),
		may("retention", d.retention),
		may("receipt", d.receipt),
		may("arguments", d.arguments),
	)
	c.Trust.Trusted = trust == "trusted"
	if !d.said("retention") {
		c.Retention = defaultRetention()
	}
	return d
}

// compilable reports whether nothing that an engine reads is at fault: not the name, the
// result or the arguments, nor a schema.
func (d *draft) compilable() bool {
	return d.good["tool"] && d.good["result"] && (d.good["arguments"] || !d.said("arguments")) &&
		len(d.schemaFaults) == 0 && !d.beyond
}

func (s *source) texts(most int) func(*string) read {
	return func(dst *string) read { return s.text(dst, most) }
}

// anyName reads a tool's name or alias.
func (s *source) anyName(dst *string) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.String) {
			return
		}
		if n.Value == "" || len(n.Value) > maxName || !utf8.ValidString(n.Value) {
			s.fault(n, "", "%s: a name has 1 to %d bytes of UTF-8", path, maxName)
			return
		}
		*dst = n.Value
	}
}

func (d *draft) folderVersion(n *yaml.Node, path string) {
	version := 0
	d.integer(&version, 1, maxVersion)(n, path)
	if version != 0 && version != d.version {
		d.fault(n, "", "version is %d, but the folder is named v%d", version, d.version)
	}
}

func (d *draft) retry(n *yaml.Node, path string) {
	r := &Retry{}
	d.object(n, path,
		need("max_attempts", d.integer(&r.MaxAttempts, 1, maxAttempts)),
		need("budget", d.duration(&r.Budget, time.Millisecond, maxBudget)),
		may("delay", d.duration(&r.Delay, 0, maxBudget)),
		need("on", d.list(1, collect(d.source, &r.On, d.retryable))),
	)
	if r.Budget > 0 && r.Delay > r.Budget {
		d.fault(n, "", "%s: the delay is longer than the budget", path)
	}
	d.contract.Retry = r
}

// retryable reads a code for which an identical call can have another outcome: a
// refusal by authorisation needs a new decision, and an unknown outcome is never
// repeated blindly (A19). A reply that broke its contract stops by default; a contract
// whose upstream is known to stutter may say otherwise.
func (d *draft) retryable(dst *FailureCode) read {
	return func(n *yaml.Node, path string) {
		before := d.wrong
		word(d.source, dst, FailureCodes()...)(n, path)
		if d.wrong > before {
			return
		}
		switch *dst {
		case UpstreamUnavailable, ToolFailed, NotFound, InvalidResponse:
		default:
			d.fault(n, "", "%s: %s is never retried; eligible are %s, %s, %s, %s",
				path, n.Value, UpstreamUnavailable, ToolFailed, NotFound, InvalidResponse)
		}
	}
}

func defaultRetention() Retention {
	return Retention{Accepted: "hash", Rejected: "sealed", Keep: defaultKeep}
}

func (d *draft) retention(n *yaml.Node, path string) {
	r := defaultRetention()
	how := func(dst *string) read { return word(d.source, dst, "hash", "sealed", "none") }
	d.object(n, path,
		may("accepted", how(&r.Accepted)),
		may("rejected", how(&r.Rejected)),
		may("keep", d.duration(&r.Keep, time.Second, maxKeep)),
		may("redact", d.list(0, collect(d.source, &r.Redact, func(dst *string) read {
			return word(d.source, dst, "email", "phone", "token")
		}))),
	)
	d.contract.Retention = r
}

func (d *draft) receipt(n *yaml.Node, path string) {
	r := &Receipt{}
	d.object(n, path,
		need("ttl", d.duration(&r.TTL, time.Second, maxTTL)),
		may("facts", d.boolean(&r.Facts)),
		may("signed", d.boolean(&r.Signed)),
	)
	d.contract.Receipt = r
}

// schema reads the name of a schema file and the file with what it refers to.
func (d *draft) schema(dst **Schema) read {
	return func(n *yaml.Node, path string) {
		var name string
		d.matching(&name, schemaForm, "a .json file of this folder")(n, path)
		if name == "" {
			return
		}
		d.named[name] = true
		if _, ok := d.files[name]; !ok {
			d.fault(n, "create it beside contract.yaml", "%s: there is no file %s", path, quote(name))
			return
		}
		schema, faults := readSchema(d.files, name)
		d.schemaFaults = append(d.schemaFaults, faults...)
		if schema == nil {
			return
		}
		for file := range schema.Files {
			d.named[file] = true
		}
		*dst = schema
	}
}
