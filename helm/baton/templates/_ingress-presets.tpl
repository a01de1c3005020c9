{{/* Annotations of a group of paths, by controller. `(dict "top" $ "group" group)` */}}

{{- define "baton.preset" -}}
{{- if eq .top.Values.ingress.preset "nginx" -}}
{{- include "baton.preset.nginx" . -}}
{{- else if eq .top.Values.ingress.preset "alb" -}}
{{- include "baton.preset.alb" . -}}
{{- else if eq .top.Values.ingress.preset "traefik" -}}
{{- include "baton.preset.traefik" . -}}
{{- end -}}
{{- end }}

{{/* The allowed silence: 75 s are five heartbeats, and a receiver of a file may wait an hour for its sender. */}}
{{- define "baton.preset.nginx" -}}
{{- $seconds := get (dict "short" "35" "poll" "35" "stream" "75" "files" "3600") .group.timeouts -}}
nginx.ingress.kubernetes.io/proxy-buffering: "off"
nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
nginx.ingress.kubernetes.io/proxy-http-version: "1.1"
nginx.ingress.kubernetes.io/proxy-body-size: "0"
{{- if eq .group.timeouts "files" }}
# With HTTP/2 this is what a client may send ahead.
nginx.ingress.kubernetes.io/client-body-buffer-size: 1m
{{- end }}
nginx.ingress.kubernetes.io/proxy-read-timeout: {{ $seconds | quote }}
nginx.ingress.kubernetes.io/proxy-send-timeout: {{ ternary "120" "35" (eq .group.timeouts "files") | quote }}
{{- if and .group.guarded (eq .top.Values.identity.mode "edge") }}
nginx.ingress.kubernetes.io/auth-url: {{ include "baton.forwardAuth" .top | quote }}
nginx.ingress.kubernetes.io/auth-response-headers: X-Auth-Subject,X-Auth-Scope,X-Auth-Meta,X-Auth-Name,X-Auth-Roles,X-Auth-Assertion
{{- end }}
{{- end }}

{{/* Traefik buffers nothing. Its entrypoint needs `transport.respondingTimeouts.readTimeout: 0` for uploads that last over a minute. */}}
{{- define "baton.preset.traefik" -}}
traefik.ingress.kubernetes.io/router.tls: "true"
{{- if and .group.guarded (eq .top.Values.identity.mode "edge") }}
traefik.ingress.kubernetes.io/router.middlewares: {{ .top.Release.Namespace }}-{{ include "baton.fullname" .top }}-forward-auth@kubernetescrd
{{- end }}
{{- end }}

{{/* A balancer has one idle timeout for all paths, so every Ingress of the group says the same. Removed addresses keep their streams until they have drained. */}}
{{- define "baton.preset.alb" -}}
alb.ingress.kubernetes.io/group.name: {{ .top.Release.Namespace }}-{{ include "baton.fullname" .top }}
# Without an order the names would decide, and `/` would come before `/api`.
alb.ingress.kubernetes.io/group.order: {{ ternary "100" "1" (eq .group.name "public") | quote }}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/load-balancer-attributes: idle_timeout.timeout_seconds=3600
alb.ingress.kubernetes.io/target-group-attributes: deregistration_delay.timeout_seconds={{ include "baton.graceSeconds" .top }}
alb.ingress.kubernetes.io/healthcheck-path: /healthz
{{- end }}

{{- define "baton.forwardAuth" -}}
{{- .Values.authBroker.url | default (include "baton.brokerService" .) -}}/forward-auth
{{- end }}
