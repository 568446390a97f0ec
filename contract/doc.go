// Package contract reads what tools promised.
//
// A contract is a folder: contract.yaml, the JSON Schemas (draft 2020-12) it names and
// its cases. The package parses these files strictly (unknown and duplicate keys are
// refused, scalars that stand for JSON keep their digits), lints them, and returns
// every fault of every file at once, each with file, line and column. It says what was
// promised and knows no engine that could judge bytes by it: no JSON Schema evaluator,
// no expression language. It also owns the vocabulary in which verdicts are written,
// since cases name them: [FailureCode], [Layer], [Reason].
package contract
