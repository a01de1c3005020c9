{{/* Values that contradict each other, one a line: what is wrong, and what to do. validate.yaml collects them. */}}

{{- define "baton.refuse.installation" -}}
{{- $values := .Values -}}
{{- $url := urlParse (include "baton.publicUrl" .) -}}
{{- if not $values.image.repository }}
image.repository is empty: build the image (deploy/image), push it, and set the name under which your cluster pulls it.
{{- end }}
{{- if not (include "baton.publicUrl" .) }}
publicUrl is empty: set the origin under which browsers reach Baton, such as https://baton.example.
{{- else if not (and (has $url.scheme (list "http" "https")) $url.host (has $url.path (list "" "/")) (not $url.query)) }}
publicUrl is {{ $values.publicUrl | quote }}: set an origin such as https://baton.example, without a path.
{{- else if and (eq $url.scheme "http") (not $values.evaluation.enabled) }}
publicUrl is http: browsers would send cookies in the clear; set an https origin.
{{- end }}
{{- range $values.extraEnv }}
{{- if or (hasPrefix "APP_" .name) (hasPrefix "BROKER_" .name) }}
extraEnv has {{ .name }}, a setting of Baton: set it in config or broker.config, or by the value of this chart that writes it.
{{- end }}
{{- end }}
{{- if and $values.evaluation.enabled (or $values.ingress.enabled $values.httpRoute.enabled (ne $values.service.type "ClusterIP")) }}
evaluation.enabled is true and something publishes Baton: evaluation lets anybody in; reach it by kubectl port-forward, or set evaluation.enabled=false.
{{- end }}
{{- end }}

{{- define "baton.refuse.identity" -}}
{{- $values := .Values -}}
{{- $identity := $values.identity -}}
{{- $edge := $identity.edge -}}
{{- $production := not $values.evaluation.enabled -}}
{{- if not $identity.mode }}
identity.mode is empty: set broker (replicas ask the auth broker, behind any Gateway or Ingress) or edge (a proxy adds identity headers).
{{- end }}
{{- if and (eq $identity.mode "dev") $production }}
identity.mode=dev believes anybody: set broker or edge, or evaluation.enabled=true on a cluster of your own.
{{- end }}
{{- if eq $identity.mode "edge" }}
{{- if and (eq $edge.trust "secret") (not $edge.existingSecret) }}
identity.edge.trust=secret has no secret: set identity.edge.existingSecret to a Secret with the key {{ $edge.secretKey }}, or identity.edge.trust=jwt.
{{- end }}
{{- if and (eq $edge.trust "jwt") (not $values.broker.enabled) (not (and $edge.jwksUrl $edge.issuer $edge.audience)) }}
identity.edge.trust=jwt cannot check assertions: set identity.edge.jwksUrl, issuer and audience, or broker.enabled=true.
{{- end }}
{{- if and (not $identity.trustedProxies) $production }}
identity.trustedProxies is empty: all clients would have the address of the edge and share one rate limit; set the CIDRs of its pods or hosts.
{{- end }}
{{- end }}
{{- $preset := ternary $values.ingress.preset "" $values.ingress.enabled -}}
{{- if and (has $preset (list "nginx" "traefik")) (eq $identity.mode "edge") (eq $edge.trust "secret") }}
ingress.preset={{ $preset }} hands on the broker's signed assertion and knows no secret: set identity.edge.trust=jwt, or identity.mode=broker.
{{- end }}
{{- if and (eq $preset "alb") (eq $identity.mode "edge") }}
ingress.preset=alb cannot ask the broker: set identity.mode=broker.
{{- end }}
{{- end }}

{{- define "baton.refuse.broker" -}}
{{- $values := .Values -}}
{{- $broker := $values.broker -}}
{{- $needed := or (eq $values.identity.mode "broker") (not $values.evaluation.enabled) -}}
{{- if and $needed (not $broker.enabled) (not $values.authBroker.url) }}
There is no auth broker: set broker.enabled=true to run the reference broker, or authBroker.url to the base URL of yours.
{{- end }}
{{- if and $broker.enabled $values.authBroker.url }}
broker.enabled=true runs a broker and authBroker.url names another: take one of them away.
{{- end }}
{{- if and (or $needed $broker.enabled) (not $values.authBroker.existingSecret) }}
authBroker.existingSecret is empty: set it to a Secret with the key {{ $values.authBroker.tokenKey }}, the token that replicas show the broker.
{{- end }}
{{- if $broker.enabled }}
{{- if not $broker.existingSecret }}
broker.existingSecret is empty: set it to a Secret with the keys {{ $broker.tokensKey }} (baton:<the token of authBroker>) and {{ $broker.sealingKey }} (openssl rand -hex 32).
{{- end }}
{{- if and $broker.devLogin (not $values.evaluation.enabled) }}
broker.devLogin=true lets anybody in: set broker.oidc.issuer, or evaluation.enabled=true on a cluster of your own.
{{- end }}
{{- if not (or $broker.devLogin $broker.oidc.issuer) }}
Nobody could log in: set broker.oidc.issuer and broker.oidc.clientId to your OpenID provider.
{{- end }}
{{- if and $broker.oidc.issuer (not $broker.oidc.clientId) }}
broker.oidc.clientId is empty: set the client id at {{ $broker.oidc.issuer }}; its redirect URI is {{ include "baton.brokerPublicUrl" . }}/login/callback.
{{- end }}
{{- end }}
{{- end }}

{{- define "baton.refuse.redis" -}}
{{- $redis := .Values.redis -}}
{{- $hosts := len $redis.hosts -}}
{{- $single := or (eq $redis.mode "standalone") (include "baton.redis.isOwn" .) -}}
{{- if and .Values.evaluation.redis.enabled (not .Values.evaluation.enabled) }}
evaluation.redis.enabled=true runs a Redis that loses everything when it restarts: set redis.hosts to one that keeps its data, or evaluation.enabled=true.
{{- end }}
{{- if and .Values.evaluation.redis.enabled (or $hosts $redis.urlKey (ne $redis.mode "standalone") $redis.tls.enabled $redis.existingSecret) }}
evaluation.redis.enabled=true runs a Redis and redis names another: take one of them away.
{{- end }}
{{- if not (include "baton.redis.isOwn" .) }}
{{- if and (not $hosts) (not $redis.urlKey) }}
redis.hosts is empty: set the host of your Redis, or redis.existingSecret and redis.urlKey to a Secret with the whole address.
{{- end }}
{{- if and $redis.urlKey (or $hosts $redis.masterName $redis.db $redis.tls.enabled $redis.username $redis.withoutPassword $redis.sentinel.username $redis.sentinel.passwordKey) }}
redis.urlKey names the whole address, and redis says parts of it: take redis.hosts, masterName, db, tls, username, withoutPassword and sentinel away, or redis.urlKey.
{{- end }}
{{- if and $redis.existingSecret $redis.withoutPassword }}
redis.withoutPassword=true and redis.existingSecret names a password: take one of them away.
{{- end }}
{{- if not (or $redis.existingSecret $redis.withoutPassword) }}
redis.existingSecret is empty: set it to a Secret with the key {{ $redis.urlKey | default $redis.passwordKey }}, or redis.withoutPassword=true where the store asks for none.
{{- end }}
{{- end }}
{{- if and $single (gt $hosts 1) }}
redis.mode=standalone has one host and redis.hosts names {{ $hosts }}: set redis.mode=sentinel or cluster.
{{- end }}
{{- if and (eq $redis.mode "sentinel") (not $redis.masterName) (not $redis.urlKey) }}
redis.masterName is empty: set the name under which the sentinels know the primary, such as mymaster.
{{- end }}
{{- if and (ne $redis.mode "sentinel") (or $redis.masterName $redis.sentinel.username $redis.sentinel.passwordKey) }}
redis.masterName and redis.sentinel are for sentinels: set redis.mode=sentinel, or take them away.
{{- end }}
{{- if and $redis.sentinel.passwordKey (not $redis.existingSecret) }}
redis.sentinel.passwordKey has no Secret: set redis.existingSecret.
{{- end }}
{{- if and (eq $redis.mode "cluster") $redis.db }}
redis.db is {{ int $redis.db }}: a cluster has only number 0; set redis.db=0.
{{- end }}
{{- if and .Values.broker.enabled (eq $redis.mode "cluster") (lt $hosts 2) (not .Values.broker.redis.urlKey) (not $redis.urlKey) }}
redis.hosts names one node: the broker knows a cluster by several; name another node in redis.hosts.
{{- end }}
{{- if and .Values.broker.enabled $redis.urlKey (not .Values.broker.redis.urlKey) }}
redis.urlKey is for the replicas: set broker.redis.urlKey to the key with the broker's address of the store.
{{- end }}
{{- end }}

{{- define "baton.refuse.life" -}}
{{- $values := .Values -}}
{{- $grace := include "baton.graceSeconds" . | int -}}
{{- $scale := $values.autoscaling -}}
{{- if and (gt $grace 600) (not $values.drain.allowBeyond600Seconds) }}
A replica would take up to {{ $grace }} s to stop, and the cluster autoscaler kills pods after 600: set drain.streamsSeconds and drain.transfersSeconds to at most {{ sub 585 (int $values.drain.noticeSeconds) }}, or drain.allowBeyond600Seconds=true.
{{- end }}
{{- if le (include "baton.progressDeadline" . | int) (int $values.drain.streamsSeconds) }}
progressDeadlineSeconds is not above drain.streamsSeconds, for which a new replica is watched: set it to 0, or higher.
{{- end }}
{{- if $scale.enabled }}
{{- if gt (int $scale.minReplicas) (int $scale.maxReplicas) }}
autoscaling.minReplicas is above autoscaling.maxReplicas: set it to at most {{ int $scale.maxReplicas }}.
{{- end }}
{{- if not (or $scale.streamsPercent $scale.cpuPercent) }}
autoscaling has nothing to go by: set autoscaling.streamsPercent or autoscaling.cpuPercent above 0.
{{- end }}
{{- if and $scale.cpuPercent (not (dig "requests" "cpu" "" $values.resources)) }}
autoscaling.cpuPercent is a share of a request that is not there: set resources.requests.cpu, or autoscaling.cpuPercent=0.
{{- end }}
{{- if and $scale.keda.enabled $scale.streamsPercent (not $scale.keda.serverAddress) }}
autoscaling.keda.serverAddress is empty: set the address of your Prometheus, or autoscaling.streamsPercent=0.
{{- end }}
{{- if lt (int $scale.scaleDownPeriodSeconds) (int $values.drain.streamsSeconds) }}
autoscaling.scaleDownPeriodSeconds is shorter than drain.streamsSeconds, so that several replicas would drain at once: set it to at least {{ int $values.drain.streamsSeconds }}.
{{- end }}
{{- end }}
{{- end }}

{{- define "baton.refuse.network" -}}
{{- $values := .Values -}}
{{- $policy := $values.networkPolicy -}}
{{- if and $policy.enabled (not $policy.edge) (not $values.evaluation.enabled) }}
networkPolicy.edge is empty: nobody could reach the replicas; set the peers of your Gateway or Ingress (namespaceSelector, podSelector or ipBlock), or networkPolicy.enabled=false.
{{- end }}
{{- if and $policy.enabled $values.metrics.serviceMonitor.enabled (not $policy.prometheus) }}
networkPolicy.prometheus is empty: metrics.serviceMonitor could not be scraped; set the peers of your Prometheus.
{{- end }}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}
httpRoute.parentRefs is empty: set the Gateway that the route belongs to.
{{- end }}
{{- end }}

{{- define "baton.refuse.devices" -}}
{{- $push := .Values.push -}}
{{- $ice := .Values.ice -}}
{{- $vapid := $push.vapid -}}
{{- $apns := list $push.apns.keyId $push.apns.team $push.apns.topic | compact | len -}}
{{- if and (or $vapid.publicKey $push.fcm.enabled $apns) (not $push.existingSecret) }}
push.existingSecret is empty: set it to the Secret that holds the private keys.
{{- end }}
{{- if ne (not $vapid.publicKey) (not $vapid.subject) }}
push.vapid is not complete: set both publicKey and subject, or neither.
{{- end }}
{{- if and $apns (lt $apns 3) }}
push.apns is not complete: set keyId, team and topic, or none of them.
{{- end }}
{{- if and (eq $push.enabled "true") (not $vapid.publicKey) (not $push.fcm.enabled) (not $apns) (not .Values.evaluation.enabled) }}
push.enabled=true has no keys: set push.vapid, push.fcm or push.apns, or leave push.enabled empty.
{{- end }}
{{- if ne (not $ice.turnUrls) (not $ice.existingSecret) }}
TURN needs both ice.turnUrls and ice.existingSecret: set the other one too, or neither.
{{- end }}
{{- end }}
