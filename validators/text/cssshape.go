package text

// scalesToNothing reports whether scale or transform leave no width or height.
func (s style) scalesToNothing() bool {
	if list := words(s["scale"].tokens); len(list) > 0 && zeroScale(list) {
		return true
	}
	for list := words(s["transform"].tokens); len(list) > 0; {
		if list[0].kind != tokenFunction {
			return false
		}
		end := closing(list)
		args := numbers(list[1:end])
		switch list[0].text {
		case "scale", "scalex", "scaley", "scale3d", "scalez":
			if zeroScale(args) {
				return true
			}
		case "matrix":
			if len(args) == 6 && args[0].value*args[3].value == args[1].value*args[2].value {
				return true
			}
		}
		list = list[min(end+1, len(list)):]
	}
	return false
}

// movedAway reports whether translate or transform move the box far off to the left or
// to the top.
func (s style) movedAway() bool {
	if farOff(numbers(words(s["translate"].tokens))) {
		return true
	}
	for list := words(s["transform"].tokens); len(list) > 0; {
		if list[0].kind != tokenFunction {
			return false
		}
		end := closing(list)
		switch list[0].text {
		case "translate", "translatex", "translatey", "translate3d":
			if farOff(numbers(list[1:end])) {
				return true
			}
		}
		list = list[min(end+1, len(list)):]
	}
	return false
}

// farOff reports whether one of the first two moves, those of the plane, leads far off.
func farOff(moves []token) bool {
	for i, m := range moves {
		if px, ok := pixels(m); i < 2 && ok && px <= -farAway {
			return true
		}
	}
	return false
}

// zeroScale reports whether one of the first two factors, those of the plane, is
// zero.
func zeroScale(factors []token) bool {
	for i, f := range factors {
		if i < 2 && f.kind == tokenNumber && f.value == 0 {
			return true
		}
	}
	return false
}

// numbers returns the numbers in list.
func numbers(list []token) []token {
	var out []token
	for _, t := range list {
		if t.kind == tokenNumber {
			out = append(out, t)
		}
	}
	return out
}

// clipsToNothing reports whether a value of clip or clip-path leaves nothing.
func clipsToNothing(list []token) bool {
	if len(list) == 0 || list[0].kind != tokenFunction {
		return false
	}
	end := closing(list)
	args := list[1:min(end, len(list))]
	n := numbers(args)
	switch list[0].text {
	case "rect": // top, right, bottom, left
		return len(n) == 4 && (n[0].value >= n[2].value || n[3].value >= n[1].value)
	case "inset":
		return insetIsEmpty(args)
	case "circle", "ellipse":
		return len(n) > 0 && (n[0].value == 0 || list[0].text == "ellipse" && len(n) > 1 && n[1].value == 0)
	case "xywh":
		return len(n) >= 4 && (n[2].value <= 0 || n[3].value <= 0)
	case "polygon":
		return polygonIsEmpty(n)
	}
	return false
}

// insetIsEmpty reports whether the four distances of inset() meet. Those that
// follow "round" are radii.
func insetIsEmpty(args []token) bool {
	for i, t := range args {
		if t.kind == tokenIdent {
			args = args[:i]
			break
		}
	}
	n := numbers(args)
	if len(n) == 0 || len(n) > 4 {
		return false
	}
	side := func(i int) float64 {
		for i >= len(n) {
			i = max(0, i-2)
		}
		if n[i].text != "%" {
			return 0
		}
		return n[i].value
	}
	return side(0)+side(2) >= 100 || side(1)+side(3) >= 100
}

// polygonIsEmpty reports whether all points lie on one line along an axis.
func polygonIsEmpty(n []token) bool {
	if len(n) == 0 || len(n)%2 != 0 {
		return false
	}
	sameX, sameY := true, true
	for i := range n {
		if i%2 == 0 {
			sameX = sameX && n[i].value == n[0].value
		} else {
			sameY = sameY && n[i].value == n[1].value
		}
	}
	return sameX || sameY
}
