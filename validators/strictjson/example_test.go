package strictjson_test

import (
	"errors"
	"fmt"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func ExampleParse() {
	v, err := strictjson.Parse([]byte(`{"id": 9007199254740993, "price": 1.50}`), strictjson.Ceilings())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Member("id").Digits())
	fmt.Println(string(strictjson.AppendJSON(nil, v)))

	_, err = strictjson.Parse([]byte(`{"to": "a@example.test", "t\u006f": "b@example.test"}`), strictjson.Ceilings())
	var fault *strictjson.Error
	if errors.As(err, &fault) {
		fmt.Println(fault.Reason, fault.Offset, fault.Pointer)
	}
	// Output:
	// 9007199254740993
	// {"id":9007199254740993,"price":1.50}
	// DUPLICATE_NAME 25 /to
}

func ExampleValue_All() {
	v, err := strictjson.Parse([]byte(`{"orders": [{"id": "A-1"}, {"note": "none"}, {"id": "B-7"}]}`), strictjson.Ceilings())
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := strictjson.Pointer{"orders", strictjson.EveryElement, "id"}
	v.All(ids, func(id strictjson.Value) bool {
		fmt.Println(id.Path(), id.Text())
		return true
	})
	// Output:
	// /orders/0/id A-1
	// /orders/2/id B-7
}

func ExampleAppendCanonical() {
	v, err := strictjson.Parse([]byte(`{"b": 1.50, "a": [1e2, "\u0041"], "id": 9007199254740993}`), strictjson.Ceilings())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = strictjson.AppendCanonical(nil, v, strictjson.RefuseBigNumbers)
	fmt.Println(err)
	text, err := strictjson.AppendCanonical(nil, v, strictjson.KeepBigNumbers)
	fmt.Println(string(text), err)
	// Output:
	// strictjson: NUMBER_LIMIT at byte 40: no IEEE 754 double stands for this number
	// {"a":[100,"A"],"b":1.5,"id":9007199254740993} <nil>
}
