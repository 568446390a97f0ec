//go:build !race

package schema

// slower is how many times the limits of time are stretched.
const slower = 3
