package main

import (
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

const (
	// unknown is the first state of an object that was there before the history began.
	unknown = "?"
	// gone is a record that the store does not have.
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

// register: a name, the text of the clipboard. Its state is only what it holds. A state with the past in it would differ for
// every order of the writes, so that no two orders would meet again. `mayBe` says what a read may find where the register holds
// something else. A loss leaves anything that was written before its end, or nothing.
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

// The state of a ring, a transfer and a login request is the list of all its states, with the present one last: none of them
// can come twice. A loss takes the last ones, or the object.
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

// ring: a chain that grows by compare-and-set, as keyring.tla says.
var ring = kind{first: "", lost: taken(""), step: func(state string, does line, isOpen bool) []string {
	now := top(state)
	if does.Do == "read" {
		if does.Read == now {
			return []string{state}
		}
		return nil
	}
	said := allowed("keyring", seenBy(now, does), "put")
	if does.Said == "refused" && said.says == "refused" {
		return []string{state}
	}
	if does.Said != "refused" && said.says == "ok" {
		if said.to == "grows" {
			return []string{push(state, does.Value)}
		}
		return []string{state}
	}
	if isOpen {
		return []string{state}
	}
	return nil
}}

// seenBy returns how a ring that is put stands to the one in force. A ring is its number and its hash.
func seenBy(now string, does line) string {
	number := func(value string) int {
		found, _ := strconv.Atoi(strings.Split(value, ":")[0])
		return found
	}
	place := "other"
	switch number(does.Value) - number(now) {
	case 0:
		place = "same"
	case 1:
		place = "next"
	}
	switch now {
	case does.Value:
		return place + " itself"
	case does.Before:
		return place + " follows"
	}
	return place + " foreign"
}

func isOver(state string) bool { return state == "DONE" || state == "FAILED" || state == "CANCELLED" }

// stateOf returns the state of a record. transfer.tla knows it together with what else is true of it: ACCEPTED+accepted.
func stateOf(record string) string { return strings.Split(record, "+")[0] }

// partyOf returns who takes a step in the load of these runs. A step that both may take has the same outcome for both.
func partyOf(action string) string {
	if action == "accept" || action == "reject" || action == "complete" {
		return "receiver"
	}
	return "sender"
}

// transfer: the steps that transfer.tla allows.
var transfer = kind{first: "PENDING", lost: taken(gone), step: func(state string, does line, isOpen bool) []string {
	now := top(state)
	if now == gone || does.Read == gone {
		if isOpen || now == does.Read {
			return []string{state}
		}
		return nil
	}
	if does.Do == "read" {
		if stateOf(now) == does.Read {
			return []string{state}
		}
		return nil
	}
	said := allowed("transfer", now, partyOf(does.Do)+" "+does.Do)
	isSaid := isOpen || does.Read == "" || does.Read == stateOf(said.to)
	switch {
	case does.Said == "refused":
		if said.says == "refused" && isSaid {
			return []string{state}
		}
	case said.says == "again" && isSaid:
		return []string{state}
	case said.says == "changes" && isSaid:
		return []string{push(state, said.to)}
	}
	return nil
}}

func kindOf(h *history) kind {
	switch h.kind {
	case "clipboard":
		return register(h, "", clipboard(h))
	case "name":
		return register(h, unknown, func(now string, does line) bool { return now == does.Read })
	case "transfer":
		return transfer
	case "login":
		return login(h)
	}
	return ring
}
