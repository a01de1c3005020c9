package main

// planted returns histories with one answer that was never possible, made from one that holds: a read of a value that nobody
// wrote, one of a value that was overwritten before it began, and a step that the model forbids, where there are such. None when
// nothing was read.
func planted(h *history) []*history {
	var made []*history
	never, stale := -1, -1
	var old string
	for at, does := range h.operations {
		if does.Do != "read" || does.End == nil || overlaps(does, h.losses) {
			continue
		}
		if never < 0 && isKnown(h, does) {
			never = at
		}
		if value, isThere := overwritten(h, does); isThere {
			stale, old = at, value
		}
	}
	if never >= 0 {
		made = append(made, with(h, never, "nobody-wrote-this"))
	}
	if stale >= 0 {
		made = append(made, with(h, stale, old))
	}
	if wrong := wrongStep(h); wrong != nil {
		made = append(made, wrong)
	}
	return made
}

// isKnown tells whether a read has to find something certain. A name that was there before, or that a loss took, may be any.
func isKnown(h *history, read line) bool {
	for _, does := range h.operations {
		if isWrite(does) && does.end() < read.begin() && isUndisturbed(h, does, read) {
			return true
		}
	}
	return h.kind != "name"
}

func with(h *history, at int, read string) *history {
	copied := *h
	copied.operations = append([]line(nil), h.operations...)
	copied.operations[at].Read = read
	return &copied
}

// overwritten returns a value that was acknowledged, and certainly replaced by another before the read, with no loss since.
func overwritten(h *history, read line) (string, bool) {
	for _, first := range h.operations {
		if !isWrite(first) || first.end() >= read.begin() {
			continue
		}
		for _, second := range h.operations {
			isBetween := isWrite(second) && second.begin() > first.end() && second.end() < read.begin()
			if isBetween && second.Value != first.Value && isUndisturbed(h, first, read) {
				return first.Value, true
			}
		}
	}
	return "", false
}

func isWrite(does line) bool {
	return (does.Do == "write" || does.Do == "put") && does.Said == "ok" && does.End != nil && does.Value != ""
}

func isUndisturbed(h *history, first, read line) bool {
	for _, loss := range h.losses {
		if loss.end() >= first.begin() && loss.begin() <= read.end() {
			return false
		}
	}
	for _, does := range h.operations {
		if does.End == nil && does.Value == first.Value {
			return false
		}
	}
	return true
}
