package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// record is the service's audit record, read as its operator.
type record struct {
	conn  *grpc.ClientConn
	audit hallmarkv1.AuditServiceClient
}

func openRecord(s *service) (*record, error) {
	pair, err := tls.LoadX509KeyPair(s.in("operator.pem"), s.in("operator.key"))
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(s.in("ca.pem"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	config := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, Certificates: []tls.Certificate{pair}}
	conn, err := grpc.NewClient(s.addr(), grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		return nil, err
	}
	return &record{conn, hallmarkv1.NewAuditServiceClient(conn)}, nil
}

func (r *record) close() error { return r.conn.Close() }

// counts are numbers of recorded decisions.
type counts struct{ validated, authorized, permits, redeemed int }

// count reads the whole record.
func (r *record) count(ctx context.Context) (counts, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var c counts
	page := ""
	for {
		reply, err := r.audit.ListEvents(ctx, &hallmarkv1.ListEventsRequest{PageSize: 500, PageToken: page})
		if err != nil {
			return counts{}, fmt.Errorf("the record: %w", err)
		}
		for _, e := range reply.GetEvents() {
			switch e.GetRpc() {
			case "validate":
				c.validated++
			case "authorize":
				c.authorized++
				if e.GetPermitId() != "" {
					c.permits++
				}
			case "redeem":
				c.redeemed++
			}
		}
		if page = reply.GetNextPageToken(); page == "" {
			return c, nil
		}
	}
}

func (c counts) since(before counts) counts {
	return counts{
		c.validated - before.validated, c.authorized - before.authorized,
		c.permits - before.permits, c.redeemed - before.redeemed,
	}
}

// The least that a client asks for in its own step: two results of which one takes a second
// attempt; two calls of which one is allowed; a permit that is used twice.
const (
	leastValidated  = 3
	leastAuthorized = 2
	leastRedeemed   = 2
)

// judged counts the vectors that are answered with a judgement, and so leave a record.
func judged(dir string) (int, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		var v struct {
			Want struct {
				Code string `json:"code"`
			} `json:"want"`
		}
		if err := json.Unmarshal(text, &v); err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		if v.Want.Code == codes.OK.String() {
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("no vectors in %s", dir)
	}
	return n, nil
}

// enough says what a client cannot have done.
func (c counts) enough(vectors int) error {
	least := vectors + leastValidated + leastAuthorized
	if c.validated < leastValidated || c.authorized < leastAuthorized || c.permits < 1 ||
		c.redeemed < leastRedeemed || c.validated+c.authorized < least {
		return fmt.Errorf("it says that all is well, but the service judged %d results, decided %d calls, issued %d permits and redeemed %d times; %d judgements were to be expected",
			c.validated, c.authorized, c.permits, c.redeemed, least)
	}
	return nil
}
