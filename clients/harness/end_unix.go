//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// endsWhole makes the end of a script the end of its children too.
func endsWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
