package main

// A login request of a run of chaos can be approved for 8 s (LOGIN_SECONDS of load/logins.ts). A poll that makes its session
// then has 6 s more (LEASE_MS of services/sync/signin/scripts.ts).
const (
	decidable = 8_000 * microsecond
	leased    = 6_000 * microsecond
)

// login: pending, then approved or denied, then consumed by one poll, as login.tla says. Its time is over when a call finds that
// it is.
//
// A read may find `pending`; `waiting`, the answer of a poll without a session; `decided`, the answer to a second decision; an
// end; and `gone`.
func login(h *history) kind {
	from, until := times(h)
	right := isClockRight(h, from, forever)
	mayBeOver := func(does line) bool { return !right || does.end()+slack >= from+decidable }
	mayRun := func(now string, does line) bool {
		last := until + decidable
		if now == "approved" {
			last += leased
		}
		return !right || does.begin()-slack <= last
	}
	step := func(state string, does line, isOpen bool) []string {
		now := top(state)
		over := allowed("login", now, "expire").to
		if over == "" {
			return afterLogin(state, now, does, isOpen)
		}
		var left []string
		if mayRun(now, does) {
			left = afterLogin(state, now, does, isOpen)
		}
		if !isOpen && mayBeOver(does) {
			left = append(left, afterLogin(push(state, over), over, does, isOpen)...)
		}
		return left
	}
	return kind{first: "pending", step: step, lost: taken(gone)}
}

// times returns the earliest and the latest time at which the request was made. If its beginning is not known, its time is not
// judged.
func times(h *history) (from, until int64) {
	for _, does := range h.operations {
		if does.Do == "start" {
			return does.begin(), does.end()
		}
	}
	return -forever / 2, forever / 2
}

// afterLogin returns the states after an operation, none where its answer is impossible.
func afterLogin(state, now string, does line, isOpen bool) []string {
	if does.Do == "read" || does.Said == "refused" {
		if isSaidOf(now, does.Read) {
			return []string{state}
		}
		return nil
	}
	action := map[string]string{"poll": "consume"}[does.Do]
	if action == "" {
		action = does.Do
	}
	said := allowed("login", now, action)
	if said.says == "ok" || said.says == "session" {
		return []string{push(state, said.to)}
	}
	if isOpen {
		return []string{state}
	}
	return nil
}

// isSaidOf tells whether a request in this state is answered like that.
func isSaidOf(now, read string) bool {
	switch read {
	case "waiting":
		return now == "pending" || now == "approved"
	case "decided":
		return now == "approved" || now == "denied"
	}
	return now == read
}
