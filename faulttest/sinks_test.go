package faulttest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// The sinks: whatever the service writes.
const (
	inLog     = "the log"
	inProbes  = "metrics, probes and keys over HTTP"
	inRecord  = "the database"
	inKeys    = "the directory of keys"
	inNotices = "notices"
	inStatus  = "statuses, headers and trailers"
	inAgent   = "what an agent is told of a refusal"
	inReply   = "the rest of a reply that refuses"
)

// sinks is what was written, by sink. It is safe for concurrent use while it is filled.
type sinks struct {
	mu   sync.Mutex
	text map[string][]byte
}

// add adds text to a sink. What stands apart is kept apart.
func (s *sinks) add(sink string, text ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text == nil {
		s.text = map[string][]byte{}
	}
	for _, one := range text {
		s.text[sink] = append(append(s.text[sink], one...), '\n')
	}
}

// receiver is a webhook that takes every notice.
func (s *sinks) receiver(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var header bytes.Buffer
		_ = r.Header.Write(&header)
		s.add(inNotices, []byte(r.URL.String()), header.Bytes(), body)
	}))
	t.Cleanup(server.Close)
	return server
}

// probe reads the ops port.
func (s *sinks) probe(t *testing.T, p *process) {
	t.Helper()
	for _, path := range []string{"/metrics", "/livez", "/readyz", "/.well-known/jwks.json"} {
		_, body := p.get(t, path)
		s.add(inProbes, []byte(body))
	}
}

// files reads every file below the data directory.
func (s *sinks) files(t *testing.T, data string) {
	t.Helper()
	err := filepath.WalkDir(data, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name) //nolint:gosec // below the test's own directory
		if filepath.Base(filepath.Dir(name)) == "keys" {
			s.add(inKeys, text)
		} else {
			s.add(inRecord, text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// rows reads every row of every table of the store's schema, bytes as they are.
func (s *sinks) rows(t *testing.T, dsn string) {
	t.Helper()
	for table := range strings.FieldsSeq(outside.Query(t, dsn, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`)) {
		s.add(inRecord, []byte(outside.Query(t, dsn, `SET bytea_output = escape; SELECT t::text FROM `+table+` t`)))
	}
}

// events reads the record as operators do.
func (s *sinks) events(t *testing.T, p *process, since time.Time) record {
	t.Helper()
	r := recorded(t, p, since)
	for _, e := range r.events {
		s.add(inRecord, []byte(protojson.Format(e)))
	}
	return r
}

// needles are the ways in which a marker may be written: as it is, in capitals, in
// hexadecimal and, beginning at any byte, in base64.
func needles(marker string) []string {
	out := []string{marker, strings.ToUpper(marker), hex.EncodeToString([]byte(marker)), strings.ToUpper(hex.EncodeToString([]byte(marker)))}
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + marker))
		// The first and the last characters depend on what stands beside the marker.
		first := (shift*8 + 5) / 6
		out = append(out, text[first:len(text)-2])
	}
	return out
}

// shows returns the sinks that hold a marker.
func (s *sinks) shows(marker string) []string {
	var out []string
	for sink, text := range s.text {
		for _, n := range needles(marker) {
			if bytes.Contains(text, []byte(n)) {
				out = append(out, sink)
				break
			}
		}
	}
	return out
}

// What is searched for is found, however it is written.
func TestSecretsNeedles(t *testing.T) {
	const marker = "fab3d76fb31c2e0d1a5b77c2"
	for _, text := range []string{
		marker, strings.ToUpper(marker), "x" + hex.EncodeToString([]byte("abc"+marker)),
		base64.StdEncoding.EncodeToString([]byte(marker)), base64.URLEncoding.EncodeToString([]byte(`{"a":"` + marker + `"}`)),
		base64.RawURLEncoding.EncodeToString([]byte(`{"aa":"` + marker + `","b":1}`)), base64.StdEncoding.EncodeToString([]byte(`a"` + marker + "é")),
	} {
		var s sinks
		s.add(inLog, []byte("before "+text+" after"))
		if got := s.shows(marker); len(got) != 1 {
			t.Errorf("not found in %s", text)
		}
	}
	var s sinks
	s.add(inLog, []byte("fab3d76fb31c2e0d1a5b77c3"))
	if got := s.shows(marker); len(got) != 0 {
		t.Errorf("found in %v", got)
	}
}
