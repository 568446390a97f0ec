// Package fleettest holds the tests of the service as a fleet runs it: real processes over
// TLS that share one PostgreSQL, one directory of keys and the same contracts, behind nginx
// and behind the balancing of the clients themselves. It has no code of its own.
//
// The claims: calls spread evenly and reach a replica that joins; a replica that is killed
// or drained costs a client with the documented retry nothing, and every reply has its one
// record; ten times too many calls, and clients that mean harm beside them, cost refusals
// and neither memory nor the others' calls; nothing grows in a soak; a drain says so
// first and ends with 0.
//
// The short form runs with every go test. HALLMARK_FLEET=full (make fleet) runs longer,
// and HALLMARK_SOAK=10m (make soak) runs the soak. Tests of a fleet need
// HALLMARK_TEST_POSTGRES with psql, and nginx; where these are absent they say so and are
// skipped.
package fleettest
