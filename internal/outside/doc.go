// Package outside runs the real binary as a child process, with a PostgreSQL schema of
// its own where one is asked for, for tests that see the service as callers and operators
// do: over the wire, on the ops port, in /proc and by signals. It knows nothing of the
// service's packages.
//
// Everything that it starts or makes ends with its test. Its functions are called from a
// test's own goroutine unless they say otherwise.
package outside
