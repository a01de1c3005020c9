package main

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long one object may take.
const patience = 30 * time.Second

// overlaps tells whether an operation ran while the store lost writes. Two primaries may have served then: what was read is
// not judged, and what was answered may be gone, or still come.
func overlaps(does line, losses []line) bool {
	for _, loss := range losses {
		if does.begin() <= loss.end() && does.end() >= loss.begin() {
			return true
		}
	}
	return false
}

// judged returns the operations that count, with the losses among them.
func judged(h *history) []porcupine.Operation {
	var operations []porcupine.Operation
	for _, does := range h.operations {
		isOpen, end := does.End == nil, does.end()
		isChange := does.Do != "read" && does.Said != "refused"
		if overlaps(does, h.losses) {
			if !isChange {
				continue
			}
			isOpen, end = true, forever
		}
		if isOpen && does.Do == "read" {
			continue
		}
		operations = append(operations, porcupine.Operation{Input: does, Output: isOpen, Call: does.begin(), Return: end})
	}
	for _, loss := range h.losses {
		operations = append(operations, porcupine.Operation{Input: loss, Output: false, Call: loss.begin(), Return: loss.end()})
	}
	return operations
}

func isClockRight(h *history) bool {
	for _, loss := range h.losses {
		if loss.Clock {
			return false
		}
	}
	return true
}

func judge(h *history) porcupine.CheckResult {
	model := kinds(isClockRight(h))[h.kind].model()
	return porcupine.CheckOperationsTimeout(model, judged(h), patience)
}
