package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

var errNobody = errors.New("there is no terminal to ask on; look at what is shown above and say --yes or --reject")

// ask asks the person at the terminal and returns the line that was typed, without the
// white space around it. It asks on the terminal itself, since standard input may hold
// something else; where there is none that can be opened it takes standard input, if that
// is one. It ends with ctx.
func ask(ctx context.Context, in *inputs, question string) (string, error) {
	const most = 4 << 10
	from, to, err := terminal(in)
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(to, question); err != nil {
		return "", fmt.Errorf("asking on the terminal: %w", err)
	}
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(from, most)).ReadString('\n')
		typed <- strings.TrimSpace(line) // the end of the input is an answer too: none
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done(): // the reader ends with the process
		return "", errors.New("interrupted; nothing is signed")
	}
}

// terminal is where a person can be asked. Nothing closes it: the command ends soon.
func terminal(in *inputs) (io.Reader, io.Writer, error) {
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		return tty, tty, nil
	}
	f, isFile := in.cmd.InOrStdin().(*os.File)
	if in.stdin != "" || !isFile {
		return nil, nil, errNobody
	}
	null, nullErr := os.Stat(os.DevNull) // a device like a terminal, and nobody sits there
	info, err := f.Stat()
	if err != nil || nullErr != nil || info.Mode()&os.ModeCharDevice == 0 || os.SameFile(info, null) {
		return nil, nil, errNobody
	}
	return f, in.cmd.ErrOrStderr(), nil
}
