package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// signerOf makes a key and leaves its private half in a file.
func signerOf(t *testing.T, name string) (*receipt.Signer, *receipt.Approvers, string) {
	t.Helper()
	private, public, err := receipt.NewSigner(name, shownAt)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := receipt.ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	approvers, err := receipt.ParseApprovers(public)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.jwk")
	if err := os.WriteFile(file, private, 0o600); err != nil {
		t.Fatal(err)
	}
	return signer, approvers, file
}

// An answer is for this challenge, never outlives it, and is not given after it.
func TestSignAnswer(t *testing.T) {
	signer, approvers, _ := signerOf(t, "bea@example.test")
	c := challengeOf(`{}`)
	for _, tt := range []struct {
		line     string
		now      time.Time
		ttl      time.Duration
		approved bool
		good     time.Duration // 0: no answer
	}{
		{"approved", shownAt, 10 * time.Minute, true, 10 * time.Minute},
		{"rejected", shownAt, 10 * time.Minute, false, 10 * time.Minute},
		{"parts of a second", shownAt.Add(time.Second / 2), 1500 * time.Millisecond, true, time.Second},
		{"shortly before its end", c.Expires.Add(-time.Minute), 10 * time.Minute, true, time.Minute},
		{"at its end", c.Expires, 10 * time.Minute, true, 0},
		{"after it", c.Expires.Add(time.Hour), 10 * time.Minute, true, 0},
	} {
		t.Run(tt.line, func(t *testing.T) {
			f := approveFlags{ttl: tt.ttl}
			token, expires, err := f.sign(signer, c, "the challenge", tt.approved, tt.now)
			if tt.good == 0 {
				if !errors.Is(err, errExpired) || token != "" {
					t.Errorf("got %q, %v", token, err)
				}
				return
			}
			got, err := approvers.Verify(token, receipt.ApprovalExpect{
				Audience: "hallmark", Challenge: receipt.Digest([]byte("the challenge")), Caller: "local", Now: tt.now,
			})
			if refused := errors.Is(err, &receipt.Error{Reason: receipt.Refused}); refused == tt.approved {
				t.Fatal(err)
			}
			if life := got.Expires.Sub(got.IssuedAt); life != tt.good || !expires.Equal(got.Expires) || got.Approved != tt.approved {
				t.Errorf("%v for %s", got.Approved, life)
			}
		})
	}
}

// Challenges that nobody can answer any more, or that nobody would take for one.
func TestApproveRefuses(t *testing.T) {
	_, _, key := signerOf(t, "bea@example.test")
	whole := tokenOf(challengeHeader, challengeClaims)
	for _, tt := range []struct{ line, challenge, want string }{
		{"over", whole, "the challenge has expired"},
		{"cut", whole[:len(whole)/2], "this is not a challenge"},
		{"endless", "eyJ" + strings.Repeat("a", receipt.ChallengeKind.MaxBytes()), "longer than 3145728 bytes"},
		{"a token that is no file", "eyJ", "no such file"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(context.Background(), []string{"approve", tt.challenge, "--key", key, "--unverified", "--yes"}, strings.NewReader(""), &out, &errOut)
			if code != exitNoAnswer || !strings.Contains(errOut.String(), tt.want) || out.Len() > 0 {
				t.Errorf("exit code %d: %s", code, errOut.String())
			}
			if strings.Contains(errOut.String(), "principal") {
				t.Errorf("it is shown: %s", errOut.String())
			}
			if len(tt.challenge) > 64 && strings.Contains(errOut.String(), "eyJ") {
				t.Errorf("the token is repeated: %s", errOut.String())
			}
		})
	}
}

// Nobody sits at a pipe.
func TestAskNeedsATerminal(t *testing.T) {
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		tty.Close()
		t.Skip("there is a terminal")
	}
	in := &inputs{cmd: newApprove()}
	in.cmd.SetIn(strings.NewReader("deploy\n"))
	if _, err := ask(context.Background(), in, "?"); !errors.Is(err, errNobody) {
		t.Error(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	in.cmd.SetIn(null)
	if _, err := ask(context.Background(), in, "?"); !errors.Is(err, errNobody) {
		t.Error(err)
	}
}
