{{/* The address of the store, as the programs read it. The password stands in it as a reference to another variable. */}}

{{- define "baton.redis.isOwn" -}}
{{- if .Values.evaluation.redis.enabled -}}yes{{- end -}}
{{- end }}

{{- define "baton.redis.defaultPort" -}}
{{- ternary "26379" "6379" (eq .Values.redis.mode "sentinel") -}}
{{- end }}

{{/* `(dict "top" $ "username" "" "withPassword" true)` */}}
{{- define "baton.redis.url" -}}
{{- $redis := .top.Values.redis -}}
{{- $scheme := ternary "rediss" "redis" $redis.tls.enabled -}}
{{- $user := .username | replace "%" "%25" | replace ":" "%3A" | replace "@" "%40" | replace "/" "%2F" -}}
{{- if .withPassword }}{{ $user = printf "%s:$(REDIS_PASSWORD)" $user }}{{ end -}}
{{- if $user }}{{ $user = printf "%s@" $user }}{{ end -}}
{{- $hosts := $redis.hosts -}}
{{- if include "baton.redis.isOwn" .top -}}
redis://{{ include "baton.fullname" .top }}-evaluation-redis:6379
{{- else if eq $redis.mode "sentinel" -}}
{{- $query := list -}}
{{- if $redis.db }}{{ $query = append $query (printf "db=%d" (int $redis.db)) }}{{ end -}}
{{- if $redis.sentinel.username }}{{ $query = append $query (printf "sentinel_username=%s" (urlquery $redis.sentinel.username)) }}{{ end -}}
{{- if $redis.sentinel.passwordKey }}{{ $query = append $query "sentinel_password=$(SENTINEL_PASSWORD)" }}{{ end -}}
{{ $scheme }}+sentinel://{{ $user }}{{ join "," $hosts }}/{{ $redis.masterName }}{{ if $query }}?{{ join "&" $query }}{{ end }}
{{- else -}}
{{ $scheme }}://{{ $user }}{{ join "," $hosts }}{{ if $redis.db }}/{{ int $redis.db }}{{ end }}
{{- end -}}
{{- end }}

{{/* Variables that hold passwords, before the one that refers to them. `(dict "secret" "" "passwordKey" "" "sentinel" .Values.redis)` */}}
{{- define "baton.redis.passwords" -}}
- name: REDIS_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ .secret | quote }}, key: {{ .passwordKey | quote }} }
{{- end }}

{{- define "baton.redis.sentinelPassword" -}}
- name: SENTINEL_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ .Values.redis.existingSecret | quote }}, key: {{ .Values.redis.sentinel.passwordKey | quote }} }
{{- end }}

{{/* The variables of the replicas' store. */}}
{{- define "baton.redis.replicaEnv" -}}
{{- $redis := .Values.redis -}}
{{- if $redis.urlKey }}
{{ include "baton.secretFile" (dict "key" "APP_REDIS_URL" "file" "redis-url") }}
{{- else }}
{{- if and $redis.existingSecret (not $redis.withoutPassword) }}
{{ include "baton.redis.passwords" (dict "secret" $redis.existingSecret "passwordKey" $redis.passwordKey) }}
{{- end }}
{{- if and (eq $redis.mode "sentinel") $redis.sentinel.passwordKey }}
{{ include "baton.redis.sentinelPassword" . }}
{{- end }}
- name: APP_REDIS_URL
  value: {{ include "baton.redis.url" (dict "top" . "username" $redis.username "withPassword" (and $redis.existingSecret (not $redis.withoutPassword))) | quote }}
{{- end }}
- name: APP_REDIS_MODE
  value: {{ $redis.mode }}
- name: APP_KEY_PREFIX
  value: {{ $redis.keyPrefix | quote }}
{{- if .Values.relayRedis.existingSecret }}
{{ include "baton.secretFile" (dict "key" "APP_RELAY_REDIS_URL" "file" "relay-redis-url") }}
{{- end }}
{{- end }}

{{/* The variables of the broker's store: the servers of the replicas, and a user of its own. */}}
{{- define "baton.redis.brokerEnv" -}}
{{- $redis := .Values.redis -}}
{{- $own := .Values.broker.redis -}}
{{- if $own.urlKey }}
{{ include "baton.secretFile" (dict "key" "BROKER_REDIS_URL" "file" "broker-redis-url") }}
{{- else }}
{{- $secret := $own.existingSecret | default $redis.existingSecret -}}
{{- $withPassword := and $secret (not $redis.withoutPassword) -}}
{{- if $withPassword }}
{{ include "baton.redis.passwords" (dict "secret" $secret "passwordKey" ($own.passwordKey | default $redis.passwordKey)) }}
{{- end }}
{{- if and (eq $redis.mode "sentinel") $redis.sentinel.passwordKey }}
{{ include "baton.redis.sentinelPassword" . }}
{{- end }}
- name: BROKER_REDIS_URL
  value: {{ include "baton.redis.url" (dict "top" . "username" ($own.username | default $redis.username) "withPassword" $withPassword) | quote }}
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
