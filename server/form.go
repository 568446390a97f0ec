package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// formError says which fields of a request break the rules of the API. It holds paths
// and rules, never a value.
type formError struct{ faults []fieldFault }

// fieldFault is one field and what is wrong with it.
type fieldFault struct {
	field  string // path in the message, "" for the message as a whole
	detail string // a sentence of our own
}

// Error lists the fields, one sentence each.
func (e *formError) Error() string {
	parts := make([]string, len(e.faults))
	for i, f := range e.faults {
		parts[i] = strings.TrimPrefix(f.field+": "+f.detail, ": ")
	}
	return "server: malformed call: " + strings.Join(parts, "; ")
}

// form judges whether requests are well-formed (B11 of a call, not of a result). It is
// built once and safe for concurrent use.
type form struct{ validator protovalidate.Validator }

// newForm compiles the rules of every request of the API, so that none is met
// uncompiled later.
func newForm() (*form, error) {
	v, err := protovalidate.New(
		protovalidate.WithMessages(
			&hallmarkv1.ValidateRequest{}, &hallmarkv1.AuthorizeRequest{}, &hallmarkv1.RedeemRequest{},
			&hallmarkv1.ListContractsRequest{}, &hallmarkv1.GetContractRequest{}, &hallmarkv1.GetKeysRequest{},
			&hallmarkv1.GetEventRequest{}, &hallmarkv1.ListEventsRequest{}, &hallmarkv1.WatchEventsRequest{},
			&hallmarkv1.GetOriginalRequest{},
		),
		protovalidate.WithDisableLazy(),
	)
	if err != nil {
		return nil, fmt.Errorf("server: compiling the rules of the API: %w", err)
	}
	return &form{validator: v}, nil
}

// check judges one message. The error is a [*formError], or an unclassified one where
// the rules themselves failed. Messages of other APIs have no rules.
func (f *form) check(m any) error {
	message, ok := m.(proto.Message)
	if !ok || message.ProtoReflect().Descriptor().ParentFile().Package() != hallmarkv1.File_hallmark_v1_gate_proto.Package() {
		return nil
	}
	err := f.validator.Validate(message)
	if err == nil {
		return nil
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("server: judging the form of a call: %w", err)
	}
	out := &formError{faults: make([]fieldFault, len(invalid.Violations))}
	for i, v := range invalid.Violations {
		out.faults[i] = fieldFault{fieldPath(v.Proto.GetField()), ruleSentence(v)}
	}
	return out
}

// fieldPath writes where a field stands: request.evidence[3]. Keys of maps are the
// caller's and are left out.
func fieldPath(path *validate.FieldPath) string {
	var b strings.Builder
	for i, e := range path.GetElements() {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.GetFieldName())
		switch e.GetSubscript().(type) {
		case nil:
		case *validate.FieldPathElement_Index:
			b.WriteString("[" + strconv.FormatUint(e.GetIndex(), 10) + "]")
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

// ruleSentence names the broken rule and its parameter, which are the API's own words.
// The library's message is not used: nobody promises that it holds no value.
func ruleSentence(v *protovalidate.Violation) string {
	rule := "breaks the rule " + v.Proto.GetRuleId()
	if v.RuleDescriptor == nil || !v.RuleValue.IsValid() || v.RuleDescriptor.IsList() || v.RuleDescriptor.Message() != nil {
		return rule
	}
	return rule + " " + v.RuleValue.String()
}
