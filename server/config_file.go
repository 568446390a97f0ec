package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"go.yaml.in/yaml/v4"
)

// maxConfigBytes bounds the configuration file.
const maxConfigBytes = 256 << 10

// setting is one entry of the configuration file.
type setting struct{ text, place string }

// readSettings reads the configuration file: one flat mapping of known keys to scalars,
// which are read as text, so that 010 stays 010.
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
		return nil, fmt.Errorf("config: %w", err)
	}
	root, err := oneDocument(name, content)
	if root == nil || err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: the file is a mapping of settings", placeOf(name, root))
	}
	settings := make(map[string]setting, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		place := placeOf(name, key)
		if key.Kind != yaml.ScalarNode || !slices.ContainsFunc(fields, func(f Field) bool { return f.Key() == key.Value }) {
			return nil, fmt.Errorf("%s: no setting is called %q; serve --print-config lists them", place, key.Value)
		}
		if _, twice := settings[key.Value]; twice {
			return nil, fmt.Errorf("%s: %s stands here for the second time", place, key.Value)
		}
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			return nil, fmt.Errorf("%s: %s takes one plain value", placeOf(name, value), key.Value)
		}
		settings[key.Value] = setting{value.Value, placeOf(name, value)}
	}
	return settings, nil
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
