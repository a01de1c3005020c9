package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// of writes an operation on one login request. An end of 0 means that there was no answer.
func of(do string, begin, end int, said, read string) string {
	at := "null"
	if end > 0 {
		at = fmt.Sprint(end)
	}
	return fmt.Sprintf(`{"kind":"login","key":"l","account":"u","do":%q,"begin":%d,"end":%s,"said":%q,"read":%q}`, do, begin, at, said, read)
}

var (
	start    = of("start", 0, 10, "ok", "")
	approve  = of("approve", 20, 30, "ok", "")
	deny     = of("deny", 20, 30, "ok", "")
	session  = of("poll", 40, 50, "ok", "session")
	consumed = of("read", 60, 70, "ok", "consumed")
	loss     = `{"kind":"loss","accounts":["x"],"begin":52,"end":55}`
)

func TestWhatALoginRequestMayDo(t *testing.T) {
	for name, lines := range map[string][]string{
		"a session":                               {start, of("read", 11, 12, "ok", "pending"), of("read", 12, 45, "ok", "waiting"), approve, session, consumed},
		"a denial":                                {start, deny, of("read", 40, 50, "ok", "denied"), of("approve", 40, 50, "refused", "decided")},
		"two who decide at once":                  {start, approve, of("deny", 25, 40, "refused", "decided"), session},
		"a poll beside the one that gets it":      {start, approve, session, of("read", 35, 45, "ok", "waiting"), of("read", 35, 60, "ok", "consumed")},
		"an approval without an answer":           {start, of("approve", 20, 0, "", ""), session},
		"a session without an answer":             {start, approve, of("poll", 40, 0, "", ""), consumed},
		"no session by a poll without an answer":  {start, approve, of("poll", 40, 0, "", ""), of("poll", 60, 70, "ok", "session")},
		"its time is over":                        {start, of("read", 8_100, 8_110, "ok", "expired"), of("approve", 9_000, 9_010, "refused", "expired")},
		"its time is over after the approval":     {start, approve, of("read", 8_100, 8_110, "ok", "expired")},
		"a session that was made as it ended":     {start, approve, of("poll", 7_900, 12_000, "ok", "session"), of("read", 13_000, 13_010, "ok", "consumed")},
		"an approval that was lost":               {start, approve, `{"kind":"loss","begin":31,"end":35}`, of("read", 40, 50, "ok", "pending"), of("approve", 52, 54, "ok", ""), of("poll", 60, 70, "ok", "session")},
		"a request that was lost":                 {start, approve, loss, of("read", 60, 70, "ok", "gone")},
		"the end of a request that was lost":      {start, approve, session, loss, of("poll", 60, 70, "ok", "session")},
		"a clock that was set":                    {start, `{"kind":"loss","begin":12,"end":13,"clock":true}`, of("read", 40, 50, "ok", "expired")},
		"what was answered while writes are lost": {start, approve, session, `{"kind":"loss","begin":45,"end":80}`, consumed, of("poll", 90, 95, "ok", "session")},
	} {
		if got := verdictOf(t, lines...); got != porcupine.Ok {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestWhatALoginRequestMayNot(t *testing.T) {
	for name, lines := range map[string][]string{
		"two sessions":                        {start, approve, session, of("poll", 60, 70, "ok", "session")},
		"two sessions at once":                {start, approve, session, of("poll", 45, 55, "ok", "session")},
		"a session without an approval":       {start, session},
		"a session after a denial":            {start, deny, session},
		"two decisions":                       {start, approve, of("deny", 40, 50, "ok", "")},
		"two approvals":                       {start, approve, of("approve", 40, 50, "ok", "")},
		"a poll that knows of no approval":    {start, approve, session, of("read", 60, 70, "ok", "waiting")},
		"pending after the approval":          {start, approve, of("read", 40, 50, "ok", "pending")},
		"an end before its time":              {start, of("read", 40, 50, "ok", "expired")},
		"an end before its time, beside open": {start, of("deny", 20, 0, "", ""), of("read", 40, 50, "ok", "expired")},
		"a session after its time":            {start, approve, of("poll", 15_000, 15_010, "ok", "session")},
		"pending after its time":              {start, of("read", 9_000, 9_010, "ok", "pending")},
		"a decision after its time":           {start, of("approve", 9_000, 9_010, "ok", "")},
		"a request that nobody knows":         {start, of("read", 40, 50, "ok", "gone")},
		"a loss before it began":              {`{"kind":"loss","begin":1,"end":5}`, of("start", 10, 12, "ok", ""), of("read", 40, 50, "ok", "gone")},
		"consumed, and nobody polled":         {start, approve, consumed},
		"a refusal without a cause":           {start, of("approve", 20, 30, "refused", "decided")},
	} {
		if got := verdictOf(t, lines...); got != porcupine.Illegal {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPlantedStepsAreFound(t *testing.T) {
	next := func(value string, begin int, said string) string {
		return fmt.Sprintf(`{"kind":"keys","key":"o","account":"o","do":"put","value":%q,"before":"","begin":%d,"end":%d,"said":%q}`, value, begin, begin+5, said)
	}
	for name, lines := range map[string][]string{
		"a second session":            {start, approve, session, consumed},
		"an offer that is open again": {accepted, ended, read("transfer", "t", "CANCELLED", 40, 50)},
		"two rings after one":         {next("1:a", 0, "ok"), next("1:b", 20, "refused")},
	} {
		if got := verdictOf(t, lines...); got != porcupine.Ok {
			t.Errorf("%s, before it is planted: %s", name, got)
		}
		histories, _ := readHistories(strings.NewReader(strings.Join(lines, "\n")))
		made := wrongStep(histories[0])
		if made == nil {
			t.Fatalf("%s: nothing was planted", name)
		}
		if judge(made) != porcupine.Illegal {
			t.Errorf("%s was not found", name)
		}
	}
}
