{{/* Names, labels and images. Labels to select by never change within a major version of the chart, because they cannot be changed in place. */}}

{{- define "baton.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "baton.fullname" -}}
{{- $name := include "baton.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* Selects the pods of one part: (list $ "replica"). */}}
{{- define "baton.selector" -}}
{{- $top := index . 0 -}}
app.kubernetes.io/name: {{ include "baton.name" $top }}
app.kubernetes.io/instance: {{ $top.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The labels of pods lack the version of the chart, because a new chart alone must not restart them. */}}
{{- define "baton.podLabels" -}}
{{- $top := index . 0 -}}
{{ include "baton.selector" . }}
app.kubernetes.io/version: {{ $top.Values.image.tag | default $top.Chart.AppVersion | trunc 63 | quote }}
{{- end }}

{{- define "baton.labels" -}}
{{- $top := index . 0 -}}
{{ include "baton.podLabels" . }}
app.kubernetes.io/managed-by: {{ $top.Release.Service }}
app.kubernetes.io/part-of: baton
helm.sh/chart: {{ printf "%s-%s" $top.Chart.Name $top.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "baton.image" -}}
{{- $image := .Values.image -}}
{{- $registry := .Values.global.imageRegistry | default $image.registry -}}
{{- $name := ternary (printf "%s/%s" $registry $image.repository) $image.repository (ne $registry "") -}}
{{- if $image.digest -}}
{{ $name }}@{{ $image.digest }}
{{- else -}}
{{ $name }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "baton.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "baton.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end }}

{{/* A value as text: whole numbers have no exponent, whatever parser they came through. */}}
{{- define "baton.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end }}

{{/* The ports are the defaults of APP_PORT, APP_ADMIN_PORT, BROKER_PORT and BROKER_ADMIN_PORT. */}}
{{- define "baton.port" -}}8080{{- end }}
{{- define "baton.adminPort" -}}9090{{- end }}
{{- define "baton.brokerPort" -}}8090{{- end }}
{{- define "baton.brokerAdminPort" -}}9190{{- end }}

{{/* The address of this chart's broker inside the cluster. */}}
{{- define "baton.brokerService" -}}
http://{{ include "baton.fullname" . }}-broker.{{ .Release.Namespace }}.svc:{{ include "baton.brokerPort" . }}
{{- end }}

{{- define "baton.publicUrl" -}}
{{- .Values.publicUrl | default (ternary (printf "http://localhost:%s" (include "baton.port" .)) "" .Values.evaluation.enabled) | trimSuffix "/" -}}
{{- end }}

{{- define "baton.publicHost" -}}
{{- get (urlParse (include "baton.publicUrl" .)) "host" | splitList ":" | first -}}
{{- end }}

{{/* The notice in which endpoints change, the longer of the two drains, which run at the same time, and 15 s for the rest. */}}
{{- define "baton.graceSeconds" -}}
{{- add (int .Values.drain.noticeSeconds) (max (int .Values.drain.streamsSeconds) (int .Values.drain.transfersSeconds)) 15 -}}
{{- end }}

{{- define "baton.pullSecrets" -}}
{{- $names := concat .Values.global.imagePullSecrets .Values.imagePullSecrets | uniq -}}
{{- if $names }}
imagePullSecrets:
{{- range $names }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}
