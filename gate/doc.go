// Package gate holds the two ways through Hallmark, from bytes to reply.
//
// [Judge] is the pure way of a result: which tool, how the reply came, what its
// validator says of the bytes, what the agent is told, whether a retry makes sense. It
// has no clock, no randomness and no I/O; whoever runs a contract's cases runs the
// same function. [Gate.Validate] stands around it: one published set for each call,
// the audit record durable before the reply (D4), and one call lost, not the process,
// where something panics.
//
// There are three kinds of outcome and three ways out (see the package's errors): bad
// data is a Failure inside a reply, a bad call is a [CallError], and a fault of our own
// or of the audit store is any other error, on which the caller learns nothing.
package gate
