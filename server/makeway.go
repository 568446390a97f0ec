package server

import "time"

// seek cuts a call for one that waits, if there is one to be cut. a.mu is held.
func (a *arrivals) seek(c *arrival, now time.Time) {
	if c.victim != nil {
		if !c.victim.gone {
			return
		}
		a.settled(c)
	}
	v := a.victim(c, now)
	if v == nil {
		return
	}
	v.cut = true
	v.of.staying--
	v.on.staying--
	a.refused[refusal{"gave_way", v.who.Name}]++
	v.end()
	c.victim = v
	c.of.due++
	c.on.due++
}

// victim returns whom c may cut; nil: nobody. Where what c lacks is a place of its own
// identity, it is one of that. a.mu is held.
func (a *arrivals) victim(c *arrival, now time.Time) *arrival {
	size, own := a.places, a.lacks(c) == "identity_calls"
	if own {
		size = a.share(c.who)
	}
	slow := 0
	for _, v := range a.at {
		if (!own || v.of == c.of) && a.cuttable(v) && now.Sub(v.since) >= a.grace {
			slow++
		}
	}
	overdue := slow > size*a.slow/100
	var best *arrival
	for _, v := range a.at {
		age := now.Sub(v.since)
		switch {
		case own && v.of != c.of, !a.cuttable(v), age < a.moment, !gives(v, c, overdue && age >= a.grace):
		case best == nil, a.before(v, best, now):
			best = v
		}
	}
	return best
}

func (a *arrivals) cuttable(v *arrival) bool { return !v.cut && !v.read && v.end != nil }

// gives reports whether v has to give way to c.
func gives(v, c *arrival, overdue bool) bool {
	his, mine := v.of, c.of
	if his == mine {
		his, mine = v.on, c.on
	}
	has := mine.staying + mine.due
	return his.staying > has+1 || overdue && his.staying >= has
}

// before reports whether v is cut before u, which is older.
func (a *arrivals) before(v, u *arrival, now time.Time) bool {
	switch {
	case v.of.staying != u.of.staying:
		return v.of.staying > u.of.staying
	case v.on.staying != u.on.staying:
		return v.on.staying > u.on.staying
	}
	return now.Sub(v.since) >= a.grace
}

// hopes reports whether somebody has been cut for a call that waits, or is to be within a
// moment. a.mu is held.
func (a *arrivals) hopes(c *arrival, now time.Time) bool {
	a.seek(c, now)
	return c.victim != nil || a.victim(c, now.Add(a.moment)) != nil
}
