package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	defaultAddr = "127.0.0.1:7443"
	callTimeout = 15 * time.Second
	// maxReply is more than the service ever sends.
	maxReply = 8 << 20
)

// remote is the service that a command asks, and how it is reached.
type remote struct{ addr, ca, cert, key, serverName string }

// register adds the flags. addr is the address where none is given.
func (r *remote) register(cmd *cobra.Command, addr, usage string) {
	r.registerAs(cmd, addr, usage, "cert", "key")
}

// registerAs is register under other names for the own certificate and its key, for
// commands that have a key of another kind.
func (r *remote) registerAs(cmd *cobra.Command, addr, usage, cert, key string) {
	flags := cmd.Flags()
	flags.StringVar(&r.addr, "addr", addr, usage)
	flags.StringVar(&r.ca, "ca", "", "PEM file of the authorities whose services are trusted; with any of these flags the call goes by TLS")
	flags.StringVar(&r.cert, cert, "", "PEM file of the own certificate, which the service knows the caller by")
	flags.StringVar(&r.key, key, "", "PEM file of its key")
	flags.StringVar(&r.serverName, "server-name", "", "name in the service's certificate; empty: the host of --addr")
}

// dial connects to the service. A connection is only made by the first call. The error
// says which flag cannot be used, and how to cure it.
func (r *remote) dial(options ...grpc.DialOption) (*grpc.ClientConn, error) {
	if err := checkAddr(r.addr); err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	if r.secured() {
		config, err := r.tls()
		if err != nil {
			return nil, err
		}
		creds = credentials.NewTLS(config)
	}
	conn, err := grpc.NewClient(r.addr, append(options,
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply)))...)
	if err != nil {
		return nil, fmt.Errorf("%s is no address; give host:port", printable(r.addr))
	}
	return conn, nil
}

// flags are what reaches the same service, for a command that a person pastes; each with
// a space before it.
func (r *remote) flags() string {
	var b strings.Builder
	for _, f := range []struct{ name, value, usual string }{
		{"addr", r.addr, defaultAddr}, {"ca", r.ca, ""}, {"cert", r.cert, ""}, {"key", r.key, ""}, {"server-name", r.serverName, ""},
	} {
		if f.value != f.usual {
			b.WriteString(" --" + f.name + " " + shellWord(f.value))
		}
	}
	return b.String()
}

// shellWord is a word as a POSIX shell reads it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/.:_-@%+=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// checkAddr refuses an address that gRPC would take for something else: one without a port
// would be asked at 443, and a URL be looked up as a name.
func checkAddr(addr string) error {
	if scheme, _, is := strings.Cut(addr, "://"); is && (scheme == "http" || scheme == "https") {
		return fmt.Errorf("--addr %q is a URL; give host:port alone, and for TLS the flags --ca, --cert and --key", printable(addr))
	}
	if scheme, _, is := strings.Cut(addr, ":"); is && slices.Contains([]string{"dns", "unix", "passthrough"}, scheme) {
		return nil // a target as gRPC names them, such as dns:///name:7443
	}
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return fmt.Errorf("--addr %q names no port; give host:port, such as %s", printable(addr), defaultAddr)
	}
	return nil
}

// secured reports whether any flag asks for TLS.
func (r *remote) secured() bool {
	return r.ca != "" || r.cert != "" || r.key != "" || r.serverName != ""
}

// errNoRemote says that flags of TLS were given where no service is asked.
var errNoRemote = errors.New("--ca, --cert, --key and --server-name are for a service; name it with --addr, or leave them out")

// tls reads the files of the flags.
func (r *remote) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: r.serverName}
	if r.ca != "" {
		bundle, err := os.ReadFile(r.ca)
		if err != nil {
			return nil, fmt.Errorf("--ca: %s", printable(err.Error()))
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("--ca: %s holds no certificate; give a PEM file", printable(r.ca))
		}
	}
	if (r.cert == "") != (r.key == "") {
		return nil, errors.New("--cert and --key belong together; give both, or none")
	}
	if r.cert == "" {
		return config, nil
	}
	own, err := tls.LoadX509KeyPair(r.cert, r.key)
	if err != nil {
		return nil, fmt.Errorf("--cert, --key: %s", printable(err.Error()))
	}
	// The service hears of this certificate even where it is not of its authorities:
	// then it is refused with a reason, not taken for none.
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	return config, nil
}

// call bounds one call in time.
func call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}
