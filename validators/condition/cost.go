package condition

import (
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// prices are the costs of calls that the standard model takes to be constant although
// they read their whole argument, and of in, which it counts ten times too dear for
// weights in bytes. nil leaves a call to the standard model.
type prices struct{}

// CallCost implements the library's hook; it is called after the call has been made.
func (prices) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	switch function {
	case "size", "int", "uint", "double", "bool", "string", "duration", "timestamp":
		c := uint64(1)
		for _, a := range args {
			c += textLength(a) / 10
		}
		return &c
	}
	if overload == overloads.InList && len(args) == 2 {
		c := 1 + uint64(sizes.AggregateSize(args[1]))/nodeWeight + textLength(args[0])/10
		return &c
	}
	return nil
}

// sizes measures as the cost model does.
var sizes = types.NewSizeCalculator(
	types.SizeCalculatorStringUnitLength(1),
	types.SizeCalculatorMaxDepth(maxExpressionDepth),
	types.SizeCalculatorMaxTraversal(MaxCost/10),
)

func textLength(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	}
	return 0
}
