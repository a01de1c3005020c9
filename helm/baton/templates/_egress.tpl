{{- define "baton.egress.dns" -}}
- ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
  {{- with .Values.networkPolicy.dns }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "baton.egress.redis" -}}
- ports:
    {{- range include "baton.redis.ports" . | fromJsonArray }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
  {{- if include "baton.redis.isOwn" . }}
  to:
    - podSelector:
        matchLabels:
          {{- include "baton.selector" (list . "evaluation-redis") | nindent 10 }}
  {{- else if .Values.networkPolicy.redis.to }}
  to:
    {{- toYaml .Values.networkPolicy.redis.to | nindent 4 }}
  {{- end }}
{{- end }}

{{/* A broker, or its keys, that this chart does not run. It may be anywhere, inside the cluster or outside: a policy cannot name its host. */}}
{{- define "baton.egress.authBroker" -}}
{{- $ports := list -}}
{{- range list .Values.authBroker.url .Values.identity.edge.jwksUrl -}}
{{- if . -}}
{{- $url := urlParse . -}}
{{- $default := ternary "443" "80" (eq $url.scheme "https") -}}
{{- $ports = append $ports (int (ternary (splitList ":" $url.host | last) $default (regexMatch ":[0-9]+$" $url.host))) -}}
{{- end -}}
{{- end -}}
{{- if $ports }}
- ports:
    {{- range uniq $ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with .Values.networkPolicy.broker }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The internet without private, shared, link-local and metadata addresses. */}}
{{- define "baton.egress.public" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
    - ipBlock:
        cidr: ::/0
        except: ["64:ff9b::/96", "fc00::/7", "fe80::/10"]
  ports: [{ protocol: TCP, port: 443 }]
{{- end }}
