package contract

import (
	"bytes"
	"errors"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// reporter collects faults and finds the line and column of byte offsets.
type reporter struct {
	files  map[string][]byte
	lines  map[string][]int // offsets at which the lines of a file begin
	faults Faults
}

func (r *reporter) full() bool { return len(r.faults) >= maxFaults }

// at adds a fault at the value v of file, naming its pointer.
func (r *reporter) at(file string, v strictjson.Value, message, cure string) {
	if r.full() {
		return
	}
	r.add(file, v.Offset(), pointerText(v)+": "+message, cure)
}

// add adds a fault at a byte offset; -1 means the whole file.
func (r *reporter) add(file string, offset int, message, cure string) {
	if r.full() {
		return
	}
	f := Fault{File: file, Message: message, Cure: cure}
	if offset >= 0 {
		f.Line, f.Column = r.position(file, offset)
	}
	r.faults = append(r.faults, f)
}

// unreadable adds the fault of a file that is no JSON text. Nothing of the file's
// content is in the message.
func (r *reporter) unreadable(file string, err error) {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		r.add(file, -1, "the file cannot be read as JSON", "write one JSON value (RFC 8259)")
		return
	}
	r.add(file, e.Offset, e.Reason.String()+": "+e.Detail, "write one JSON value (RFC 8259) without duplicate names")
}

func (r *reporter) position(file string, offset int) (line, column int) {
	src := r.files[file]
	if r.lines == nil {
		r.lines = map[string][]int{}
	}
	starts, ok := r.lines[file]
	if !ok {
		starts = []int{0}
		for i := 0; ; {
			n := bytes.IndexByte(src[i:], '\n')
			if n < 0 {
				break
			}
			i += n + 1
			starts = append(starts, i)
		}
		r.lines[file] = starts
	}
	offset = min(offset, len(src))
	line = sort.SearchInts(starts, offset+1)
	return line, utf8.RuneCount(src[starts[line-1]:offset]) + 1
}

// pointerText names the place of v in its file, as the fragment of a $ref does.
func pointerText(v strictjson.Value) string { return "#" + printable(v.Path().String()) }

// shownPointer is p for a message: on one line and not endless.
func shownPointer(p strictjson.Pointer) string {
	if len(p) == 0 {
		return `"" (the whole value)`
	}
	return printable(p.String())
}

// shown quotes a piece of a contract for a message.
func shown(s string) string { return strconv.Quote(clipped(s)) }

func printable(s string) string {
	s = clipped(s)
	for _, c := range s {
		if !strconv.IsPrint(c) {
			return strconv.Quote(s)
		}
	}
	return s
}

func clipped(s string) string {
	const most = 160
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
