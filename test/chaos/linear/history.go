package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// line is a line of a history: an operation, or a time in which the store may have lost writes.
type line struct {
	Kind   string   `json:"kind"`
	Key    string   `json:"key"`
	Owner  string   `json:"account"`
	Do     string   `json:"do"`
	By     string   `json:"by"`
	Value  string   `json:"value"`
	Before string   `json:"before"`
	Begin  float64  `json:"begin"`
	End    *float64 `json:"end"`
	// Said: ok, refused. For an operation without an end nobody knows.
	Said string `json:"said"`
	Read string `json:"read"`

	// The accounts that a loss concerns. None: all.
	Accounts []string `json:"accounts"`
	// The clock of the store was set: lifetimes are not judged.
	Clock bool `json:"clock"`
}

const microsecond = 1000

// forever is the end of an operation without an answer: it may still take effect at any time.
const forever = math.MaxInt64

func (l line) begin() int64 { return int64(l.Begin * microsecond) }

func (l line) end() int64 {
	if l.End == nil {
		return forever
	}
	return int64(*l.End * microsecond)
}

func (l line) concerns(account string) bool {
	for _, one := range l.Accounts {
		if one == account {
			return true
		}
	}
	return len(l.Accounts) == 0
}

// history is what one object went through, by the order of the file.
type history struct {
	kind, key  string
	operations []line
	losses     []line
}

// isConcerned tells whether a loss may have changed the object. A login request lies in a slot of its own, so that every loss
// since its beginning may be one of its own.
func (h *history) isConcerned(loss line) bool {
	first := h.operations[0]
	if h.kind == "login" {
		return first.Do != "start" || loss.end() >= first.begin()
	}
	return loss.concerns(first.Owner)
}

// readHistories reads JSON lines and sorts them by the object that they concern.
func readHistories(from io.Reader) ([]*history, error) {
	var losses []line
	var found []*history
	byKey := map[string]*history{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		var one line
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if one.Kind == "loss" {
			losses = append(losses, one)
			continue
		}
		name := one.Kind + " " + one.Key
		if byKey[name] == nil {
			byKey[name] = &history{kind: one.Kind, key: one.Key}
			found = append(found, byKey[name])
		}
		byKey[name].operations = append(byKey[name].operations, one)
	}
	for _, one := range found {
		for _, loss := range losses {
			if one.isConcerned(loss) {
				one.losses = append(one.losses, loss)
			}
		}
	}
	return found, lines.Err()
}
