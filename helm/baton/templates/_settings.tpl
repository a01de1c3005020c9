{{/* The settings of the replicas (services/sync/config/settings.ts), except those of the store. */}}
{{- define "baton.replicaEnv" -}}
{{- $values := .Values -}}
- name: APP_HOST
  value: {{ $values.listenAddress | quote }}
- name: APP_PUBLIC_URL
  value: {{ include "baton.publicUrl" . }}
- name: APP_HUB_MAX_STREAMS
  value: {{ include "baton.text" $values.streamsPerReplica | quote }}
- name: APP_KEEP_ALIVE_SECONDS
  value: {{ include "baton.keepAliveSeconds" . | quote }}
- name: APP_SHUTDOWN_SECONDS
  value: {{ include "baton.graceSeconds" . | quote }}
- name: APP_DRAIN_NOTICE_SECONDS
  value: {{ include "baton.text" $values.drain.noticeSeconds | quote }}
- name: APP_DRAIN_SECONDS
  value: {{ include "baton.text" $values.drain.streamsSeconds | quote }}
- name: APP_DRAIN_TRANSFER_SECONDS
  value: {{ include "baton.text" $values.drain.transfersSeconds | quote }}
- name: APP_IDENTITY
  value: {{ $values.identity.mode }}
{{- if $values.identity.trustedProxies }}
- name: APP_TRUSTED_PROXIES
  value: {{ join "," $values.identity.trustedProxies | quote }}
{{- end }}
{{- if eq $values.identity.mode "edge" }}
{{ include "baton.edgeEnv" . }}
{{- end }}
{{- $broker := $values.authBroker -}}
{{- $url := $broker.url | default (ternary (include "baton.brokerService" .) "" $values.broker.enabled) -}}
{{- $login := $broker.loginUrl | default (ternary (printf "%s/login" (include "baton.brokerPublicUrl" .)) "" $values.broker.enabled) -}}
{{- if $url }}
- name: APP_BROKER_URL
  value: {{ $url | quote }}
- name: APP_BROKER_APP
  value: {{ $broker.app | quote }}
{{- end }}
{{- if $login }}
- name: APP_BROKER_LOGIN_URL
  value: {{ $login | quote }}
{{- end }}
{{- if $broker.existingSecret }}
{{ include "baton.secretFile" (dict "key" "APP_BROKER_TOKEN" "file" "broker-token") }}
{{- end }}
{{- include "baton.pushEnv" . }}
{{- include "baton.iceEnv" . }}
{{- range $key, $value := $values.config }}
- name: {{ $key }}
  value: {{ include "baton.text" $value | quote }}
{{- end }}
{{- end }}

{{/* An ALB keeps idle connections for 3600 s, as long as a download may wait for its sender. */}}
{{- define "baton.keepAliveSeconds" -}}
{{- $alb := and .Values.ingress.enabled (eq .Values.ingress.preset "alb") -}}
{{- max (int .Values.keepAliveSeconds) (ternary 3605 0 $alb) -}}
{{- end }}

{{- define "baton.brokerPublicUrl" -}}
{{- .Values.broker.publicUrl | default (include "baton.publicUrl" .) | trimSuffix "/" -}}
{{- end }}

{{/* How the edge proves itself. The keys and names of this chart's broker are known. */}}
{{- define "baton.edgeEnv" -}}
{{- $edge := .Values.identity.edge -}}
- name: APP_EDGE_TRUST
  value: {{ $edge.trust }}
{{- if eq $edge.trust "secret" }}
{{ include "baton.secretFile" (dict "key" "APP_EDGE_SECRET" "file" "edge-secret") }}
{{- else }}
{{- $own := .Values.broker.enabled }}
- name: APP_EDGE_JWKS_URL
  value: {{ $edge.jwksUrl | default (ternary (printf "%s/.well-known/jwks.json" (include "baton.brokerService" .)) "" $own) | quote }}
- name: APP_EDGE_ISSUER
  value: {{ $edge.issuer | default (ternary (include "baton.brokerPublicUrl" .) "" $own) | quote }}
- name: APP_EDGE_AUDIENCE
  value: {{ $edge.audience | default (ternary .Values.authBroker.app "" $own) | quote }}
{{- end }}
{{- end }}

{{- define "baton.pushEnv" -}}
{{- $push := .Values.push -}}
{{- if $push.enabled }}
- name: APP_PUSH_ENABLED
  value: {{ $push.enabled | quote }}
{{- end }}
{{- if $push.vapid.publicKey }}
- name: APP_VAPID_PUBLIC_KEY
  value: {{ $push.vapid.publicKey | quote }}
- name: APP_VAPID_SUBJECT
  value: {{ $push.vapid.subject | quote }}
{{ include "baton.secretFile" (dict "key" "APP_VAPID_PRIVATE_KEY" "file" "vapid-private-key") }}
{{- end }}
{{- if $push.fcm.enabled }}
{{ include "baton.secretFile" (dict "key" "APP_FCM_SERVICE_ACCOUNT" "file" "fcm-service-account") }}
{{- end }}
{{- if $push.apns.keyId }}
- name: APP_APNS_KEY_ID
  value: {{ $push.apns.keyId | quote }}
- name: APP_APNS_TEAM
  value: {{ $push.apns.team | quote }}
- name: APP_APNS_TOPIC
  value: {{ $push.apns.topic | quote }}
{{ include "baton.secretFile" (dict "key" "APP_APNS_KEY" "file" "apns-key") }}
{{- end }}
{{- end }}

{{- define "baton.iceEnv" -}}
{{- $ice := .Values.ice -}}
{{- if $ice.stunUrls }}
- name: APP_STUN_URLS
  value: {{ join "," $ice.stunUrls | quote }}
{{- end }}
{{- if $ice.turnUrls }}
- name: APP_TURN_URLS
  value: {{ join "," $ice.turnUrls | quote }}
{{- end }}
{{- if $ice.existingSecret }}
{{ include "baton.secretFile" (dict "key" "APP_TURN_SECRET" "file" "turn-secret") }}
{{- end }}
{{- end }}

{{/* The settings of the broker (services/broker/config/settings.ts), except those of its store. */}}
{{- define "baton.brokerEnv" -}}
{{- $broker := .Values.broker -}}
- name: BROKER_HOST
  value: {{ .Values.listenAddress | quote }}
- name: BROKER_KEEP_ALIVE_SECONDS
  value: {{ include "baton.keepAliveSeconds" . | quote }}
- name: BROKER_PUBLIC_URL
  value: {{ include "baton.brokerPublicUrl" . }}
- name: BROKER_RETURN_ORIGINS
  value: {{ include "baton.publicUrl" . }}
{{ include "baton.secretFile" (dict "key" "BROKER_TOKENS" "file" "broker-tokens") }}
{{ include "baton.secretFile" (dict "key" "BROKER_SECRET" "file" "broker-secret") }}
{{- if $broker.devLogin }}
- name: BROKER_DEV_LOGIN
  value: "true"
{{- end }}
{{- with $broker.oidc }}
{{- if .issuer }}
- name: BROKER_OIDC_ISSUER
  value: {{ .issuer | quote }}
- name: BROKER_OIDC_CLIENT_ID
  value: {{ .clientId | quote }}
- name: BROKER_OIDC_ROLES_CLAIM
  value: {{ .rolesClaim | quote }}
{{- if not .publicClient }}
{{ include "baton.secretFile" (dict "key" "BROKER_OIDC_CLIENT_SECRET" "file" "oidc-client-secret") }}
{{- end }}
{{- end }}
{{- end }}
{{- range $key, $value := $broker.config }}
- name: {{ $key }}
  value: {{ include "baton.text" $value | quote }}
{{- end }}
{{- end }}
