// Package faulttest holds the tests of the service as operators run it: the real binary as
// a child process on loopback, its real stores, and faults that no unit can show. It has
// no code of its own.
//
// The faults: kill -9 at random moments, a disk that fills up, a database that stops or
// freezes, contracts that are exchanged meanwhile. The claims: no reply without a durable
// record (D4), no record torn or lost, no one-shot grant used twice, and UNAVAILABLE
// instead of anything weaker. Besides, nothing of a payload, a token or a header is found
// in what the service writes (B11, A17), and nothing that the service has opens an
// original.
//
// The short form runs with every go test. HALLMARK_FAULTS=full (make faults) runs more and
// longer. Tests of PostgreSQL need HALLMARK_TEST_POSTGRES and psql, the full disk needs the
// right to mount a tmpfs; where these are absent they say so and are skipped.
package faulttest
