package main

import (
	"strconv"
	"strings"
)

// The clipboard of a run of chaos lives for 20 s. The driver's clock and the store's run alike; a small difference is allowed.
const (
	lifetime = 20_000 * microsecond
	slack    = 500 * microsecond
)

// held returns what a register holds after a write: the value, and the earliest and the latest time of its writing.
func held(does line) string {
	if does.Kind != "clipboard" || does.Value == "" {
		return does.Value
	}
	return does.Value + " " + strconv.FormatInt(does.begin(), 10) + " " + strconv.FormatInt(does.end(), 10)
}

// clipboard returns what a read may find: the text until its time is over, then nothing. The time of a text is judged unless the
// clock was set since it was written.
func clipboard(h *history) func(now string, does line) bool {
	return func(now string, does line) bool {
		if now == "" {
			return does.Read == ""
		}
		parts := strings.Split(now, " ")
		from, _ := strconv.ParseInt(parts[1], 10, 64)
		until, _ := strconv.ParseInt(parts[2], 10, 64)
		isRight := isClockRight(h, from, does.end())
		if does.Read == "" {
			return !isRight || does.end()+slack >= from+lifetime
		}
		return does.Read == parts[0] && (!isRight || until == forever || does.begin()-slack <= until+lifetime)
	}
}
