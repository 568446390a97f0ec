package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hallmark": main,
	})
}

// TestScripts runs testdata/*.txtar, each of which reads like a page of the manual.
// $CONTRACTS is the folder of the shipped contracts; a script has copies of those and of
// the shipped policies. $HIDDEN is a character that turns what is written after it.
func TestScripts(t *testing.T) {
	contracts, err := filepath.Abs("../../contracts")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "serves": serves, "ends": ends, "until": until, "certificates": certificates, "idof": idOf,
		},
		Condition: func(name string) (bool, error) {
			if name == "hup" { // whoever starts the tests under nohup has it ignored
				return !signal.Ignored(syscall.SIGHUP), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Values[theService{}] = new(*exec.Cmd)
			env.Setenv("CONTRACTS", contracts)
			env.Setenv("HIDDEN", "\u202e")
			return errors.Join(
				os.CopyFS(filepath.Join(env.WorkDir, "contracts"), os.DirFS(contracts)),
				os.CopyFS(filepath.Join(env.WorkDir, "policies"), os.DirFS(filepath.Join(contracts, "..", "policies"))),
			)
		},
	})
}

// theService is the key of the service that a script runs; nil is none.
type theService struct{}

// serves runs the service in the background until ends or the end of the script, on free
// ports and with these further arguments: serves [ARG…]. $GRPC and $OPS are its addresses;
// its log is serve.log. Of the script's variables it has those that are named below.
func serves(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serves [ARG…]")
	}
	log, err := os.Create(ts.MkAbs("serve.log"))
	ts.Check(err)
	bin := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "hallmark")
	cmd := exec.Command(bin, append([]string{"serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--drain-wait", "0s"}, args...)...)
	cmd.Dir, cmd.Stderr, cmd.Env = ts.MkAbs("."), log, os.Environ()
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TIMEOUT", "HALLMARK_RECIPIENT", "HALLMARK_PORT"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	running := ts.Value(theService{}).(**exec.Cmd)
	*running = cmd
	ts.Defer(func() {
		defer log.Close()
		if *running == cmd {
			ts.Check(cmd.Process.Signal(os.Interrupt))
			ts.Check(cmd.Wait())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != "ready" {
		ts.Fatalf("instead of ready: %q", line)
	}
	ts.Setenv("GRPC", strings.TrimPrefix(fields[1], "grpc="))
	ts.Setenv("OPS", strings.TrimPrefix(fields[2], "ops="))
}

// ends sends the service a signal and waits for its end, which must be a clean one: ends
// SIGNAL, of TERM and HUP.
func ends(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	running := ts.Value(theService{}).(**exec.Cmd)
	if neg || len(args) != 1 || signals[args[0]] == nil || *running == nil {
		ts.Fatalf("usage: ends TERM|HUP, of a service that serves runs")
	}
	cmd := *running
	ts.Check(cmd.Process.Signal(signals[args[0]]))
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	ts.Check(cmd.Wait())
	*running = nil
}

// until repeats a command until its output matches, for at most ten seconds: until
// PATTERN COMMAND [ARG…].
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND [ARG…]")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := ts.Exec(args[1], args[2:]...); err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("never matched %s: %s", args[0], ts.ReadFile("stdout"))
}

// exits runs a command and holds it to an exit code: exits CODE COMMAND [ARG…]. What it
// prints is looked at by stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if got := strconv.Itoa(exit.ExitCode()); got != args[0] {
			ts.Fatalf("exit code %s, want %s", got, args[0])
		}
	case err != nil:
		ts.Fatalf("%v", err)
	case args[0] != "0":
		ts.Fatalf("exit code 0, want %s", args[0])
	}
}
