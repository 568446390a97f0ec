package contract

// Policy is one rule of a deployment (policies/*.yaml): it forbids calls of some tools,
// or requires something of them.
type Policy struct {
	// Name is unique among the policies of a deployment.
	Name  string
	Tools []string // exact names or aliases; never empty
	// Forbid refuses the calls; Approval and Evidence are then empty.
	Forbid bool
	// Approval asks for a person's yes, and Evidence for validated facts.
	Approval bool
	Evidence []Evidence
	// When says in CEL which calls are meant; "" means all.
	When string
	// File is where the rule stands: policies/ and the path below the policies directory,
	// or, of a rule that a case names, the path below the contracts directory.
	File         string
	Line, Column int // of the rule, from 1
	// WhenLine and WhenColumn are where the text of When begins, behind its quote or in
	// the line below the sign of a block, from 1; 0 where there is none.
	WhenLine, WhenColumn int
}

const (
	// policiesName stands before the path of a policy file in messages.
	policiesName = "policies"
	// policiesFolder stands there in what the digest covers, where no contract's file can
	// have the same path: their names do not begin with ".".
	policiesFolder = ".policies"
)
