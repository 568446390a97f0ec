package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/sqlite"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/server"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

const vectors = "../vectors"

// serve runs the service in process on loopback with what ships, until the test ends.
func serve(t *testing.T) hallmarkv1.GateServiceClient {
	t.Helper()
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.DefaultConfig()
	cfg.Listen, cfg.OpsListen, cfg.Data = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	// Keys sign from the whole second on in which they were made.
	if _, err := receipt.Dir(filepath.Join(cfg.Data, "keys")).Init(time.Now().Truncate(time.Second)); err != nil {
		t.Fatal(err)
	}
	cfg.Contracts, cfg.Policies = "../../contracts", "../../policies"
	cfg.DrainWait, cfg.AutoMemoryLimit, cfg.IdentityShare = 0, false, 100
	ready, readyIn := io.Pipe()
	app, err := server.New(cfg, server.Deps{
		Loader: gate.NewLoader(registry),
		OpenStore: func(ctx context.Context, dir string) (audit.Store, error) {
			return sqlite.Open(ctx, filepath.Join(dir, "audit.db"), sqlite.Options{})
		},
		Ready: readyIn,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := app.Run(ctx)
		readyIn.CloseWithError(io.EOF)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatal("not ready")
	}
	addr, _, _ := strings.Cut(strings.TrimPrefix(line, "ready grpc="), " ")
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return hallmarkv1.NewGateServiceClient(conn)
}

// Every vector holds, twice over the same record: clients share one. // A1, A24, B1
func TestVectors(t *testing.T) {
	service := serve(t)
	for range 2 {
		for _, file := range files(t) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				v, err := readVector(file, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				if err := v.run(t.Context(), service); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A vector cannot ask for what is not there: what it wants is a response of its method.
func TestVectorsAreStrict(t *testing.T) {
	for _, file := range files(t) {
		v, err := readVector(file, time.Now())
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		response, err := json.Marshal(without(v.Want.Response))
		if err != nil {
			t.Fatal(err)
		}
		switch v.RPC {
		case "Validate":
			err = protojson.Unmarshal(response, &hallmarkv1.ValidateResponse{})
		case "Authorize":
			err = protojson.Unmarshal(response, &hallmarkv1.AuthorizeResponse{})
		default:
			t.Errorf("%s: no method %q", file, v.RPC)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if (v.Want.Code == "OK") != (len(v.Want.Response) > 0) {
			t.Errorf("%s: a response is wanted with OK, and with nothing else", file)
		}
	}
}

// without leaves out what is wanted not to be there. Its name is checked as if it were.
func without(want map[string]any) map[string]any {
	out := make(map[string]any, len(want))
	for name, value := range want {
		if inner, is := value.(map[string]any); is {
			value = without(inner)
		}
		out[name] = value
	}
	return out
}

func files(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(vectors, "*.json"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d vectors, %v", len(files), err)
	}
	return files
}

// A file that says something unknown is not run, since it might not be run as it says.
func TestReadVectorRefuses(t *testing.T) {
	const good = `{"name":"v","why":"so","rpc":"Validate","request":{},"want":{"code":"OK","response":{}}}`
	for _, c := range []struct{ line, from, to string }{
		{"unknown member", `"why"`, `"note":"","why"`},
		{"unknown member of want", `"code"`, `"status":"","code"`},
		{"unknown member of raw_repeat", `"want"`, `"raw_repeat":{"bytes":""},"want"`},
		{"another name", `"v"`, `"w"`},
		{"no reason", `"so"`, `""`},
		{"two values", `}}}`, `}}} {}`},
		{"no JSON", `}}}`, `}}`},
	} {
		file := filepath.Join(t.TempDir(), "v.json")
		text := strings.Replace(good, c.from, c.to, 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readVector(file, time.Now()); err == nil {
			t.Errorf("%s: taken", c.line)
		}
	}
	file := filepath.Join(t.TempDir(), "v.json")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := readVector(file, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	v.Request = json.RawMessage(`{"requests":{}}`)
	if _, err := v.send(t.Context(), nil); err == nil {
		t.Error("an unknown member of a request is taken")
	}
}

// What is compared, and how. // A1
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		line, want, got string
		match           bool
	}{
		{"some members", `{"a":"x"}`, `{"a":"x","b":1}`, true},
		{"nested", `{"a":{"b":false}}`, `{"a":{"b":false,"c":1}}`, true},
		{"missing", `{"a":"x"}`, `{}`, false},
		{"another text", `{"a":"x"}`, `{"a":"y"}`, false},
		{"another type", `{"a":"1"}`, `{"a":1}`, false},
		{"false for absent", `{"a":false}`, `{}`, false},
		{"absent", `{"a":null}`, `{"b":1}`, true},
		{"not absent", `{"a":null}`, `{"a":{}}`, false},
		{"list", `{"a":["x",{"b":1}]}`, `{"a":["x",{"b":1,"c":2}]}`, true},
		{"list too long", `{"a":[]}`, `{"a":["x"]}`, false},
		{"list too short", `{"a":["x"]}`, `{"a":[]}`, false},
		{"other normal form", `{"a":"\u00e9"}`, `{"a":"e\u0301"}`, false},
		{"object for text", `{"a":{}}`, `{"a":"x"}`, false},
	} {
		var want, got any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.got), &got); err != nil {
			t.Fatal(err)
		}
		if err := matches(want, got, ""); (err == nil) != c.match {
			t.Errorf("%s: %v", c.line, err)
		}
	}
}
