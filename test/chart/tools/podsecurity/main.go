// Reads manifests from its input and says which pods the Pod Security Standard "restricted" refuses, like an API server
// that enforces it. The exit code is 1 if there is such a pod, and 2 if there is no pod at all.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// manifest is anything that holds pods: a pod itself, or an object with a template of pods.
type manifest struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		corev1.PodSpec
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// podOf returns the pod that a manifest describes, or nil.
func podOf(m *manifest) (*metav1.ObjectMeta, *corev1.PodSpec) {
	if m.Spec.Template != nil {
		return &m.Spec.Template.ObjectMeta, &m.Spec.Template.Spec
	}
	if m.Kind == "Pod" {
		return &m.Metadata, &m.Spec.PodSpec
	}
	return nil, nil
}

func run(input io.Reader) (pods int, refused []string, err error) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return 0, nil, err
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	decoder := yaml.NewYAMLOrJSONDecoder(input, 4096)
	for {
		var m manifest
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return pods, refused, nil
		} else if err != nil {
			return pods, refused, err
		}
		metadata, spec := podOf(&m)
		if spec == nil {
			continue
		}
		pods++
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, metadata, spec))
		if !result.Allowed {
			refused = append(refused, fmt.Sprintf("%s %s: %s", m.Kind, m.Metadata.Name, result.ForbiddenDetail()))
		}
	}
}

func main() {
	pods, refused, err := run(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, line := range refused {
		fmt.Println(line)
	}
	fmt.Printf("%d pods, %d refused\n", pods, len(refused))
	if pods == 0 {
		os.Exit(2)
	}
	if len(refused) > 0 {
		os.Exit(1)
	}
}
