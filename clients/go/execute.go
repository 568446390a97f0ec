package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt/permit"
)

// execute is what the executor of job_restart does with a permit and the bytes that it is
// about to act on. It never writes these anew before it has checked them.
func execute(ctx context.Context, gate hallmarkv1.GateServiceClient, contracts hallmarkv1.ContractServiceClient, token string, arguments []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 3*callTimeout)
	defer cancel()
	published, err := contracts.GetKeys(ctx, &hallmarkv1.GetKeysRequest{})
	if err != nil {
		return step("GetKeys", err)
	}
	keys, err := permit.ParseKeys([]byte(published.GetJwksJson()))
	if err != nil {
		return step("GetKeys", err)
	}
	// What the executor knows from its configuration, never from the permit.
	expect := permit.Expect{
		Issuer: os.Getenv("HALLMARK_ISSUER"), Tenant: os.Getenv("HALLMARK_TENANT"),
		Audience: "job_restart", Tool: "job_restart", Version: 1, Principal: principal, Now: time.Now(),
	}
	claims, err := permit.Verify(token, keys, expect, arguments)
	if err = step("the permit is good for these bytes", err); err != nil {
		return err
	}
	if err := step("and for no others", takesNoOther(token, keys, expect, arguments)); err != nil {
		return err
	}
	// Recorded before the act: nothing acts twice on one permit.
	seen := permit.NewSeen(1000)
	if !seen.First(claims, time.Now()) {
		return step("the act", errors.New("its permit counts as used"))
	}
	fmt.Println("       restarting", string(arguments), "for", claims.Principal)
	if seen.First(claims, time.Now()) {
		err = errors.New("a permit is good twice")
	}
	if err = step("the permit is used up", err); err != nil {
		return err
	}
	return step("Redeem, for executors without a record: once", redeem(ctx, gate, token, arguments))
}

// takesNoOther offers the permit for what it was not issued for.
func takesNoOther(token string, keys *permit.Keys, good permit.Expect, arguments []byte) error {
	late, early, other, elsewhere := good, good, good, good
	late.Now = good.Now.Add(2 * time.Minute)
	early.Now = good.Now.Add(-time.Minute)
	other.Principal = "eve@example.test"
	elsewhere.Audience = "deploy"
	forged := bytes.Clone([]byte(token))
	forged[len(forged)-10] ^= 1
	for what, offer := range map[string]struct {
		token  string
		expect permit.Expect
		args   []byte
	}{
		"one byte more":     {token, good, append(bytes.Clone(arguments), ' ')},
		"another signature": {string(forged), good, arguments},
		"later":             {token, late, arguments},
		"earlier":           {token, early, arguments},
		"another user":      {token, other, arguments},
		"another executor":  {token, elsewhere, arguments},
	} {
		if _, err := permit.Verify(offer.token, keys, offer.expect, offer.args); err == nil {
			return errors.New("it is good for: " + what)
		}
	}
	return nil
}

// redeem leaves check and record to the service.
func redeem(ctx context.Context, gate hallmarkv1.GateServiceClient, token string, arguments []byte) error {
	request := &hallmarkv1.RedeemRequest{Permit: token, Arguments: arguments, Audience: "job_restart"}
	first, err := gate.Redeem(ctx, request)
	if err != nil {
		return err
	}
	second, err := gate.Redeem(ctx, request)
	if err != nil {
		return err
	}
	if !first.GetRedeemed() || second.GetRedeemed() || second.GetReason() != hallmarkv1.ReasonCode_REASON_CODE_REPLAYED {
		return fmt.Errorf("redeemed %t, then %t for %s", first.GetRedeemed(), second.GetRedeemed(), second.GetReason())
	}
	return nil
}
