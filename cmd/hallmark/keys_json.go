package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/receipt"
)

// keyLine is one key for programs.
type keyLine struct {
	Set       string    `json:"set"`
	State     string    `json:"state"`
	Kid       string    `json:"kid"`
	Alg       string    `json:"alg"`
	Created   time.Time `json:"created,omitzero"`
	NotBefore time.Time `json:"notBefore,omitzero"`
	NotAfter  time.Time `json:"notAfter,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
}

// initLine is what was made.
type initLine struct {
	Made     []receipt.Set `json:"made"`
	AuditKey bool          `json:"auditKey"` // the audit key was made too
}

// rotateLine is one set that got a key.
type rotateLine struct {
	Set               receipt.Set `json:"set"`
	Kid               string      `json:"kid"`
	SignsFrom         time.Time   `json:"signsFrom"`
	OthersVerifyUntil time.Time   `json:"othersVerifyUntil"`
}

func (l rotateLine) print(w io.Writer, out output) error {
	if out == "json" {
		return printObject(w, l)
	}
	_, err := fmt.Fprintf(w, "%s: %s signs from %s; those before it that are not revoked verify until %s\n",
		l.Set, l.Kid, moment(l.SignsFrom), moment(l.OthersVerifyUntil))
	return err
}

// revokeLine is what became of a key; nothing is known of one that no set has.
type revokeLine struct {
	Kid     string      `json:"kid"`
	Revoked bool        `json:"revoked"`
	Set     receipt.Set `json:"set,omitzero"`
	Signs   bool        `json:"signs"` // a key of the set signs now
}

func listKeysJSON(cmd *cobra.Command, keys []receipt.KeyInfo) error {
	lines := json.NewEncoder(cmd.OutOrStdout())
	for _, k := range keys {
		err := lines.Encode(keyLine{
			Set: string(k.Set), State: string(k.State), Kid: k.ID, Alg: k.Algorithm,
			Created: k.Created, NotBefore: k.NotBefore, NotAfter: k.NotAfter, Revoked: k.Revoked,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
