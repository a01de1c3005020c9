package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

func verdictOf(t *testing.T, lines ...string) porcupine.CheckResult {
	t.Helper()
	histories, err := readHistories(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || len(histories) != 1 {
		t.Fatalf("%d histories, %v", len(histories), err)
	}
	return judge(histories[0])
}

func read(kind, key, value string, begin, end int) string {
	return fmt.Sprintf(`{"kind":%q,"key":%q,"account":"o","do":"read","begin":%d,"end":%d,"said":"ok","read":%q}`, kind, key, begin, end, value)
}

const (
	written  = `{"kind":"clipboard","key":"o","account":"o","do":"write","value":"v1","begin":0,"end":10,"said":"ok"}`
	replaced = `{"kind":"clipboard","key":"o","account":"o","do":"write","value":"v2","begin":20,"end":30,"said":"ok"}`
	open     = `{"kind":"clipboard","key":"o","account":"o","do":"write","value":"v3","begin":20,"end":null}`
	accepted = `{"kind":"transfer","key":"t","account":"o","do":"accept","begin":0,"end":10,"said":"ok","read":"ACCEPTED"}`
	ended    = `{"kind":"transfer","key":"t","account":"o","do":"cancel","begin":20,"end":30,"said":"ok","read":"CANCELLED"}`
	first    = `{"kind":"keys","key":"o","account":"o","do":"put","value":"1:a","before":"","begin":0,"end":10,"said":"ok"}`
)

func TestWhatIsPossible(t *testing.T) {
	for name, lines := range map[string][]string{
		"the last text":                              {written, replaced, read("clipboard", "o", "v2", 40, 50)},
		"the text before, at once":                   {written, replaced, read("clipboard", "o", "v1", 25, 50)},
		"a write without an answer":                  {written, open, read("clipboard", "o", "v3", 100, 110)},
		"a write that never came":                    {written, open, read("clipboard", "o", "v1", 100, 110)},
		"a text whose time is over":                  {written, read("clipboard", "o", "", 20_100, 20_110)},
		"a text that was there when a clock was set": {written, `{"kind":"loss","begin":40,"end":50,"clock":true}`, read("clipboard", "o", "", 60, 70)},
		"a text that was lost":                       {written, replaced, `{"kind":"loss","begin":40,"end":50}`, read("clipboard", "o", "v1", 60, 70)},
		"a step that was repeated":                   {accepted, accepted, ended, read("transfer", "t", "CANCELLED", 40, 50)},
		"a step whose answer tells of the end since": {accepted, ended, `{"kind":"transfer","key":"t","account":"o","do":"p2p","begin":12,"end":40,"said":"ok","read":"CANCELLED"}`},
		"a refusal":                                  {ended, `{"kind":"transfer","key":"t","account":"o","do":"accept","begin":40,"end":50,"said":"refused","read":"CANCELLED"}`},
		"a ring that came second":                    {first, `{"kind":"keys","key":"o","account":"o","do":"put","value":"1:b","before":"","begin":0,"end":20,"said":"refused"}`},
		"a loss of another account's":                {written, `{"kind":"loss","accounts":["x"],"begin":40,"end":50}`, read("clipboard", "o", "v1", 60, 70)},
		"a name that was there before":               {read("name", "d", "n", 0, 10), read("name", "d", "n", 20, 30)},
		"what was read during a failover":            {written, replaced, `{"kind":"loss","begin":35,"end":60}`, read("clipboard", "o", "v1", 40, 50), read("clipboard", "o", "v2", 70, 80)},
	} {
		if got := verdictOf(t, lines...); got != porcupine.Ok {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestWhatIsNot(t *testing.T) {
	for name, lines := range map[string][]string{
		"a text that was replaced":            {written, replaced, read("clipboard", "o", "v1", 40, 50)},
		"a text that nobody wrote":            {written, read("clipboard", "o", "v9", 40, 50)},
		"a text that came back":               {written, open, read("clipboard", "o", "v3", 100, 110), read("clipboard", "o", "v1", 120, 130)},
		"nothing before its time":             {written, read("clipboard", "o", "", 40, 50)},
		"nothing, long after a clock was set": {`{"kind":"loss","begin":-20,"end":-10,"clock":true}`, written, read("clipboard", "o", "", 40, 50)},
		"a text after its time":               {written, read("clipboard", "o", "v1", 21_000, 21_010)},
		"a loss that another account had":     {written, replaced, `{"kind":"loss","accounts":["x"],"begin":35,"end":36}`, read("clipboard", "o", "v1", 60, 70)},
		"two ends":                            {accepted, ended, `{"kind":"transfer","key":"t","account":"o","do":"fail","begin":40,"end":50,"said":"ok","read":"FAILED"}`},
		"a state that is over":                {accepted, ended, read("transfer", "t", "ACCEPTED", 40, 50)},
		"a step after the end":                {accepted, ended, `{"kind":"transfer","key":"t","account":"o","do":"p2p","begin":40,"end":50,"said":"ok","read":"CANCELLED"}`},
		"a refusal without a cause":           {accepted, `{"kind":"transfer","key":"t","account":"o","do":"cancel","begin":40,"end":50,"said":"refused","read":"ACCEPTED"}`},
		"two first rings":                     {first, `{"kind":"keys","key":"o","account":"o","do":"put","value":"1:b","before":"","begin":0,"end":20,"said":"ok"}`},
		"a conflict without a cause":          {`{"kind":"keys","key":"o","account":"o","do":"put","value":"1:b","before":"","begin":0,"end":20,"said":"refused"}`},
	} {
		if got := verdictOf(t, lines...); got != porcupine.Illegal {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPlantedReadsAreFound(t *testing.T) {
	lines := []string{written, replaced, read("clipboard", "o", "v2", 40, 50)}
	histories, _ := readHistories(strings.NewReader(strings.Join(lines, "\n")))
	made := planted(histories[0])
	if len(made) != 3 {
		t.Fatalf("%d were planted", len(made))
	}
	for _, one := range made {
		if judge(one) != porcupine.Illegal {
			t.Error("a planted read was not found")
		}
	}
	if judge(histories[0]) != porcupine.Ok {
		t.Error("planting changed the history")
	}
}

// A clearing during a loss may take effect after the next text was written.
func TestNothingIsNotPlantedWhereItIsPossible(t *testing.T) {
	cleared := `{"kind":"clipboard","key":"o","account":"o","do":"write","value":"","begin":-20,"end":-10,"said":"ok"}`
	loss := `{"kind":"loss","begin":-15,"end":-12}`
	histories, _ := readHistories(strings.NewReader(strings.Join([]string{cleared, loss, written, read("clipboard", "o", "v1", 40, 50)}, "\n")))
	made := planted(histories[0])
	if len(made) != 1 {
		t.Errorf("%d were planted", len(made))
	}
	for _, one := range made {
		if judge(one) != porcupine.Illegal {
			t.Error("a planted read was not found")
		}
	}
}

// Writes come in rounds in which they overlap. One in three has an answer, and each third value is read.
func TestWritesWithoutAnAnswerDoNotMultiply(t *testing.T) {
	var lines []string
	for at := 0; at < 6_000; at += 20 {
		end := "null"
		if at%60 == 0 {
			end = fmt.Sprint(at + 55)
		}
		lines = append(lines, fmt.Sprintf(`{"kind":"clipboard","key":"o","account":"o","do":"write","value":"v%d","begin":%d,"end":%s,"said":"ok"}`, at, at, end))
		if at%60 == 40 {
			lines = append(lines, read("clipboard", "o", fmt.Sprintf("v%d", at), at+10, at+30))
		}
	}
	lines = append(lines, `{"kind":"loss","begin":3000,"end":3010}`)
	if got := verdictOf(t, lines...); got != porcupine.Ok {
		t.Error(got)
	}
	lines = append(lines, read("clipboard", "o", "v4000", 5_900, 5_910))
	if got := verdictOf(t, lines...); got != porcupine.Illegal {
		t.Error(got)
	}
}

// One ring in three has an answer. Each is put beside two others that follow the same ring.
func TestPutsWithoutAnAnswerDoNotMultiply(t *testing.T) {
	var lines []string
	put := func(value, before string, at int, end, said string) string {
		return fmt.Sprintf(`{"kind":"keys","key":"o","account":"o","do":"put","value":%q,"before":%q,"begin":%d,"end":%s,"said":%q}`, value, before, at, end, said)
	}
	before := ""
	for number := 1; number <= 60; number++ {
		at, value := number*100, fmt.Sprintf("%d:a", number)
		lines = append(lines, put(fmt.Sprintf("%d:b", number), before, at, "null", ""), put(fmt.Sprintf("%d:c", number), before, at, "null", ""))
		if number%3 == 0 {
			lines = append(lines, put(value, before, at, fmt.Sprint(at+50), "ok"))
		} else {
			lines = append(lines, put(value, before, at, "null", ""), read("keys", "o", value, at+60, at+70))
		}
		lines = append(lines, put(fmt.Sprintf("%d:d", number), before, at+80, fmt.Sprint(at+90), "refused"))
		before = value
	}
	lines = append(lines, `{"kind":"loss","begin":3096,"end":3099}`)
	if got := verdictOf(t, lines...); got != porcupine.Ok {
		t.Error(got)
	}
	if got := verdictOf(t, append(lines, read("keys", "o", "50:b", 6_200, 6_210))...); got != porcupine.Illegal {
		t.Error(got)
	}
}
