package receipt_test

import (
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// A key that another took over from never signs again, though the other was revoked.
func TestRetiredKeysStayRetired(t *testing.T) {
	w := newWorld(t)
	next, err := w.dir.Rotate(receipt.Challenges, now, 0, 24*time.Hour)
	must(t, err)
	_, err = w.dir.Revoke(next, now)
	must(t, err)
	w.reload(t)
	if err := w.keys.Ready(now); reasonOf(t, err) != receipt.NoKey {
		t.Errorf("ready: %v", err)
	}
	list, err := w.dir.List(now)
	must(t, err)
	for _, k := range list {
		if k.Set == receipt.Challenges && k.State == receipt.Active {
			t.Errorf("%s signs again", k.ID)
		}
	}
	_, err = w.dir.Rotate(receipt.Challenges, now, 0, time.Hour)
	must(t, err)
	w.reload(t)
	must(t, w.keys.Ready(now))
}
