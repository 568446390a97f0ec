package main

import (
	"encoding/json"
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
