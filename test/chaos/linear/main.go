// Judges a history of operations that `npm run test:chaos -- --history <file>` wrote. For each object there must be an order of
// all operations, each between its begin and its end, in which every answer is right. README.md of chaos says what is judged.
package main

import (
	"fmt"
	"os"

	"github.com/anishathalye/porcupine"
)

var titles = map[string]string{
	// Judges G10, G20.
	"clipboard": "the clipboard is one register, with its time",
	// Judges G10.
	"name": "the name of a device is one register",
	// Judges G12.
	"transfer": "a transfer has one state, and each step one outcome",
	// Judges G32.
	"keys": "rings are put by compare-and-set",
	// Judges G11.
	"login": "a login request is decided once, and gives its session to one poll",
}

var kinds = []string{"clipboard", "name", "transfer", "keys", "login"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: linear <file of JSON lines>")
		os.Exit(2)
	}
	file, err := os.Open(os.Args[1])
	if err == nil {
		var histories []*history
		histories, err = readHistories(file)
		if err == nil {
			os.Exit(report(histories))
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

type verdict struct {
	objects, operations, open int
	wrong                     []string
	planted, found            int
}

func look(kind string, histories []*history) verdict {
	var v verdict
	for _, h := range histories {
		if h.kind != kind {
			continue
		}
		v.objects++
		v.operations += len(h.operations)
		for _, does := range h.operations {
			if does.End == nil {
				v.open++
			}
		}
		if result := judge(h); result != porcupine.Ok {
			v.wrong = append(v.wrong, fmt.Sprintf("%s: %s", h.key, result))
			continue
		}
		for _, wrong := range planted(h) {
			v.planted++
			if judge(wrong) == porcupine.Illegal {
				v.found++
			}
		}
	}
	return v
}

// report prints a line for each kind, and one for its planted answers, which must be found. Returns the exit code.
func report(histories []*history) int {
	failed := 0
	say := func(ok bool, text string) {
		mark := "ok  "
		if !ok {
			mark = "FAIL"
			failed++
		}
		fmt.Printf("%s  %s\n", mark, text)
	}
	for _, kind := range kinds {
		v := look(kind, histories)
		say(len(v.wrong) == 0, fmt.Sprintf("%s: %d objects, %d operations, %d without an answer", titles[kind], v.objects, v.operations, v.open))
		for _, wrong := range v.wrong {
			fmt.Printf("      %s\n", wrong)
		}
		say(v.planted > 0 && v.planted == v.found, fmt.Sprintf("%s: %d of %d wrong answers that were planted are found", kind, v.found, v.planted))
	}
	fmt.Printf("%d passed, %d failed\n", 2*len(kinds)-failed, failed)
	if failed > 0 {
		return 1
	}
	return 0
}
