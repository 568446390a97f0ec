package contract

import (
	"fmt"
	"slices"

	yaml "go.yaml.in/yaml/v4"
)

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// An entry is what serving.yaml says about one tool.
type entry struct {
	current int
	drain   []int
}

// readServing reads serving.yaml, where there is one.
func (l *loader) readServing() {
	src, ok := l.files[servingFile]
	if !ok {
		return
	}
	root, s := readYAML(servingFile, src)
	versions := l.versionsByTool()
	if root != nil {
		s.entries(func(key, value *yaml.Node, path string) {
			loaded, ok := versions[key.Value]
			if !ok {
				s.fault(key, "", "there is no contract for the tool %s", quote(key.Value))
				return
			}
			var e entry
			version := func(dst *int) read {
				return func(n *yaml.Node, path string) {
					s.integer(dst, 1, maxVersion)(n, path)
					if *dst != 0 && !slices.Contains(loaded, *dst) {
						s.fault(n, "", "%s: there is no version %d of %s", path, *dst, quote(key.Value))
					}
				}
			}
			s.object(value, path,
				need("current", version(&e.current)),
				may("drain", s.list(0, collect(s, &e.drain, version))),
			)
			if slices.Contains(e.drain, e.current) {
				s.fault(value, "", "%s: version %d is current and drained", path, e.current)
			}
			slices.Sort(e.drain)
			l.entries[key.Value] = e
		})(root, "")
	}
	l.faults = append(l.faults, s.faults...)
}

// versionsByTool returns the loaded versions of each tool, ascending.
func (l *loader) versionsByTool() map[string][]int {
	versions := make(map[string][]int)
	for _, d := range l.drafts {
		if c := d.contract; c.Tool != "" {
			versions[c.Tool] = append(versions[c.Tool], c.Version)
		}
	}
	for _, v := range versions {
		slices.Sort(v)
	}
	return versions
}

// serving says which version of each tool is current and which are drained.
func (l *loader) serving() (current map[string]int, drain map[string][]int) {
	current, drain = make(map[string]int), make(map[string][]int)
	for tool, versions := range l.versionsByTool() {
		e, ok := l.entries[tool]
		if !ok {
			last := len(versions) - 1
			e = entry{versions[last], versions[:last]}
		}
		current[tool] = e.current
		if len(e.drain) > 0 {
			drain[tool] = e.drain
		}
	}
	return current, drain
}
