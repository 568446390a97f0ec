package contract

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Load reads and lints a contracts directory: <folder>/v<N>/contract.yaml with the
// schemas and cases beside it, and serving.yaml at the root. An error is [Faults],
// everything that is wrong at once, or, wrapped, an error of reading a file; in either
// case nothing was loaded. Where a file or the directory exceeds its bounds (1 MiB a
// file, 1 GiB and 1,000,000 entries together) only that is reported.
//
// Files and directories whose names begin with "." are not looked at; symbolic links
// are followed. A .yaml, .yml or .json file that nothing reads is a fault; files of
// other names (README.md) stand where they like. A directory without any contract is
// a fault too: it is more often a wrong mount than a wish.
//
// Policies stand in a directory of their own, which [TakeSnapshot] reads too.
func Load(fsys fs.FS) (*Tree, error) {
	s, err := TakeSnapshot(fsys, nil)
	if err != nil {
		return nil, err
	}
	return s.Load()
}

// LoadFolder is [Load] of one folder by itself, which fsys holds: a tool's, or one
// version of it. dir is where it would stand below a contracts directory: "<folder>" or
// "<folder>/v<N>"; files in faults and contracts are named accordingly. What is true of
// neighbours only is not looked at: that the evidence which a contract requires has a
// contract, and that no other tool has the same names. It serves to look at contracts,
// not to serve them.
func LoadFolder(fsys fs.FS, dir string) (*Tree, error) {
	files, faults, err := readFiles(fsys)
	if err != nil {
		return nil, err
	}
	for i, f := range faults {
		faults[i].File = path.Join(dir, f.File)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	below := make(map[string][]byte, len(files))
	for name, b := range files {
		below[path.Join(dir, name)] = b
	}
	return allOrNothing(Snapshot{files: below, digest: digest(below)}.read(true))
}

// Load lints what was read, as the function of this name does, and the policies that
// were read with it: .yaml and .yml files, any other is a fault.
func (s Snapshot) Load() (*Tree, error) { return allOrNothing(s.read(false)) }

// Sound returns the contracts in which nothing that an engine reads is at fault, whatever
// is wrong beside it: with a case, say, or with another contract. Of the policies it returns
// those in files without a fault that are about these contracts alone. It serves to look
// for more faults; what it returns must not be served.
func (s Snapshot) Sound() *Tree {
	tree, _ := s.readAs(false, (*draft).compilable)
	return tree
}

// allOrNothing returns a tree that has no fault, or its faults.
func allOrNothing(tree *Tree, faults Faults) (*Tree, error) {
	if len(faults) > 0 {
		return nil, faults
	}
	return tree, nil
}

// read reads and lints the files of a contracts directory, or of one folder of it. The
// tree holds the contracts without faults.
func (s Snapshot) read(alone bool) (*Tree, Faults) {
	return s.readAs(alone, func(*draft) bool { return false })
}

// readAs is read; the tree also holds the contracts with faults that are fit.
func (s Snapshot) readAs(alone bool, fit func(*draft) bool) (*Tree, Faults) {
	l := &loader{files: s.files, entries: make(map[string]entry)}
	l.layout()
	for _, v := range l.versions {
		l.read(v)
	}
	l.lintFolders()
	l.lintNames()
	l.readServing()
	tree := &Tree{Files: newMemFS(s.covered()), Digest: s.digest}
	tree.Current, tree.Drain = l.serving()
	if !alone {
		l.lintEvidence(l.draftsByTool(), tree.Current)
		l.lintCasePolicies(tree.Current)
	}
	l.faults = l.faults.Sort()
	for _, d := range l.drafts {
		if !l.faults.below(d.contract.Dir) || fit(d) {
			tree.Contracts = append(tree.Contracts, d.contract)
		}
	}
	slices.SortFunc(tree.Contracts, func(a, b *Contract) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), cmp.Compare(a.Version, b.Version))
	})
	if len(s.policies) > 0 {
		tree.Policies = tree.applicable(l.readPolicies(s.policies, tree.Current))
		l.faults = l.faults.Sort()
	}
	return tree, l.faults
}

// servingFile says which versions are served.
const servingFile = "serving.yaml"

// casesDir holds a contract's cases.
const casesDir = "cases"

var versionForm = regexp.MustCompile(`^v[1-9][0-9]{0,5}$`)

// A loader is one run of Load.
type loader struct {
	files    map[string][]byte
	versions []versionFolder  // sorted by folder, then version
	drafts   []*draft         // one for each of versions
	entries  map[string]entry // of serving.yaml, by tool
	policies []*policyFile    // those that cases name
	faults   Faults
}

// A versionFolder is one <folder>/v<N>.
type versionFolder struct {
	folder  string
	version int
	files   map[string][]byte // by path relative to it
}

func (v versionFolder) dir() string { return fmt.Sprintf("%s/v%d", v.folder, v.version) }

func (l *loader) fault(file, cure, format string, args ...any) {
	l.faults = append(l.faults, Fault{File: file, Message: fmt.Sprintf(format, args...), Cure: cure})
}

// isData reports whether a file looks as if somebody meant it to be read.
func isData(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// layout sorts the files into version folders.
func (l *loader) layout() {
	const cure = "contracts stand in <folder>/v<N>/contract.yaml"
	folders := make(map[string]*versionFolder)
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		parts := strings.SplitN(name, "/", 3)
		if len(parts) == 3 && versionForm.MatchString(parts[1]) {
			dir := parts[0] + "/" + parts[1]
			if folders[dir] == nil {
				version, _ := strconv.Atoi(parts[1][1:])
				folders[dir] = &versionFolder{parts[0], version, make(map[string][]byte)}
			}
			folders[dir].files[parts[2]] = l.files[name]
			continue
		}
		switch {
		case !isData(name), name == servingFile:
		case len(parts) == 3:
			l.fault(parts[0]+"/"+parts[1], cure, "not a version folder; nothing reads what is below it")
		default:
			l.fault(name, cure, "nothing reads this file")
		}
	}
	for _, v := range folders {
		l.versions = append(l.versions, *v)
	}
	slices.SortFunc(l.versions, func(a, b versionFolder) int {
		return cmp.Or(strings.Compare(a.folder, b.folder), cmp.Compare(a.version, b.version))
	})
	if len(l.versions) == 0 && len(l.faults) == 0 {
		l.fault(".", cure, "the directory holds no contract")
	}
}

// read reads and lints one version of one tool.
func (l *loader) read(v versionFolder) {
	dir := v.dir()
	if _, ok := v.files[mainFile]; !ok {
		l.fault(dir+"/"+mainFile, "create it, or remove the folder", "the file is missing")
		l.drafts = append(l.drafts, &draft{
			source:   &source{file: dir + "/" + mainFile},
			contract: &Contract{Dir: dir, Version: v.version}, beyond: true,
		})
		return
	}
	d := readContract(dir, v.version, v.files)
	l.drafts = append(l.drafts, d)
	readable := true // every case
	if !d.beyond {
		readable = l.readCases(d)
		d.lint()
		d.lintSchemas()
	}
	l.strays(d, readable)
	l.faults = append(l.faults, d.faults...)
	for _, f := range d.schemaFaults {
		f.File = path.Join(dir, f.File)
		l.faults = append(l.faults, f)
	}
}

// readCases reads the case files of one contract and checks that the obligatory ones
// are there. It reports whether no case had a fault.
func (l *loader) readCases(d *draft) (readable bool) {
	c := d.contract
	var cases []*caseDraft
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if path.Dir(name) != casesDir || path.Ext(name) != ".yaml" {
			continue
		}
		d.named[name] = true
		cases = append(cases, readCase(c.Dir, name, d.files))
	}
	rules := make(map[string]*policyFile) // by file
	for _, k := range cases {
		for _, name := range k.named {
			d.named[name] = true
		}
		l.casePolicies(d, k, rules)
		switch {
		case len(k.faults) > 0:
		case k.inCall && d.said("result"):
			k.lintCall(d)
		case k.inCall:
		case d.good["result"]:
			k.lint(c)
		}
		l.faults = append(l.faults, k.faults...)
		c.Cases = append(c.Cases, k.Case)
	}
	if d.good["result"] {
		d.lintObligations(cases)
	}
	return !slices.ContainsFunc(cases, func(k *caseDraft) bool { return len(k.faults) > 0 })
}

// casePolicies reads the file of policies that a case names, once for all cases of the
// contract; the file's faults are the contract's.
func (l *loader) casePolicies(d *draft, k *caseDraft, read map[string]*policyFile) {
	name := k.policies
	if name == "" {
		return
	}
	f := read[name]
	if f == nil {
		f = readPolicies(d.contract.Dir+"/"+name, d.files[name])
		f.lintNames(make(map[string]*policyDraft))
		l.faults = append(l.faults, f.faults...)
		l.policies = append(l.policies, f)
		read[name] = f
	}
	k.Policies = f.policies()
	sortPolicies(k.Policies)
}

// strays notes files that look meaningful and that nothing names. JSON files are left
// alone while faults hide what the contract names.
func (l *loader) strays(d *draft, readable bool) {
	whole := len(d.faults)+len(d.schemaFaults) == 0 && readable
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if name == mainFile || d.named[name] || !isData(name) || d.beyond {
			continue
		}
		ext := path.Ext(name)
		if ext == ".json" && !whole {
			continue
		}
		cure := "name it in contract.yaml, or remove it"
		if path.Dir(name) == casesDir && ext == ".yml" {
			cure = "rename it to .yaml"
		}
		l.fault(d.contract.Dir+"/"+name, cure, "nothing reads this file")
	}
}
