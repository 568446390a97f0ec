package fleettest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// nginx is a proxy that ends TLS and says who called, with a directory of its own. It is
// configured by what ships.
type nginx struct {
	*authority
	dir, addr string
	cmd       *exec.Cmd
}

// nginxConfig is what the shipped configuration stands in: the user directive and that.
const nginxConfig = `daemon off;
worker_processes 1;
%s
pid nginx.pid;
error_log error.log warn;
events { worker_connections 1024; }
http {
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
%s
}
`

// shippedNginx is the configuration that ships.
const shippedNginx = "../deploy/nginx/hallmark.conf"

// fitted is the shipped configuration with the places of this test in place of those of a
// deployment: nothing else of it is another.
func (n *nginx) fitted(t *testing.T, replicas []*replica) string {
	t.Helper()
	text := string(readFile(t, shippedNginx))
	for _, c := range []struct{ line, with string }{
		{`server hallmark-1:7443 `, "server " + replicas[0].Addr + " "},
		{`server hallmark-2:7443 `, "server " + replicas[1].Addr + " "},
		{`server hallmark-3:7443 `, "server " + replicas[2].Addr + " "},
		{`listen 7443 `, "listen " + n.addr + " "},
		{`listen 127.0.0.1:8081;`, "listen unix:" + filepath.Join(n.dir, "probe.sock") + ";"},
		{`access_log /dev/stdout hallmark;`, "access_log access.log hallmark;"},
		{`/etc/nginx/hallmark/`, n.authority.dir + "/"},
	} {
		if !strings.Contains(text, c.line) {
			t.Fatalf("%s does not say %q", shippedNginx, c.line)
		}
		text = strings.ReplaceAll(text, c.line, c.with)
	}
	return text
}

// startNginx starts the proxy in front of replicas, or skips where there is none.
func startNginx(t *testing.T, a *authority, replicas []*replica) *nginx {
	t.Helper()
	path, err := exec.LookPath("nginx")
	if err != nil {
		if _, err := os.Stat("/usr/sbin/nginx"); err != nil {
			t.Skip("skipped: nginx is missing (Debian: apt-get install nginx-light)")
		}
		path = "/usr/sbin/nginx" // not on the path of everyone
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &nginx{authority: a, dir: t.TempDir(), addr: free.Addr().String()}
	free.Close()
	n.configure(t, replicas)
	n.cmd = exec.Command(path, "-p", n.dir, "-e", filepath.Join(n.dir, "error.log"), "-c", n.file()) //nolint:gosec // looked for above
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = n.cmd.Process.Signal(syscall.SIGTERM)
		_ = n.cmd.Wait() // it says 0, whatever became of it
		if t.Failed() {
			t.Logf("nginx: %s", outside.Tail(filepath.Join(n.dir, "error.log")))
		}
	})
	outside.Within(t, 20*time.Second, "nginx listening", func() bool {
		conn, err := net.Dial("tcp", n.addr)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	return n
}

func (n *nginx) file() string { return filepath.Join(n.dir, "nginx.conf") }

func (n *nginx) configure(t *testing.T, replicas []*replica) {
	t.Helper()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;" // its workers read the test's directories
	}
	write(t, n.file(), fmt.Sprintf(nginxConfig, user, n.fitted(t, replicas)))
}

// point makes the proxy use other replicas, without losing a call.
func (n *nginx) point(t *testing.T, replicas []*replica) {
	t.Helper()
	n.configure(t, replicas)
	if err := n.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
