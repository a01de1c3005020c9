package main

import (
	"strings"

	"github.com/anishathalye/porcupine"
)

const (
	// unknown is the first state of an object that was there before the history began.
	unknown = "?"
	// gone is a record that the store has not.
	gone = "gone"
)

// kind says how objects of a kind behave.
type kind struct {
	first string
	// step returns the states in which an operation may leave an object. An operation without an end may also do nothing.
	step func(state string, does line, isOpen bool) []string
	// lost returns the states in which a loss may leave an object.
	lost func(state string, loss line) []string
}

// model returns how an object behaves beside operations without an answer, `open`, each of which may have taken effect before
// any operation that ended after it began.
func (k kind) model(open []line) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{k.first} },
		Step: func(state, input, output interface{}) []interface{} {
			does, isOpen := input.(line), output.(bool)
			var left []interface{}
			for _, now := range k.reached(state.(string), open, does.end()) {
				if isOpen {
					left = append(left, now)
				}
				for _, one := range k.next(now, does, isOpen) {
					left = append(left, one)
				}
			}
			return left
		},
	}
	return model.ToModel()
}

func (k kind) next(now string, does line, isOpen bool) []string {
	if does.Kind == "loss" {
		return k.lost(now, does)
	}
	return k.step(now, does, isOpen)
}

// reached returns the state, and those to which operations without an answer lead from it.
func (k kind) reached(state string, open []line, until int64) []string {
	found := []string{state}
	isFound := map[string]bool{state: true}
	for at := 0; at < len(found); at++ {
		for _, does := range open {
			if does.begin() > until {
				continue
			}
			for _, one := range k.step(found[at], does, true) {
				if !isFound[one] {
					isFound[one] = true
					found = append(found, one)
				}
			}
		}
	}
	return found
}

// register: a name, the text of the clipboard. Its state is what it holds: a longer one would be another in every order of its
// writes, and no two orders would meet again. `mayBe` says what a read may find where the register holds something else. A loss
// leaves anything that was written before its end, or nothing.
func register(h *history, first string, mayBe func(held string, does line) bool) kind {
	step := func(now string, does line, isOpen bool) []string {
		if does.Do == "write" {
			if does.Said == "refused" {
				return []string{now}
			}
			return []string{held(does)}
		}
		if now == unknown && !isOpen {
			return []string{does.Read}
		}
		if mayBe(now, does) {
			return []string{now}
		}
		return nil
	}
	lost := func(now string, loss line) []string {
		left := []string{now, first}
		for _, does := range h.operations {
			if does.Do == "write" && does.Said != "refused" && does.begin() <= loss.end() {
				left = append(left, held(does))
			}
		}
		return left
	}
	return kind{first, step, lost}
}

// The state of a ring, a transfer and a login request is all that it was, one after the other, the present last: none can be twice what it
// was before. A loss takes the last of them, or the object.
const separator = "\x00"

func top(state string) string { return state[strings.LastIndex(state, separator)+1:] }

func push(state, value string) string { return state + separator + value }

func taken(empty string) func(state string, loss line) []string {
	return func(state string, _ line) []string {
		left := []string{state}
		for at := strings.LastIndex(state, separator); at >= 0; at = strings.LastIndex(state, separator) {
			state = state[:at]
			left = append(left, state)
		}
		return append(left, empty)
	}
}

// ring: a chain that grows by compare-and-set.
var ring = kind{first: "", lost: taken(""), step: func(state string, does line, isOpen bool) []string {
	now := top(state)
	switch {
	case does.Do == "read" && does.Read == now:
		return []string{state}
	case does.Do == "read":
		return nil
	case does.Said == "refused" && does.Before != now:
		return []string{state}
	case does.Said == "refused":
		return nil
	case now == does.Value:
		return []string{state}
	case now == does.Before:
		return []string{push(state, does.Value)}
	case isOpen:
		return []string{state}
	}
	return nil
}}

func isOver(state string) bool { return state == "DONE" || state == "FAILED" || state == "CANCELLED" }

// record is a transfer as the model knows it: state, whether it was accepted, whether it was rejected.
type record struct {
	state              string
	accepted, rejected bool
}

func parse(text string) record {
	parts := strings.Split(text, " ")
	return record{parts[0], strings.Contains(text, " accepted"), strings.Contains(text, " rejected")}
}

func (r record) String() string {
	text := r.state
	if r.accepted {
		text += " accepted"
	}
	if r.rejected {
		text += " rejected"
	}
	return text
}

func (r record) happened(action string) bool {
	switch action {
	case "accept":
		return r.accepted && r.state != "FAILED" && r.state != "CANCELLED"
	case "reject":
		return r.state == "CANCELLED" && r.rejected
	case "p2p":
		return r.state == "P2P_ACTIVE"
	case "complete":
		return r.state == "DONE"
	case "fail":
		return r.state == "FAILED"
	}
	return r.state == "CANCELLED"
}

// after returns the record after an action, and whether its state allows that (transfer-act.lua).
func (r record) after(action string) (record, bool) {
	switch action {
	case "accept":
		return record{"ACCEPTED", true, false}, r.state == "PENDING"
	case "reject":
		return record{"CANCELLED", r.accepted, true}, r.state == "PENDING"
	case "p2p":
		return record{"P2P_ACTIVE", true, false}, !isOver(r.state)
	case "complete":
		return record{"DONE", true, false}, r.state == "P2P_ACTIVE"
	case "fail":
		return record{"FAILED", r.accepted, false}, !isOver(r.state)
	}
	return record{"CANCELLED", r.accepted, false}, !isOver(r.state)
}

var transfer = kind{first: "PENDING", lost: taken(gone), step: func(state string, does line, isOpen bool) []string {
	now := top(state)
	if now == gone || does.Read == gone {
		if isOpen || now == does.Read {
			return []string{state}
		}
		return nil
	}
	r := parse(now)
	if does.Do == "read" {
		if r.state == does.Read {
			return []string{state}
		}
		return nil
	}
	next, isAllowed := r.after(does.Do)
	happened := r.happened(does.Do)
	isSilent := isOpen || does.Read == ""
	switch {
	case does.Said == "refused":
		if happened || isAllowed || (does.Read != r.state && does.Read != "") {
			return nil
		}
		return []string{state}
	case happened && (isSilent || does.Read == r.state):
		return []string{state}
	case !happened && isAllowed && (isSilent || does.Read == next.state):
		return []string{push(state, next.String())}
	}
	return nil
}}

func kindOf(h *history) kind {
	switch h.kind {
	case "clipboard":
		return register(h, "", clipboard(isClockRight(h)))
	case "name":
		return register(h, unknown, func(now string, does line) bool { return now == does.Read })
	case "transfer":
		return transfer
	case "login":
		return login(h)
	}
	return ring
}
