package main

import (
	"os"
	"strings"
)

// steps are those that the models allow (test/models). TLC printed them, and compares them with the models.
const stepsFile = "../../models/steps.txt"

// outcome is what a model says of a step: its answer, and the state that it leaves. Both are empty if the model has no
// such step.
type outcome struct{ says, to string }

var steps = readSteps()

func readSteps() map[string]outcome {
	text, err := os.ReadFile(stepsFile)
	if err != nil {
		panic(err)
	}
	found := map[string]outcome{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Split(line, " ")
		last := len(words) - 2
		name := strings.Join(words[:last], " ")
		// A poll that gets no session changes nothing. In a history it is a read.
		if words[last] != "nothing" && words[last] != "again" || words[0] != "login" {
			found[name] = outcome{words[last], words[last+1]}
		}
	}
	return found
}

// allowed returns what a model says of an action in a state.
func allowed(model, state, action string) outcome {
	return steps[model+" "+state+" "+action]
}
