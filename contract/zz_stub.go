package contract

// Policy is one rule of a deployment (policies/*.yaml).
type Policy struct {
	Name                 string
	Tools                []string
	Forbid               bool
	Approval             bool
	Evidence             []Evidence
	When                 string
	File                 string
	Line, Column         int
	WhenLine, WhenColumn int
}

func (c *Contract) Place(path string) (line, column int) { return c.at(path) }
