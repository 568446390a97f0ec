package contract

// at stands in for the index of key places that the reader of contract.yaml keeps.
func (c *Contract) at(path string) (line, column int) { return 0, 0 }
