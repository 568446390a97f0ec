// Package archtest holds the house rules that a compiler does not know, and tests
// that hold the sources to them: which room may import which (rooms.go), what no
// source may contain (bans.go), and budgets of size and documentation (budgets.go).
//
// # Terms
//
// A room is a folder with Go sources, named by its path below the module's root. An
// arrow is one room importing another. A room that the table does not name is a
// fault: a new folder is a decision, taken in rooms.go.
//
// # How it reads
//
// The sources are parsed here, every file, whatever its build tags: a test that asks
// `go list` is served from the test cache after a bad arrow is added, and sees one
// platform. Generated code (gen), testdata, nested modules (tools) and folders that
// start with a dot are not read.
//
// Rules hold for _test.go files too, with one ease: a test may import what its room
// reaches over several arrows, and what the room's row names under tests.
package archtest
