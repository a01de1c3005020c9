{{/* The chart only refers to Secrets. Each becomes a file, and the program is given its path. */}}

{{- define "baton.secretFile" -}}
- name: {{ .key }}_FILE
  value: /etc/baton/secrets/{{ .file }}
{{- end }}

{{/* The Secrets that the replicas read, as JSON: a list of [Secret, key, file]. */}}
{{- define "baton.replicaSecrets" -}}
{{- $values := .Values -}}
{{- $files := list -}}
{{- if $values.redis.urlKey }}{{ $files = append $files (list $values.redis.existingSecret $values.redis.urlKey "redis-url") }}{{ end -}}
{{- if include "baton.redis.hasPassword" . }}{{ $files = append $files (list $values.redis.existingSecret $values.redis.passwordKey "redis-password") }}{{ end -}}
{{- $sentinel := $values.redis.sentinel.passwordKey -}}
{{- if and $sentinel (not $values.redis.urlKey) }}{{ $files = append $files (list $values.redis.existingSecret $sentinel "sentinel-password") }}{{ end -}}
{{- with $values.relayRedis }}{{ if .existingSecret }}
{{- $files = append $files (list .existingSecret .urlKey "relay-redis-url") -}}
{{- if .passwordKey }}{{ $files = append $files (list .existingSecret .passwordKey "relay-redis-password") }}{{ end -}}
{{- end }}{{ end -}}
{{- if and (eq $values.identity.mode "edge") (eq $values.identity.edge.trust "secret") -}}
{{- $files = append $files (list $values.identity.edge.existingSecret $values.identity.edge.secretKey "edge-secret") -}}
{{- end -}}
{{- with $values.authBroker }}{{ if .existingSecret }}{{ $files = append $files (list .existingSecret .tokenKey "broker-token") }}{{ end }}{{ end -}}
{{- $push := $values.push -}}
{{- if $push.vapid.publicKey }}{{ $files = append $files (list $push.existingSecret $push.vapid.privateKeyKey "vapid-private-key") }}{{ end -}}
{{- if $push.fcm.enabled }}{{ $files = append $files (list $push.existingSecret $push.fcm.serviceAccountKey "fcm-service-account") }}{{ end -}}
{{- if $push.apns.keyId }}{{ $files = append $files (list $push.existingSecret $push.apns.keyKey "apns-key") }}{{ end -}}
{{- with $values.ice }}{{ if .existingSecret }}{{ $files = append $files (list .existingSecret .secretKey "turn-secret") }}{{ end }}{{ end -}}
{{- $files | toJson -}}
{{- end }}

{{- define "baton.brokerSecrets" -}}
{{- $broker := .Values.broker -}}
{{- $secret := $broker.existingSecret -}}
{{- $files := list (list $secret $broker.tokensKey "broker-tokens") (list $secret $broker.sealingKey "broker-secret") -}}
{{- if and $broker.oidc.issuer (not $broker.oidc.publicClient) }}{{ $files = append $files (list $secret $broker.oidc.clientSecretKey "oidc-client-secret") }}{{ end -}}
{{- $redis := .Values.redis -}}
{{- if include "baton.redis.brokerHasPassword" . }}{{ $files = append $files (list ($broker.redis.existingSecret | default $redis.existingSecret) ($broker.redis.passwordKey | default $redis.passwordKey) "broker-redis-password") }}{{ end -}}
{{- if and $redis.sentinel.passwordKey (not $broker.redis.urlKey) }}{{ $files = append $files (list $redis.existingSecret $redis.sentinel.passwordKey "sentinel-password") }}{{ end -}}
{{- if $broker.redis.urlKey }}{{ $files = append $files (list ($broker.redis.existingSecret | default .Values.redis.existingSecret) $broker.redis.urlKey "broker-redis-url") }}{{ end -}}
{{- $files | toJson -}}
{{- end }}

{{/* The volumes of a pod: secrets, one's own authority, and the only writable folder. `(list $ files)` */}}
{{- define "baton.volumes" -}}
{{- $top := index . 0 -}}
{{- $files := index . 1 -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- if $files }}
- name: secrets
  projected:
    # 0440: the group is fsGroup.
    defaultMode: 288
    sources:
      {{- range $files }}
      - secret:
          name: {{ index . 0 }}
          items: [{ key: {{ index . 1 | quote }}, path: {{ index . 2 }} }]
      {{- end }}
{{- end }}
{{- with $top.Values.extraCa }}
{{- if .configMap }}
- name: extra-ca
  configMap:
    name: {{ .configMap }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- else if .existingSecret }}
- name: extra-ca
  secret:
    secretName: {{ .existingSecret }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- end }}

{{- define "baton.volumeMounts" -}}
{{- $top := index . 0 -}}
- { name: tmp, mountPath: /tmp }
{{- if index . 1 }}
- { name: secrets, mountPath: /etc/baton/secrets, readOnly: true }
{{- end }}
{{- if or $top.Values.extraCa.configMap $top.Values.extraCa.existingSecret }}
- { name: extra-ca, mountPath: /etc/baton/ca, readOnly: true }
{{- end }}
{{- end }}

{{/* The settings that both programs get. */}}
{{- define "baton.commonEnv" -}}
- name: NODE_ENV
  value: {{ ternary "development" "production" .Values.evaluation.enabled }}
{{- if .Values.nodeOptions }}
- name: NODE_OPTIONS
  value: {{ .Values.nodeOptions | quote }}
{{- end }}
{{- if or .Values.extraCa.configMap .Values.extraCa.existingSecret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/baton/ca/ca.crt
{{- end }}
{{- end }}
