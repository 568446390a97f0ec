package server

import (
	"log/slog"

	"github.com/hallmark-gate/hallmark/gate"
)

// alertLog writes alerts into the service's log: what the contract knows and a number,
// nothing of a reply.
func alertLog(log *slog.Logger) func(gate.Alert) {
	return func(a gate.Alert) {
		log.Warn("a vendor's replies hold members that its schema does not name; they are dropped",
			"tool", a.Tool, "version", a.Version, "owner", a.Owner, "contract_digest", a.ContractDigest,
			"hour", a.Hour, "dropped", a.Dropped)
	}
}
