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
)

// nginx is a proxy that ends TLS and says who called, with a directory of its own. It is
// configured as deploy/nginx shows it.
type nginx struct {
	*authority
	dir, addr string
	cmd       *exec.Cmd
}

// nginxConfig has room for: the user directive, the directory of certificates, upstream
// servers, the address.
const nginxConfig = `daemon off;
worker_processes 1;
%[1]s
pid nginx.pid;
error_log error.log warn;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	map $ssl_client_s_dn $hallmark_identity {
		default "";
		"~^CN=assistant,O=example\.test$" spiffe://example.test/agents/assistant;
		"~^CN=operator,O=example\.test$" spiffe://example.test/people/operator;
	}
	upstream hallmark {
%[3]s		keepalive 64;
	}
	server {
		listen %[4]s ssl http2;
		server_name hallmark.example.test;
		ssl_certificate %[2]s/server.pem;
		ssl_certificate_key %[2]s/server.key;
		ssl_client_certificate %[2]s/ca.pem;
		ssl_verify_client on;
		ssl_protocols TLSv1.3;
		ssl_session_tickets off;
		ssl_session_cache off;
		client_max_body_size 7m;
		client_body_timeout 15s;
		large_client_header_buffers 4 16k;
		http2_max_concurrent_streams 128;
		keepalive_requests 100000;
		keepalive_time 5m;
		grpc_ssl_certificate %[2]s/proxy.pem;
		grpc_ssl_certificate_key %[2]s/proxy.key;
		grpc_ssl_trusted_certificate %[2]s/ca.pem;
		grpc_ssl_verify on;
		grpc_ssl_name hallmark.example.test;
		grpc_ssl_server_name on;
		grpc_ssl_protocols TLSv1.3;
		grpc_ssl_session_reuse off;
		grpc_set_header hallmark-forwarded-identity $hallmark_identity;
		grpc_connect_timeout 2s;
		grpc_send_timeout 15s;
		grpc_read_timeout 30s;
		grpc_next_upstream error timeout;
		grpc_next_upstream_tries 3;
		location / { grpc_pass grpcs://hallmark; }
	}
}
`

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
			t.Logf("nginx: %s", tail(filepath.Join(n.dir, "error.log")))
		}
	})
	within(t, 20*time.Second, "nginx listening", func() bool {
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
	var upstream strings.Builder
	for _, r := range replicas {
		fmt.Fprintf(&upstream, "\t\tserver %s max_fails=1 fail_timeout=5s;\n", r.addr)
	}
	write(t, n.file(), fmt.Sprintf(nginxConfig, user, n.authority.dir, upstream.String(), n.addr))
}

// point makes the proxy use other replicas, without losing a call.
func (n *nginx) point(t *testing.T, replicas []*replica) {
	t.Helper()
	n.configure(t, replicas)
	if err := n.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
