package main

// A login request of a run of chaos can be approved for 8 s (LOGIN_SECONDS of load/logins.ts). A poll that makes its session
// then has 6 s more (LEASE_MS of services/sync/signin/scripts.ts).
const (
	decidable = 8_000 * microsecond
	leased    = 6_000 * microsecond
)

// login: pending, then approved or denied, then consumed by one poll. Its time is over when a call finds that it is.
//
// What a read may find: `pending`; `waiting`, the answer of a poll without a session; `decided`, the answer to whoever decides
// again; an end; and `gone`.
func login(h *history) kind {
	from, until := times(h)
	right := isClockRight(h)
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
		if now != "pending" && now != "approved" {
			return afterLogin(state, now, does, isOpen)
		}
		var left []string
		if mayRun(now, does) {
			left = afterLogin(state, now, does, isOpen)
		}
		if !isOpen && mayBeOver(does) {
			left = append(left, afterLogin(push(state, "expired"), "expired", does, isOpen)...)
		}
		return left
	}
	return kind{first: "pending", step: step, lost: taken(gone)}
}

// times returns when the request was made at the earliest and at the latest. Without its beginning its time is not judged.
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
	before, after := "pending", "approved"
	switch does.Do {
	case "deny":
		after = "denied"
	case "poll":
		before, after = "approved", "consumed"
	}
	if now == before {
		return []string{push(state, after)}
	}
	if isOpen {
		return []string{state}
	}
	return nil
}

// isSaidOf tells whether a request in this state is answered so.
func isSaidOf(now, read string) bool {
	switch read {
	case "waiting":
		return now == "pending" || now == "approved"
	case "decided":
		return now == "approved" || now == "denied"
	}
	return now == read
}

// secondSession returns a history in which a later poll has the session too. Nil where no poll had it, or none is later.
func secondSession(h *history) *history {
	for _, first := range h.operations {
		if first.Do != "poll" || first.End == nil || overlaps(first, h.losses) {
			continue
		}
		for at, second := range h.operations {
			if second.Do == "read" && second.Said == "ok" && second.begin() > first.end() && second.End != nil && isUndisturbed(h, first, second) {
				made := with(h, at, "session")
				made.operations[at].Do = "poll"
				return made
			}
		}
	}
	return nil
}
