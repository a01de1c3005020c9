{{/* The address of the store and the user there, in the form that the programs read. An address has no password. */}}

{{- define "baton.redis.isOwn" -}}
{{- if .Values.evaluation.redis.enabled -}}yes{{- end -}}
{{- end }}

{{- define "baton.redis.defaultPort" -}}
{{- ternary "26379" "6379" (eq .Values.redis.mode "sentinel") -}}
{{- end }}

{{- define "baton.redis.url" -}}
{{- $redis := .Values.redis -}}
{{- $scheme := ternary "rediss" "redis" $redis.tls.enabled -}}
{{- $hosts := join "," $redis.hosts -}}
{{- if include "baton.redis.isOwn" . -}}
redis://{{ include "baton.fullname" . }}-evaluation-redis:6379
{{- else if eq $redis.mode "sentinel" -}}
{{ $scheme }}+sentinel://{{ $hosts }}/{{ $redis.masterName }}{{ if $redis.db }}?db={{ int $redis.db }}{{ end }}
{{- else -}}
{{ $scheme }}://{{ $hosts }}{{ if $redis.db }}/{{ int $redis.db }}{{ end }}
{{- end -}}
{{- end }}

{{/*
The user at the store and at its sentinels. Passwords are files, which the program reads again. This writes
APP_REDIS_USERNAME, APP_REDIS_PASSWORD_FILE, APP_REDIS_SENTINEL_USERNAME, APP_REDIS_SENTINEL_PASSWORD_FILE,
BROKER_REDIS_USERNAME, BROKER_REDIS_PASSWORD_FILE, BROKER_REDIS_SENTINEL_USERNAME,
BROKER_REDIS_SENTINEL_PASSWORD_FILE. `(dict "top" $ "program" "APP" "username" "" "file" "redis-password")`; without
`file` the store asks for none.
*/}}
{{- define "baton.redis.users" -}}
{{- $sentinel := .top.Values.redis.sentinel -}}
{{- if .username }}
- name: {{ .program }}_REDIS_USERNAME
  value: {{ .username | quote }}
{{- end }}
{{- if .file }}
{{ include "baton.secretFile" (dict "key" (printf "%s_REDIS_PASSWORD" .program) "file" .file) }}
{{- end }}
{{- if eq .top.Values.redis.mode "sentinel" }}
{{- if $sentinel.username }}
- name: {{ .program }}_REDIS_SENTINEL_USERNAME
  value: {{ $sentinel.username | quote }}
{{- end }}
{{- if $sentinel.passwordKey }}
{{ include "baton.secretFile" (dict "key" (printf "%s_REDIS_SENTINEL_PASSWORD" .program) "file" "sentinel-password") }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether the replicas show the store a password of their own, beside its address. */}}
{{- define "baton.redis.hasPassword" -}}
{{- $redis := .Values.redis -}}
{{- if and $redis.existingSecret (not $redis.withoutPassword) (not $redis.urlKey) -}}yes{{- end -}}
{{- end }}

{{/* The same for the broker, whose Secret may be that of the replicas. */}}
{{- define "baton.redis.brokerHasPassword" -}}
{{- $redis := .Values.redis -}}
{{- $own := .Values.broker.redis -}}
{{- if and ($own.existingSecret | default $redis.existingSecret) (not $redis.withoutPassword) (not $own.urlKey) -}}yes{{- end -}}
{{- end }}

{{/* The variables of the replicas' store. */}}
{{- define "baton.redis.replicaEnv" -}}
{{- $redis := .Values.redis -}}
{{- if $redis.urlKey }}
{{ include "baton.secretFile" (dict "key" "APP_REDIS_URL" "file" "redis-url") }}
{{- else }}
- name: APP_REDIS_URL
  value: {{ include "baton.redis.url" . | quote }}
{{- $file := ternary "redis-password" "" (eq (include "baton.redis.hasPassword" .) "yes") }}
{{- include "baton.redis.users" (dict "top" . "program" "APP" "username" $redis.username "file" $file) }}
{{- end }}
- name: APP_REDIS_MODE
  value: {{ $redis.mode }}
- name: APP_KEY_PREFIX
  value: {{ $redis.keyPrefix | quote }}
{{- with .Values.relayRedis }}
{{- if .existingSecret }}
{{ include "baton.secretFile" (dict "key" "APP_RELAY_REDIS_URL" "file" "relay-redis-url") }}
{{- if .username }}
- name: APP_RELAY_REDIS_USERNAME
  value: {{ .username | quote }}
{{- end }}
{{- if .passwordKey }}
{{ include "baton.secretFile" (dict "key" "APP_RELAY_REDIS_PASSWORD" "file" "relay-redis-password") }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The variables of the broker's store: the servers of the replicas, with a user of its own. */}}
{{- define "baton.redis.brokerEnv" -}}
{{- $redis := .Values.redis -}}
{{- $own := .Values.broker.redis -}}
{{- if $own.urlKey }}
{{ include "baton.secretFile" (dict "key" "BROKER_REDIS_URL" "file" "broker-redis-url") }}
{{- else }}
- name: BROKER_REDIS_URL
  value: {{ include "baton.redis.url" . | quote }}
{{- $file := ternary "broker-redis-password" "" (eq (include "baton.redis.brokerHasPassword" .) "yes") }}
{{- include "baton.redis.users" (dict "top" . "program" "BROKER" "username" ($own.username | default $redis.username) "file" $file) }}
{{- end }}
- name: BROKER_KEY_PREFIX
  value: {{ $own.keyPrefix | quote }}
{{- end }}

{{/* Ports of the store for the network policy, as JSON. */}}
{{- define "baton.redis.ports" -}}
{{- $default := include "baton.redis.defaultPort" . -}}
{{- $ports := list 6379 (int $default) -}}
{{- range .Values.redis.hosts -}}
{{- $ports = append $ports (int (ternary (splitList ":" . | last) $default (regexMatch ":[0-9]+$" .))) -}}
{{- end -}}
{{- $asked := list -}}
{{- range .Values.networkPolicy.redis.ports }}{{ $asked = append $asked (int .) }}{{ end -}}
{{- $asked | default $ports | uniq | sortAlpha | toJson -}}
{{- end }}
