package server

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/gate"
)

// identity is who calls and what it may do. It is immutable.
type identity struct {
	gate.Caller
	roles roles
	// tenants are those whose records an operator reads.
	tenants []string
	// share is how many of its calls may be in flight; 0: the service's default share.
	share int
}

// local is who calls in plaintext: there is no identity, so this is served on loopback
// only, or with the operator's explicit consent. It shares the room with nobody.
func local(calls int) *identity {
	return &identity{
		Caller:  gate.Caller{Tenant: "local", Name: "local", Operator: true, MayGrant: true},
		roles:   roleAdapter | roleOrchestrator | roleExecutor | roleOperator,
		tenants: []string{"local"}, share: calls,
	}
}

// directory is what an identities file says.
type directory struct {
	bySAN   map[string]*identity
	proxies map[string]bool // by SAN
	names   []string        // of the identities, as they stand in the file
}

// Bounds of an identities file.
const (
	maxIdentities = 1000 // each is a label in the metrics
	maxNameList   = 1000
	maxShare      = 1 << 20
)

// Forms of names. A name that a record could not hold as it is would be another's there.
const (
	namePattern = `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`
	// The alphabet of SPIFFE IDs, which have one spelling each.
	sanPattern = `spiffe://[a-z0-9._-]{1,255}(/[A-Za-z0-9._-]+)+|dns:[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*`
	toolForm   = "a tool's name, 1 to 256 bytes"
)

// directoryReader reads one identities file.
type directoryReader struct {
	file      string
	name, san *regexp.Regexp
	sans      map[string]bool
	out       *directory
}

// readDirectory reads an identities file. The error names the first fault with its
// place.
func readDirectory(file string, content []byte) (*directory, error) {
	root, err := oneDocument(file, content)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, fmt.Errorf("%s: the file is empty; without identities nobody may call", file)
	}
	r := &directoryReader{
		file: file, name: regexp.MustCompile(`^(` + namePattern + `)$`), san: regexp.MustCompile(`^(` + sanPattern + `)$`),
		sans: map[string]bool{}, out: &directory{bySAN: map[string]*identity{}, proxies: map[string]bool{}},
	}
	members, err := r.members(root, "identities", "proxies")
	if err != nil {
		return nil, err
	}
	if members["identities"] == nil {
		return nil, fmt.Errorf("%s: identities is missing; without it nobody may call", placeOf(file, root))
	}
	if err := r.each(members["identities"], maxIdentities, r.identity); err != nil {
		return nil, err
	}
	if members["proxies"] != nil {
		err = r.each(members["proxies"], maxNameList, func(n *yaml.Node) error {
			san, err := r.newSAN(n)
			r.out.proxies[san] = true
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return r.out, nil
}

// identity reads one entry.
func (r *directoryReader) identity(n *yaml.Node) error {
	m, err := r.members(n, "name", "san", "tenant", "roles", "tools", "may_grant", "tenants", "share")
	if err != nil {
		return err
	}
	for _, needed := range []string{"name", "san", "tenant", "roles"} {
		if m[needed] == nil {
			return fmt.Errorf("%s: %s is missing", placeOf(r.file, n), needed)
		}
	}
	id := &identity{}
	if id.Name, err = r.named(m["name"]); err != nil {
		return err
	}
	if slices.Contains(r.out.names, id.Name) {
		return r.fault(m["name"], "the name %q stands here for the second time", id.Name)
	}
	if id.Tenant, err = r.named(m["tenant"]); err != nil {
		return err
	}
	san, err := r.newSAN(m["san"])
	if err != nil {
		return err
	}
	if err := r.rights(id, m); err != nil {
		return err
	}
	r.out.names = append(r.out.names, id.Name)
	r.out.bySAN[san] = id
	return nil
}

// rights reads what an identity may do.
func (r *directoryReader) rights(id *identity, m map[string]*yaml.Node) error {
	err := r.each(m["roles"], len(roleNames()), func(n *yaml.Node) error { return r.role(id, n) })
	if err != nil {
		return err
	}
	id.Operator, id.RawReader = id.roles&roleOperator != 0, id.roles&roleRawReader != 0
	if n := m["tools"]; n != nil {
		if id.Tools, err = r.list(n, r.tool); err != nil {
			return err
		}
	}
	if n := m["may_grant"]; n != nil {
		if err := (boolValue{&id.MayGrant}).Set(scalar(n)); err != nil {
			return r.fault(n, "may_grant %w", err)
		}
		if id.MayGrant && id.roles&roleOrchestrator == 0 {
			return r.fault(n, "may_grant means nothing without the role orchestrator; add the role, or leave it out")
		}
	}
	if n := m["share"]; n != nil {
		id.share, err = strconv.Atoi(scalar(n))
		if err != nil || id.share < 1 || id.share > maxShare {
			return r.fault(n, "share is a number of calls from 1 to %d", maxShare)
		}
	}
	id.tenants = []string{id.Tenant}
	if n := m["tenants"]; n != nil {
		if !id.Operator {
			return r.fault(n, "tenants means nothing without the role operator; add the role, or leave it out")
		}
		id.tenants, err = r.list(n, r.named)
	}
	return err
}

func (r *directoryReader) role(id *identity, n *yaml.Node) error {
	role, known := roleNames()[scalar(n)]
	switch {
	case !known:
		return r.fault(n, "%q is no role; there are adapter, orchestrator, executor, operator and raw_reader", scalar(n))
	case id.roles&role != 0:
		return r.fault(n, "the role %s stands here for the second time", scalar(n))
	}
	id.roles |= role
	return nil
}

// list reads a list of names without repetition.
func (r *directoryReader) list(n *yaml.Node, one func(*yaml.Node) (string, error)) ([]string, error) {
	var out []string
	err := r.each(n, maxNameList, func(n *yaml.Node) error {
		name, err := one(n)
		if err == nil && slices.Contains(out, name) {
			err = r.fault(n, "%q stands here for the second time", name)
		}
		out = append(out, name)
		return err
	})
	return out, err
}

func (r *directoryReader) named(n *yaml.Node) (string, error) {
	if s := scalar(n); r.name.MatchString(s) {
		return s, nil
	}
	return "", r.fault(n, "%q is no name of 1 to 64 letters, digits, dots, dashes and underscores", scalar(n))
}

func (r *directoryReader) tool(n *yaml.Node) (string, error) {
	if s := scalar(n); s != "" && len(s) <= 256 {
		return s, nil
	}
	return "", r.fault(n, "%q is not "+toolForm, scalar(n))
}

// newSAN reads a SAN that nobody else in the file has: one that is two identities', or
// an identity's and a proxy's, would act as one where the other was meant.
func (r *directoryReader) newSAN(n *yaml.Node) (string, error) {
	san := scalar(n)
	switch {
	case len(san) > maxSANBytes || !r.san.MatchString(san) || dotSegment(san):
		return "", r.fault(n, "%q is neither spiffe://domain/path nor dns:name, in lower case and without wildcard", san[:min(len(san), 64)])
	case r.sans[san]:
		return "", r.fault(n, "%s stands here for the second time; identities and proxies have a certificate each", san)
	}
	r.sans[san] = true
	return san, nil
}

// maxSANBytes bounds a SAN; the SPIFFE ID standard has 2048.
const maxSANBytes = 2048

// dotSegment reports a path segment that SPIFFE forbids: it would be another path to
// whoever resolves it.
func dotSegment(san string) bool {
	for segment := range strings.SplitSeq(strings.TrimPrefix(san, "spiffe://"), "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// members reads a mapping of known keys.
func (r *directoryReader) members(n *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.fault(n, "is no mapping; it takes %s", strings.Join(known, ", "))
	}
	out := make(map[string]*yaml.Node, len(known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value) {
			return nil, r.fault(key, "no member is called %q; there are %s", key.Value, strings.Join(known, ", "))
		}
		if out[key.Value] != nil {
			return nil, r.fault(key, "%s stands here for the second time", key.Value)
		}
		out[key.Value] = value
	}
	return out, nil
}

// each reads a list that is not empty: one that is says nothing, and could be taken for
// everything.
func (r *directoryReader) each(n *yaml.Node, most int, one func(*yaml.Node) error) error {
	switch {
	case n.Kind != yaml.SequenceNode:
		return r.fault(n, "is no list")
	case len(n.Content) == 0:
		return r.fault(n, "is an empty list; leave it out, or fill it")
	case len(n.Content) > most:
		return r.fault(n, "has more than %d entries", most)
	}
	for _, entry := range n.Content {
		if err := one(entry); err != nil {
			return err
		}
	}
	return nil
}

// scalar returns the text of a scalar; "" for what is none, which no form allows.
func scalar(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

func (r *directoryReader) fault(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{placeOf(r.file, n)}, args...)...)
}
