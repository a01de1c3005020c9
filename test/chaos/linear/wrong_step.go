package main

// wrongStep returns a history with a step that its model forbids, or nil if nothing in it can be changed into one.
func wrongStep(h *history) *history {
	for _, first := range h.operations {
		if first.End == nil || first.Said != "ok" || overlaps(first, h.losses) {
			continue
		}
		for at, second := range h.operations {
			if second.End == nil || second.begin() <= first.end() || !isUndisturbed(h, first, second) {
				continue
			}
			if wrong, isWrong := forbidden(first, second); isWrong {
				made := with(h, at, wrong.Read)
				made.operations[at] = wrong
				return made
			}
		}
	}
	return nil
}

// forbidden changes the second of two operations into a step that cannot come after the first.
func forbidden(first, second line) (line, bool) {
	isReading := second.Do == "read" && second.Said == "ok"
	switch {
	case first.Kind == "login" && first.Do == "poll" && isReading:
		// Another poll has the session too.
		second.Do, second.Read = "poll", "session"
	case first.Kind == "transfer" && first.Do != "read" && isReading:
		// The offer is open again.
		second.Read = "PENDING"
	case first.Kind == "keys" && first.Do == "put" && second.Do == "put" && second.Said == "refused" && second.Before == first.Before && second.Value != first.Value:
		// Two rings follow the same one.
		second.Said = "ok"
	default:
		return second, false
	}
	return second, true
}
