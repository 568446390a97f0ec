package notice_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit/notice"
)

// Made with another implementation:
//
//	printf '1768478400.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
const (
	signedBody = `{"a":1}`
	signedAt   = 1768478400
	signature  = "d11d188d6b26867fbc460ca487bf64e08a6a6be89b025d9a5089b5ce8fd16c40"
)

func TestVerify(t *testing.T) {
	const good = "t=1768478400,v1=" + signature
	now := time.Unix(signedAt, 0)
	for _, tt := range []struct {
		line, header, body string
		now                time.Time
		want               error
	}{
		{"genuine", good, signedBody, now, nil},
		{"a scheme of tomorrow beside", good + ",v2=abc,x", signedBody, now, nil},
		{"of the secret before, and of this", "t=1768478400,v1=" + strings.Repeat("0", 64) + ",v1=" + signature, signedBody, now, nil},
		{"the order is free", "v1=" + signature + ",t=1768478400", signedBody, now, nil},
		{"in upper case", "t=1768478400,v1=" + strings.ToUpper(signature), signedBody, now, nil},
		{"almost too old", good, signedBody, now.Add(5 * time.Minute), nil},
		{"too old", good, signedBody, now.Add(5*time.Minute + time.Second), notice.ErrTooOld},
		{"of the future", good, signedBody, now.Add(-6 * time.Minute), notice.ErrTooOld},
		{"of no time", good, signedBody, time.Time{}, notice.ErrTooOld},
		{"another body", good, signedBody + " ", now, notice.ErrSignature},
		{"another time", "t=1768478401,v1=" + signature, signedBody, now, notice.ErrSignature},
		{"another spelling of the time", "t=01768478400,v1=" + signature, signedBody, now, notice.ErrSignature},
		{"two times", good + ",t=1768478400", signedBody, now, notice.ErrSignature},
		{"no time", "v1=" + signature, signedBody, now, notice.ErrSignature},
		{"no signature", "t=1768478400", signedBody, now, notice.ErrSignature},
		{"cut", good[:len(good)-2], signedBody, now, notice.ErrSignature},
		{"no hex", good[:len(good)-1] + "x", signedBody, now, notice.ErrSignature},
		{"empty", "", signedBody, now, notice.ErrSignature},
		{"too many", good + strings.Repeat(",v1=00", 4), signedBody, now, notice.ErrSignature},
		{"too long", good + strings.Repeat(",x", 1000), signedBody, now, notice.ErrSignature},
	} {
		t.Run(tt.line, func(t *testing.T) {
			if err := notice.Verify(secret, tt.header, []byte(tt.body), tt.now, 0); !errors.Is(err, tt.want) {
				t.Error(err)
			}
		})
	}
	for _, wrong := range [][]byte{nil, secret[:notice.MinSecret-1], append([]byte("x"), secret...)} {
		if err := notice.Verify(wrong, good, []byte(signedBody), now, time.Hour); !errors.Is(err, notice.ErrSignature) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
