// Command validateproto writes buf/validate/validate.proto from the descriptor that
// the protovalidate Go module links, so that proto sources which import it compile
// where no schema registry can be reached.
//
//	validateproto -out .tmp/deps/protovalidate
//
// The Go module is the one source of truth: go.sum pins it, the service links it,
// and the printed file keeps its go_package option, so that generated code imports
// exactly that module. Only the named file is written; what it imports
// (google/protobuf/…) every compiler of proto brings itself.
//
// The file is replaced as a whole and only when its content differs, so that an
// interrupted run leaves no half of it and an idle run touches nothing.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/jhump/protoreflect/v2/protoprint"
)

func main() {
	out := flag.String("out", "", "folder that becomes the root of the module; made if absent")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "validateproto:", err)
		os.Exit(1)
	}
}

// write prints the linked descriptor below root, at the path by which it is imported.
func write(root string) error {
	text, err := render()
	if err != nil {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(validate.File_buf_validate_validate_proto.Path()))
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replace(path, text)
}

// render returns the source text of validate.proto. Comments are not in a linked
// descriptor; nothing that a compiler reads is lost.
func render() ([]byte, error) {
	var text bytes.Buffer
	printer := protoprint.Printer{SortElements: false}
	if err := printer.PrintProtoFile(validate.File_buf_validate_validate_proto, &text); err != nil {
		return nil, fmt.Errorf("print descriptor: %w", err)
	}
	return text.Bytes(), nil
}

// replace puts text at path by way of a sibling, so that a reader sees the old file
// or the new one and nothing between.
func replace(path string, text []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".validate-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails once the file is renamed, as it should
	if _, err := temp.Write(text); err != nil {
		return errors.Join(err, temp.Close())
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
