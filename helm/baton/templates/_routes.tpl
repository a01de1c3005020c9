{{/*
One group of paths for each way in which an edge treats them (deploy/edge), as JSON. `guarded`: an edge that asks the
broker does so here, and nowhere else. The most exact path wins, in Gateways as in Ingresses.
*/}}
{{- define "baton.routes" -}}
- name: short
  timeouts: short
  guarded: true
  prefixes: [/api]
  exact: [/link/plain]
  # For GET it is a page of the web app. Only Gateways match methods, and some (GKE) do not, so this is written only if an edge asks.
  {{- if eq .Values.identity.mode "edge" }}
  posts: [/link]
  {{- end }}
- name: stream
  timeouts: stream
  guarded: true
  exact: [/api/hub/events]
- name: files
  timeouts: files
  guarded: true
  prefixes: [/api/relay]
- name: poll
  timeouts: poll
  exact: [/api/auth/qr/status]
- name: public
  timeouts: short
  exact: [/api/auth/qr/start, /api/auth/login, /api/auth/refresh, /api/docs, /api/openapi.json, /healthz]
  prefixes: [/]
{{- if .Values.broker.enabled }}
- name: login
  timeouts: short
  toBroker: true
  prefixes: [/login]
{{- end }}
{{- end }}
