package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
)

// The members of JUnit's XML that programs agree on.
type (
	junitReport struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		File    string      `xml:"file,attr,omitempty"`
		Line    int         `xml:"line,attr,omitempty"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// printJUnit writes what cases came to: a suite for each version of a tool, a test for
// each of its cases.
func printJUnit(w io.Writer, report casetest.Report) error {
	out := junitReport{Name: "hallmark check"}
	var suite *junitSuite
	for _, r := range report.Results {
		name := fmt.Sprintf("%s v%d", r.Tool, r.Version)
		if suite == nil || suite.Name != printable(name) { // results come contract by contract
			out.Suites = append(out.Suites, junitSuite{Name: printable(name)})
			suite = &out.Suites[len(out.Suites)-1]
		}
		suite.add(caseToJUnit(r))
	}
	return out.print(w)
}

func caseToJUnit(r casetest.Result) junitCase {
	c := junitCase{
		Name: printable(caseName(r.File)), Class: printable(r.Tool), File: printable(r.File), Line: r.Line,
	}
	if !r.Passed() {
		c.Failure = &junitFault{
			Message: "not as wanted: " + printable(strings.Join(r.Unwanted(), ", ")), Type: "case", Text: printable(r.String()),
		}
	}
	return c
}

// caseName is the name of a case's file without its folder and ending: what is wrong in
// it.
func caseName(file string) string {
	return strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".yaml")
}

// printJUnitFaults writes why a directory is refused: one suite, an error for each
// fault.
func printJUnitFaults(w io.Writer, faults contract.Faults) error {
	suite := junitSuite{Name: "lint"}
	for _, f := range faults {
		suite.add(junitCase{
			Name: printable(place(f)), Class: "lint", File: printable(f.File), Line: f.Line,
			Error: &junitFault{Message: printable(f.Message), Type: "fault", Text: printable(f.String())},
		})
	}
	return junitReport{Name: "hallmark check", Suites: []junitSuite{suite}}.print(w)
}

// place is where a fault is, as far as it is known.
func place(f contract.Fault) string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, max(f.Column, 1))
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
}

func (r junitReport) print(w io.Writer) error {
	for _, s := range r.Suites {
		r.Tests += s.Tests
		r.Failures += s.Failures
		r.Errors += s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
