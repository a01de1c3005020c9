package main

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long one object may take.
const patience = 30 * time.Second

// overlaps tells whether an operation ran while the store lost writes. Two primaries may have served then. Reads are not
// judged, and answered writes may be gone or may still take effect.
func overlaps(does line, losses []line) bool {
	for _, loss := range losses {
		if does.begin() <= loss.end() && does.end() >= loss.begin() {
			return true
		}
	}
	return false
}

// judged returns the operations that count, with the losses among them. It also returns those without an answer that need no
// place of their own: a ring, a transfer and a login request never return to a state that they left, so none of these
// operations takes effect twice.
func judged(h *history) ([]porcupine.Operation, []line) {
	var counted, reads []line
	for _, does := range h.operations {
		// The history to judge begins with the answer to the start.
		if does.Do == "start" {
			continue
		}
		if overlaps(does, h.losses) {
			if does.Do == "read" || does.Said == "refused" {
				continue
			}
			does.End = nil
		}
		if does.Do != "read" {
			if isSeenLater(does) {
				seen := does
				seen.Do = "read"
				reads = append(reads, seen)
				does.Read = ""
			}
			counted = append(counted, does)
		} else if does.End != nil {
			reads = append(reads, does)
		}
	}
	var open []line
	if h.kind == "clipboard" || h.kind == "name" {
		counted = settled(counted, reads)
	} else {
		counted, open = apart(counted)
	}
	var operations []porcupine.Operation
	for _, does := range append(counted, reads...) {
		operations = append(operations, porcupine.Operation{Input: does, Output: does.End == nil, Call: does.begin(), Return: does.end()})
	}
	for _, loss := range h.losses {
		operations = append(operations, porcupine.Operation{Input: loss, Output: false, Call: loss.begin(), Return: loss.end()})
	}
	return operations, open
}

// isSeenLater tells whether a step was answered with an end that another step has made since, because its call was sent again.
// The end was read at some time before the answer. It can only stand after the step, because no ended transfer takes the step.
func isSeenLater(does line) bool {
	return does.Kind == "transfer" && does.End != nil && does.Said == "ok" && (does.Do == "accept" || does.Do == "p2p") && isOver(does.Read)
}

// apart returns the operations with an answer, and those without one.
func apart(all []line) (answered, open []line) {
	for _, does := range all {
		if does.End == nil {
			open = append(open, does)
		} else {
			answered = append(answered, does)
		}
	}
	return answered, open
}

// settled decides about writes without an answer, each of which would double the orders to try. A write whose value was read
// took effect before the first such read ended, and a write that nobody read needs no place. Values are written once; about a
// value that was written twice, and about a clearing, nothing is decided.
func settled(writes, reads []line) []line {
	times := map[string]int{}
	for _, does := range writes {
		times[does.Value]++
	}
	seen := map[string]*float64{}
	for _, does := range reads {
		if first := seen[does.Read]; first == nil || *does.End < *first {
			seen[does.Read] = does.End
		}
	}
	var left []line
	for _, does := range writes {
		if does.End == nil && does.Value != "" && times[does.Value] == 1 {
			if seen[does.Value] == nil {
				continue
			}
			does.End = seen[does.Value]
		}
		left = append(left, does)
	}
	return left
}

// isClockRight tells whether nobody set the clock of the store between two times.
func isClockRight(h *history, from, until int64) bool {
	for _, loss := range h.losses {
		if loss.Clock && loss.begin() <= until && loss.end() >= from {
			return false
		}
	}
	return true
}

func judge(h *history) porcupine.CheckResult {
	operations, open := judged(h)
	return porcupine.CheckOperationsTimeout(kindOf(h).model(open), operations, patience)
}
