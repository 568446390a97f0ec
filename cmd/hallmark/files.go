package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/receipt"
)

// inputs reads the files that one command line names. Standard input can be one of them,
// and only one.
type inputs struct {
	cmd   *cobra.Command
	stdin string // the flag that took standard input
}

// open opens a file, or standard input where its name is -. The error never shows a name
// that looks like a token.
func (in *inputs) open(flag, name string) (io.Reader, func(), error) {
	switch name {
	case "":
		return nil, nil, fmt.Errorf("no input; name a file with %s, or - for standard input", flag)
	case "-":
		if in.stdin != "" {
			return nil, nil, fmt.Errorf("%s and %s cannot both be standard input; name a file for one of them", in.stdin, flag)
		}
		in.stdin = flag
		return in.cmd.InOrStdin(), func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fileFault(flag, name, err)
	}
	return f, func() { f.Close() }, nil // opened for reading: closing can lose nothing
}

// read reads a file of at most limit bytes.
func (in *inputs) read(flag, name string, limit int) ([]byte, error) {
	r, closeFile, err := in.open(flag, name)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	raw, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fileFault(flag, name, err)
	case len(raw) > limit:
		return nil, fileFault(flag, name, fmt.Errorf("holds more than %d bytes", limit))
	}
	return raw, nil
}

// token reads a file that holds one token of a kind, and white space around it.
func (in *inputs) token(flag, name string, kind receipt.Kind) (string, error) {
	const space = 64
	raw, err := in.read(flag, name, kind.MaxBytes()+space)
	if err != nil {
		return "", err
	}
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return "", fileFault(flag, name, fmt.Errorf("is empty; it should hold one %s", kind))
	case bytes.ContainsAny(raw, " \t\r\n"):
		return "", fileFault(flag, name, fmt.Errorf("holds more than one word; it should hold one %s and nothing else", kind))
	case len(raw) > kind.MaxBytes():
		return "", fileFault(flag, name, fmt.Errorf("holds more than %d bytes, which no %s has", kind.MaxBytes(), kind))
	}
	return string(raw), nil
}

// tokens reads one token from each file.
func (in *inputs) tokens(flag string, names []string, kind receipt.Kind) ([]string, error) {
	var out []string
	for _, name := range names {
		token, err := in.token(flag, name, kind)
		if err != nil {
			return nil, err
		}
		out = append(out, token)
	}
	return out, nil
}

// fileFault says what is wrong with a file that a flag names.
func fileFault(flag, name string, err error) error {
	if tokenLike(name) {
		return fmt.Errorf("%s takes the name of a file that holds the token, or - for standard input, not the token itself", flag)
	}
	if name == "-" {
		name = "standard input"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s: %s: %s", flag, printable(name), printable(err.Error()))
}

// tokenLike reports whether a text may be a token, whole or not: {" in base64url, and
// longer than names of files are.
func tokenLike(s string) bool { return len(s) > 64 && strings.HasPrefix(strings.TrimSpace(s), "eyJ") }

// outFile is a file that gets a part of an answer; nil is none.
type outFile struct {
	*os.File
	flag string
	over bool // it was there before, and is left as it is until something is written
}

// openOut opens a file for its owner alone, before the call is made, so that no answer is
// lost to a name that cannot be written, and none of before is taken for this one. ""
// opens nothing.
func openOut(flag, name string) (*outFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	return &outFile{File: f, flag: flag}, nil
}

// openNew opens a file for its owner alone that must not exist, unless forced: then what
// comes is written over what is there, and nobody else can read it. "" opens nothing.
func openNew(flag, name string, force bool) (*outFile, error) {
	if name == "" {
		return nil, nil
	}
	how := os.O_EXCL
	if force {
		how = 0
	}
	_, absent := os.Stat(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = errors.New("is there already; name a new file, or say --force to write over it")
	}
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() { // a device has its own owner
		err = f.Chmod(0o600)
	}
	if err != nil {
		return nil, fileFault(flag, name, errors.Join(err, f.Close()))
	}
	return &outFile{f, flag, absent == nil}, nil
}

// drop closes a file that gets nothing, and removes it unless it was there before.
func (f *outFile) drop() error {
	if f == nil {
		return nil
	}
	err := f.Close()
	if err == nil && !f.over {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return fileFault(f.flag, f.Name(), err)
	}
	return nil
}

// write writes what came, which may be nothing, and closes the file.
func (f *outFile) write(content string) error {
	if f == nil {
		return nil
	}
	var err error
	if info, unknown := f.Stat(); f.over && unknown == nil && info.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteString(content)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fileFault(f.flag, f.Name(), err)
	}
	return nil
}

// line is a token as a file holds it.
func line(token string) string {
	if token == "" {
		return ""
	}
	return token + "\n"
}

// maxKey is more than the file of a private key needs, in bytes.
const maxKey = 16 << 10

// readSigner reads the private key of an approver or of an issuer of grants, which nobody
// but its owner can read.
func readSigner(flag, name string) (*receipt.Signer, error) {
	if name == "" {
		return nil, fmt.Errorf("no key; name the file of your private key with %s, made by: hallmark keys signer", flag)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	switch {
	case !info.Mode().IsRegular() || info.Size() > maxKey:
		return nil, fileFault(flag, name, errors.New("is not the file of a key"))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fileFault(flag, name, errors.New("others can read or change it; chmod 0600 the file"))
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	signer, err := receipt.ParseSigner(bytes.TrimSpace(raw))
	if err != nil {
		return nil, fileFault(flag, name, fmt.Errorf("is no private key as hallmark keys signer makes it (%w)", err))
	}
	return signer, nil
}
