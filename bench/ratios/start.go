package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// manyFrom is the contract of which a large directory is made.
const manyFrom = "review_status"

// measureStart starts the service with so many contracts, changes one of them, and says
// what both took: until calls are answered, until the change serves, and memory.
func (s settings) measureStart(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hallmark-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	contracts := filepath.Join(dir, "contracts")
	for i := range s.many {
		if err := copyContract(s.contracts, contracts, fmt.Sprintf("%s_%d", manyFrom, i)); err != nil {
			return err
		}
	}
	began := time.Now()
	service, err := startProcess(ctx, s.hallmark, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--drain-wait", "0s", "--contracts", contracts, "--data", filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer service.stop()
	if err := s.report("start", service, began, 0); err != nil {
		return err
	}

	before, err := service.cpu()
	if err != nil {
		return err
	}
	began = time.Now()
	if err := edit(filepath.Join(contracts, manyFrom+"_0", "v1", "contract.yaml"), []string{"\nowner: ", "\nowner: bench-"}); err != nil {
		return err
	}
	for {
		metrics, err := get(ctx, "http://"+service.ops+"/metrics")
		if err != nil {
			return err
		}
		if strings.Contains(metrics, `hallmark_contracts_reloads_total{result="refused"} 1`) {
			return fmt.Errorf("the changed contract was refused")
		}
		if strings.Contains(metrics, `hallmark_contracts_reloads_total{result="done"} 1`) {
			return s.report("reload", service, began, before)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// report prints what a start or a reload took.
func (s settings) report(what string, service *process, began time.Time, before int64) error {
	took := time.Since(began)
	cpu, err := service.cpu()
	if err != nil {
		return err
	}
	resident, err := service.peak()
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s@%d/", what, s.many)
	line(at+"seconds", took.Seconds(), 0, "")
	line(at+"cpu-seconds", float64(cpu-before)/1e9, 0, "")
	line(at+"peak-mb", float64(resident)/1e6, 0, "")
	line(at+"peak-kb-per-contract", float64(resident)/1e3/float64(s.many), 0, "")
	return nil
}

// copyContract writes the contract under another tool's name, with its cases.
func copyContract(shipped, dir, tool string) error {
	from := os.DirFS(filepath.Join(shipped, manyFrom))
	if err := os.CopyFS(filepath.Join(dir, tool), from); err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(dir, tool), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, bytes.ReplaceAll(b, []byte(manyFrom), []byte(tool)), 0o600)
	})
}

// peak is the most memory that p had, in bytes.
func (p *process) peak() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kb, 10, 64)
	return n << 10, err
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close() // read whole
	b, err := io.ReadAll(reply.Body)
	return string(b), err
}
