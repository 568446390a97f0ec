package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxConfigBytes bounds the configuration file.
const maxConfigBytes = 256 << 10

// setting is one entry of the configuration file.
type setting struct{ text, place string }

// readSettings reads the configuration file: a mapping of known keys to scalars, which
// are read as text, so that 010 stays 010. Settings that begin alike may stand in a
// mapping of their own: audit: {store: …} is audit_store.
func readSettings(file string, fields []Field) (map[string]setting, error) {
	name := file
	if name == "" {
		name = ConfigFile
	}
	content, err := readBounded(name)
	if file == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("config: %w; name a file that can be read with --config, or none", err)
	}
	root, err := oneDocument(name, content)
	if root == nil || err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: the file is a mapping of settings", placeOf(name, root))
	}
	settings := make(map[string]setting, len(root.Content)/2)
	return settings, collectSettings(settings, name, "", root, fields)
}

// collectSettings reads one mapping; prefix stands before its keys.
func collectSettings(settings map[string]setting, name, prefix string, mapping *yaml.Node, fields []Field) error {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		place, full := placeOf(name, key), prefix+key.Value
		begins := func(f Field) bool { return strings.HasPrefix(f.Key(), full+"_") }
		if key.Kind == yaml.ScalarNode && prefix == "" && value.Kind == yaml.MappingNode && slices.ContainsFunc(fields, begins) {
			if err := collectSettings(settings, name, full+"_", value, fields); err != nil {
				return err
			}
			continue
		}
		if key.Kind != yaml.ScalarNode || !slices.ContainsFunc(fields, func(f Field) bool { return f.Key() == full }) {
			return fmt.Errorf("%s: no setting is called %q; serve --print-config lists them", place, full)
		}
		if _, twice := settings[full]; twice {
			return fmt.Errorf("%s: %s stands here for the second time", place, full)
		}
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			return fmt.Errorf("%s: %s takes one plain value", placeOf(name, value), full)
		}
		settings[full] = setting{value.Value, placeOf(name, value)}
	}
	return nil
}

// oneDocument parses the file; nil is an empty one.
func oneDocument(name string, content []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	if err := decoder.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: only one document is allowed", name)
	}
	if len(first.Content) == 0 || first.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return first.Content[0], nil
}

func placeOf(name string, n *yaml.Node) string {
	return fmt.Sprintf("%s:%d:%d", name, n.Line, n.Column)
}

// readBounded reads a file of at most maxConfigBytes.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err == nil && len(content) > maxConfigBytes {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxConfigBytes)
	}
	return content, err
}
