package main

// planted returns histories with one answer that was never possible, made from a history that holds: a read of a value that
// nobody wrote, one of a value that was overwritten before it began, one of nothing where a text is held, and a step that the
// model forbids. A kind is left out if the history has no place for it. It returns none when nothing was read.
func planted(h *history) []*history {
	var made []*history
	never, stale, gone := -1, -1, -1
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
		if gone < 0 && isHeld(h, does) {
			gone = at
		}
	}
	if never >= 0 {
		made = append(made, with(h, never, "nobody-wrote-this"))
	}
	if stale >= 0 {
		made = append(made, with(h, stale, old))
	}
	if gone >= 0 {
		made = append(made, with(h, gone, ""))
	}
	if wrong := wrongStep(h); wrong != nil {
		made = append(made, wrong)
	}
	return made
}

// isKnown tells whether a read has to find something certain. A name from before the history, or one that a loss took, may be
// anything.
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

// overwritten returns a value that was acknowledged, and certainly replaced by another one before the read, with no loss since.
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

// isHeld tells whether a read has to find a text: one was acknowledged before, its time is not over, and nobody else wrote or
// cleared meanwhile.
func isHeld(h *history, read line) bool {
	for at, first := range h.operations {
		isInTime := first.end() < read.begin() && read.end()+slack < first.begin()+lifetime
		if h.kind == "clipboard" && isWrite(first) && isInTime && isUndisturbed(h, first, read) && isAlone(h, at, read) {
			return true
		}
	}
	return false
}

// isAlone tells whether no other write may have taken effect between the begin of a write and the end of a read. A write that
// ran during a loss may take effect at any time after it, like one without an answer.
func isAlone(h *history, at int, read line) bool {
	first := h.operations[at]
	for other, does := range h.operations {
		if other == at || does.Do != "write" || does.begin() > read.end() {
			continue
		}
		if does.end() >= first.begin() || overlaps(does, h.losses) {
			return false
		}
	}
	return true
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
