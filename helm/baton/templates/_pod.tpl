{{/* The common part of every pod of the chart: restricted, without a token, without variables of other Services. */}}
{{- define "baton.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- include "baton.pullSecrets" . }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Spreads over zones and hosts. Each version is counted by itself, because a rollout must not be spread against the pods that it replaces. */}}
{{- define "baton.spread" -}}
{{- $top := index . 0 -}}
topologySpreadConstraints:
  {{- range ternary list (list "topology.kubernetes.io/zone" "kubernetes.io/hostname") (eq $top.Values.spread "Off") }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $top.Values.spread }}
    labelSelector:
      matchLabels:
        {{- include "baton.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- else }} []
  {{- end }}
{{- end }}

{{/* Pods may mount what extraObjects makes, so other content means another pod. Foreign Secrets are not part of this, because the program reads their files again. */}}
{{- define "baton.checksums" -}}
{{- with .Values.extraObjects -}}
checksum/extra-objects: {{ toJson . | sha256sum }}
{{- end -}}
{{- end }}

{{/* A security context without the ids that were set to null. */}}
{{- define "baton.context" -}}
{{- range $key, $value := . }}
{{- if not (kindIs "invalid" $value) }}
{{ $key }}: {{ toJson $value }}
{{- end }}
{{- end }}
{{- end }}

{{/* The least number of replicas. */}}
{{- define "baton.leastReplicas" -}}
{{- ternary .Values.autoscaling.minReplicas .Values.replicaCount .Values.autoscaling.enabled | int -}}
{{- end }}

{{- define "baton.leastBrokers" -}}
{{- ternary .Values.broker.autoscaling.minReplicas .Values.broker.replicaCount .Values.broker.autoscaling.enabled | int -}}
{{- end }}

{{/* The number to write. There is none if an autoscaler decides, because a rollback would bring back an old number, or be refused as a conflict with the autoscaler. A number that was written once must be written again, because without it there would be 1. */}}
{{- define "baton.replicas" -}}
{{- if not .Values.autoscaling.enabled -}}
{{ int .Values.replicaCount }}
{{- else if .Values.autoscaling.writeReplicas -}}
{{- $name := include "baton.fullname" . -}}
{{- $present := lookup "apps/v1" "Deployment" .Release.Namespace $name -}}
{{- $scaler := lookup "autoscaling/v2" "HorizontalPodAutoscaler" .Release.Namespace $name -}}
{{- if and $present (or (not $scaler) (dig "metadata" "annotations" "baton/replicas" "" $present)) -}}
{{ int $present.spec.replicas }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* How fast replicas come and go. */}}
{{- define "baton.scaleBehavior" -}}
scaleUp:
  stabilizationWindowSeconds: 30
  selectPolicy: Max
  policies:
    - { type: Percent, value: 100, periodSeconds: 60 }
    - { type: Pods, value: 4, periodSeconds: 60 }
# The autoscaler deletes pods without asking a disruption budget, and each takes its streams along.
scaleDown:
  stabilizationWindowSeconds: 900
  selectPolicy: Min
  policies:
    - { type: Pods, value: 1, periodSeconds: {{ int .Values.autoscaling.scaleDownPeriodSeconds }} }
{{- end }}

{{- define "baton.progressDeadline" -}}
{{- $replicas := ternary .Values.autoscaling.maxReplicas .Values.replicaCount .Values.autoscaling.enabled | int -}}
{{- $computed := add 300 (mul (max 1 $replicas) (add 60 (int .Values.drain.streamsSeconds))) | int -}}
{{- .Values.progressDeadlineSeconds | int | default (max 600 $computed) -}}
{{- end }}
