package server

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// The rules of every request are compiled at the start, and of nothing later.
func TestFormKnowsEveryRequest(t *testing.T) {
	f, err := newForm()
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("hallmark.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				requests++
				input, err := protoregistry.GlobalTypes.FindMessageByName(methods.Get(j).Input().FullName())
				if err != nil {
					t.Fatal(err)
				}
				var malformed *formError
				if err := f.check(input.New().Interface()); err != nil && !errors.As(err, &malformed) {
					t.Errorf("%s: %v", methods.Get(j).Input().FullName(), err)
				}
			}
		}
		return true
	})
	if requests != 10 {
		t.Errorf("%d requests", requests)
	}
	var malformed *formError
	if err := f.check(&hallmarkv1.Event{}); err == nil || errors.As(err, &malformed) {
		t.Errorf("a message whose rules were not compiled: %v", err)
	}
	if err := f.check("no message"); err != nil {
		t.Error(err)
	}
}
