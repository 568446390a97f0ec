package server

import (
	"errors"
	"strconv"
	"time"
)

type textValue struct{ p *string }

func (v textValue) String() string        { return *v.p }
func (v textValue) Set(text string) error { *v.p = text; return nil }
func (v textValue) Type() string          { return "string" }

type boolValue struct{ p *bool }

func (v boolValue) String() string { return strconv.FormatBool(*v.p) }
func (v boolValue) Type() string   { return "bool" }

func (v boolValue) Set(text string) error {
	switch text {
	case "true":
		*v.p = true
	case "false":
		*v.p = false
	default:
		return errors.New("is neither true nor false")
	}
	return nil
}

type durationValue struct{ p *time.Duration }

func (v durationValue) String() string { return v.p.String() }
func (v durationValue) Type() string   { return "duration" }

func (v durationValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("is no duration such as 2s or 500ms")
	}
	*v.p = d
	return nil
}

type numberValue struct{ p *int }

func (v numberValue) String() string { return strconv.Itoa(*v.p) }
func (v numberValue) Type() string   { return "int" }

func (v numberValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("is no whole number")
	}
	*v.p = n
	return nil
}
