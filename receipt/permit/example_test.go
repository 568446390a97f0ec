package permit_test

import (
	"fmt"
	"os"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/receipt/permit"
)

// What an executor does before it sends a mail. The first lines stand for the service.
func ExampleVerify() {
	data, _ := os.MkdirTemp("", "keys")
	defer os.RemoveAll(data)
	dir := receipt.Dir(data)
	dir.Init(now)
	service, _ := dir.Load()
	token, _ := service.SignPermit(claims(), claims().IssuedAt)
	jwks := service.Public(now)

	keys, err := permit.ParseKeys(jwks)
	if err != nil {
		fmt.Println(err)
		return
	}
	seen := permit.NewSeen(10_000)
	send := func(arguments string) {
		c, err := permit.Verify(token, keys, permit.Expect{
			Issuer: "hallmark.example.test", Tenant: "acme", Audience: "mailer.example.test",
			Tool: "mail_send", Version: 3, Principal: "ada@example.test",
			Now: now.Add(time.Second), KnownObligations: []string{"no-redirects"},
		}, []byte(arguments))
		switch {
		case err != nil:
			fmt.Println("refused:", err)
		case !seen.First(c, now.Add(time.Second)):
			fmt.Println("refused: done before")
		default:
			fmt.Println("sending for", c.Principal)
		}
	}
	send(`{"to":["eve@example.test"],"subject":"Hello"}`)
	send(`{"to":["ada@example.test"],"subject":"Hello"}`)
	send(`{"to":["ada@example.test"],"subject":"Hello"}`)
	// Output:
	// refused: permit: mismatch: args_sha256
	// sending for ada@example.test
	// refused: done before
}
