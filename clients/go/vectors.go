package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// vector is one file; ../vectors/README.md says what its members mean.
type vector struct {
	Name    string          `json:"name"`
	Why     string          `json:"why"`
	RPC     string          `json:"rpc"`
	Request json.RawMessage `json:"request"`
	Repeat  *struct {
		Byte  []byte `json:"byte"`
		Times int    `json:"times"`
	} `json:"raw_repeat"`
	Want struct {
		Code     string         `json:"code"`
		Response map[string]any `json:"response"`
	} `json:"want"`
}

func runVectors(ctx context.Context, gate hallmarkv1.GateServiceClient, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return errors.Join(errors.New("no vectors in "+dir), err)
	}
	for _, file := range files {
		v, err := readVector(file, time.Now())
		if err == nil {
			err = v.run(ctx, gate)
		}
		if err = step("vector "+v.Name, err); err != nil {
			return err
		}
	}
	return nil
}

var offset = regexp.MustCompile(`\{\{now([+-][0-9]+s)\}\}`)

// readVector fills in the placeholders and reads a file, strictly.
func readVector(file string, now time.Time) (vector, error) {
	v := vector{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
	text, err := os.ReadFile(file)
	if err != nil {
		return v, err
	}
	text = offset.ReplaceAllFunc(text, func(place []byte) []byte {
		d, _ := time.ParseDuration(string(offset.FindSubmatch(place)[1]))
		return []byte(now.Add(d).UTC().Format(time.RFC3339))
	})
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	text = bytes.ReplaceAll(text, []byte("{{id}}"), []byte(hex.EncodeToString(id)))
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	name := v.Name
	if err := decoder.Decode(&v); err != nil {
		return v, err
	}
	switch {
	case decoder.More():
		return v, errors.New("more than one JSON value")
	case v.Name != name || v.Why == "":
		return v, errors.New("its name is not the file's, or it does not say why")
	}
	return v, nil
}

func (v vector) run(ctx context.Context, gate hallmarkv1.GateServiceClient) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	reply, err := v.send(ctx, gate)
	var code codes.Code
	if fault := code.UnmarshalJSON([]byte(`"` + v.Want.Code + `"`)); fault != nil {
		return fault
	}
	if got := status.Code(err); got != code {
		return fmt.Errorf("status %s: %w", got, err)
	}
	if code != codes.OK {
		return nil
	}
	text, err := protojson.Marshal(reply)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var got any
	if err := decoder.Decode(&got); err != nil {
		return err
	}
	return matches(v.Want.Response, got, "")
}

// send makes the request and calls the method that the vector names.
func (v vector) send(ctx context.Context, gate hallmarkv1.GateServiceClient) (proto.Message, error) {
	repeated := func() []byte { return bytes.Repeat(v.Repeat.Byte, v.Repeat.Times) }
	switch v.RPC {
	case "Validate":
		request := &hallmarkv1.ValidateRequest{}
		if err := protojson.Unmarshal(v.Request, request); err != nil {
			return nil, err
		}
		if v.Repeat != nil {
			request.Payload = &hallmarkv1.ValidateRequest_Raw{Raw: repeated()}
		}
		return gate.Validate(ctx, request)
	case "Authorize":
		request := &hallmarkv1.AuthorizeRequest{}
		if err := protojson.Unmarshal(v.Request, request); err != nil {
			return nil, err
		}
		if v.Repeat != nil {
			request.Payload = &hallmarkv1.AuthorizeRequest_Raw{Raw: repeated()}
		}
		return gate.Authorize(ctx, request)
	}
	return nil, fmt.Errorf("no method %q", v.RPC)
}

// matches says where a response is not what was wanted.
func matches(want, got any, at string) error {
	switch want := want.(type) {
	case nil:
		if got != nil {
			return fmt.Errorf("%s is there", at)
		}
	case map[string]any:
		object, is := got.(map[string]any)
		if !is {
			return fmt.Errorf("%s is no object", at)
		}
		for name, value := range want {
			if err := matches(value, object[name], at+"/"+name); err != nil {
				return err
			}
		}
	case []any:
		list, is := got.([]any)
		if !is || len(list) != len(want) {
			return fmt.Errorf("%s is not a list of %d", at, len(want))
		}
		for i, value := range want {
			if err := matches(value, list[i], fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	default:
		if want != got {
			return fmt.Errorf("%s is %q, not %q", at, got, want)
		}
	}
	return nil
}
