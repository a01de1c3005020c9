package main

import (
	"fmt"
	"math/rand"
	"sort"
	"testing"

	"github.com/anishathalye/porcupine"
)

// effect is the time at which an operation or a loss takes effect, and which one it is.
type effect struct {
	at   float64
	does *line
}

// drawn returns the history of one register that some order explains. Writes, clearings and reads overlap, and some have no
// answer. After a loss the register holds any earlier value. A write during a loss may take effect after it, or never.
func drawn(seed int64, kind string) *history {
	draw := rand.New(rand.NewSource(seed))
	h := &history{kind: kind, key: "o"}
	for left := draw.Intn(3); left > 0; left-- {
		begin := draw.Float64() * 1_000
		h.losses = append(h.losses, line{Kind: "loss", Begin: begin, End: endAt(begin + draw.Float64()*200), Clock: draw.Intn(4) == 0})
	}
	for number, count := 0, 4+draw.Intn(8); number < count; number++ {
		does := line{Kind: kind, Key: "o", Owner: "o", Do: "read", Said: "ok", Begin: draw.Float64() * 1_000}
		does.End = endAt(does.Begin + draw.Float64()*150)
		if number == 0 || draw.Intn(2) == 0 {
			does.Do, does.Value = "write", fmt.Sprintf("v%d", number)
			if kind == "clipboard" && draw.Intn(4) == 0 {
				does.Value = ""
			}
		}
		h.operations = append(h.operations, does)
	}
	sort.Slice(h.operations, func(a, b int) bool { return h.operations[a].Begin < h.operations[b].Begin })
	answer(h, draw)
	return h
}

func endAt(at float64) *float64 { return &at }

// answer gives each read what it finds when the effects come in the drawn order.
func answer(h *history, draw *rand.Rand) {
	var effects []effect
	for at := range h.operations {
		does := &h.operations[at]
		when := does.Begin + draw.Float64()*(*does.End-does.Begin)
		isOpen := does.Do == "write" && draw.Intn(5) == 0
		if isOpen || does.Do == "write" && overlaps(*does, h.losses) {
			when = does.Begin + draw.Float64()*1_000
		}
		if isOpen {
			does.End = nil
		}
		if !isOpen || draw.Intn(2) == 0 {
			effects = append(effects, effect{when, does})
		}
	}
	for at := range h.losses {
		loss := &h.losses[at]
		effects = append(effects, effect{loss.Begin + draw.Float64()*(*loss.End-loss.Begin), loss})
	}
	sort.Slice(effects, func(a, b int) bool { return effects[a].at < effects[b].at })
	held, before := "", []string{""}
	for _, one := range effects {
		switch one.does.Do {
		case "":
			held = before[draw.Intn(len(before))]
		case "write":
			held = one.does.Value
			before = append(before, held)
		default:
			one.does.Read = held
		}
	}
}

// A planted answer must be impossible, and a real one must be possible. Otherwise a run fails for nothing.
func TestWhatHappenedHoldsAndWhatIsPlantedDoesNot(t *testing.T) {
	made := 0
	for seed := int64(0); seed < 3_000; seed++ {
		for _, kind := range []string{"clipboard", "name"} {
			h := drawn(seed, kind)
			if got := judge(h); got != porcupine.Ok {
				t.Fatalf("%s of seed %d: %s\n%s", kind, seed, got, told(h))
			}
			for number, wrong := range planted(h) {
				made++
				if judge(wrong) != porcupine.Illegal {
					t.Errorf("%s of seed %d: wrong answer %d was not found\n%s", kind, seed, number, told(wrong))
				}
			}
		}
	}
	if made < 3_000 {
		t.Errorf("only %d wrong answers were planted", made)
	}
}

func told(h *history) string {
	text := ""
	for _, does := range append(append([]line(nil), h.losses...), h.operations...) {
		end := "open"
		if does.End != nil {
			end = fmt.Sprintf("%.0f", *does.End)
		}
		text += fmt.Sprintf("  %s %s %q from %.0f to %s\n", does.Kind, does.Do, does.Value+does.Read, does.Begin, end)
	}
	return text
}
