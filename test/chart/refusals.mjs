/*
 * Values that must be refused: the values that are set on top of a scenario, and the beginning of the sentence that
 * says what to do.
 */

const TURN = ['turn:turn.example:3478'];
const PEER = [{ podSelector: {} }];

/** @type {[title: string, scenario: string, set: Record<string, unknown>, says: string][]} */
export const REFUSALS = [
  ['an image without a name', 'minimal', { 'image.repository': '' }, 'image.repository is empty'],
  ['no public address', 'minimal', { publicUrl: '' }, 'publicUrl is empty'],
  ['a public address with a path', 'minimal', { publicUrl: 'https://x.example/baton' }, 'publicUrl is "https'],
  ['a public address that is none', 'minimal', { publicUrl: 'baton.example' }, 'publicUrl is "baton'],
  ['a public address in the clear', 'minimal', { publicUrl: 'http://x.example' }, 'publicUrl is http'],
  ['a setting in extraEnv', 'minimal', { extraEnv: [{ name: 'APP_LOG_LEVEL', value: 'warn' }] }, 'extraEnv has APP_'],
  ['a published evaluation', 'evaluation', { 'ingress.enabled': true }, 'evaluation.enabled is true and something'],
  [
    'an evaluation with a load balancer',
    'evaluation',
    { 'service.type': 'NodePort' },
    'evaluation.enabled is true and',
  ],

  ['no way to know who is asking', 'minimal', { 'identity.mode': '' }, 'identity.mode is empty'],
  ['believing anybody in production', 'minimal', { 'identity.mode': 'dev' }, 'identity.mode=dev believes anybody'],
  [
    'an edge without its secret',
    'edge-secret',
    { 'identity.edge.existingSecret': '' },
    'identity.edge.trust=secret has',
  ],
  ['assertions without keys', 'edge-secret', { 'identity.edge.trust': 'jwt' }, 'identity.edge.trust=jwt cannot check'],
  ['an edge of unknown address', 'edge-secret', { 'identity.trustedProxies': [] }, 'identity.trustedProxies is empty'],
  [
    'an Ingress controller that cannot show a secret',
    'ingress-nginx',
    { 'identity.edge.trust': 'secret', 'identity.edge.existingSecret': 'x' },
    'ingress.preset=nginx hands on',
  ],
  ['a balancer that cannot ask', 'ingress-alb', { 'identity.mode': 'edge' }, 'ingress.preset=alb cannot ask'],

  ['no broker', 'minimal', { 'authBroker.url': '' }, 'There is no auth broker'],
  ['two brokers', 'production', { 'authBroker.url': 'https://b.example' }, 'broker.enabled=true runs a broker and'],
  ['no token for the broker', 'minimal', { 'authBroker.existingSecret': '' }, 'authBroker.existingSecret is empty'],
  ['a broker without secrets', 'production', { 'broker.existingSecret': '' }, 'broker.existingSecret is empty'],
  ['a login for anybody in production', 'production', { 'broker.devLogin': true }, 'broker.devLogin=true lets anybody'],
  ['a broker where nobody can log in', 'production', { 'broker.oidc.issuer': '' }, 'Nobody could log in'],
  ['a provider without a client', 'production', { 'broker.oidc.clientId': '' }, 'broker.oidc.clientId is empty'],

  [
    'a Redis that forgets in production',
    'minimal',
    { 'evaluation.redis.enabled': true },
    'evaluation.redis.enabled=true runs a Redis that',
  ],
  ['two stores', 'evaluation', { 'redis.hosts': ['redis'] }, 'evaluation.redis.enabled=true runs a Redis and'],
  ['no store', 'minimal', { 'redis.hosts': [] }, 'redis.hosts is empty'],
  ['an address twice', 'redis-address-in-secret', { 'redis.masterName': 'x' }, 'redis.urlKey names the whole address'],
  ['a password that is not asked for', 'minimal', { 'redis.withoutPassword': true }, 'redis.withoutPassword=true and'],
  ['a store without a password', 'minimal', { 'redis.existingSecret': '' }, 'redis.existingSecret is empty'],
  ['several single servers', 'minimal', { 'redis.hosts': ['a', 'b'] }, 'redis.mode=standalone has one host'],
  ['sentinels without a primary', 'production', { 'redis.masterName': '' }, 'redis.masterName is empty'],
  ['a primary without sentinels', 'minimal', { 'redis.masterName': 'x' }, 'redis.masterName and redis.sentinel are'],
  [
    'a sentinel password that lies nowhere',
    'production',
    { 'redis.existingSecret': '', 'redis.withoutPassword': true },
    'redis.sentinel.passwordKey has no Secret',
  ],
  ['a numbered database of a cluster', 'cluster-tls', { 'redis.db': 1 }, 'redis.db is 1'],
  ['a cluster that the broker takes for one server', 'cluster-tls', { 'redis.hosts': ['a'] }, 'redis.hosts names one'],
  ['a broker without an address', 'redis-address-in-secret', { 'broker.redis.urlKey': '' }, 'redis.urlKey is for the'],

  [
    'a replica that takes too long to stop',
    'minimal',
    { 'drain.transfersSeconds': 576 },
    'A replica would take up to 601 s',
  ],
  [
    'a deadline before a replica counts',
    'minimal',
    { progressDeadlineSeconds: 25 },
    'progressDeadlineSeconds is not above',
  ],
  [
    'a ScaledObject that does not know whom to ask',
    'production',
    { 'autoscaling.keda.enabled': true },
    'autoscaling.keda.serverAddress is empty',
  ],
  ['least above most', 'production', { 'autoscaling.minReplicas': 21 }, 'autoscaling.minReplicas is above'],
  [
    'scaling by nothing',
    'production',
    { 'autoscaling.streamsPercent': 0, 'autoscaling.cpuPercent': 0 },
    'autoscaling has nothing to go by',
  ],
  [
    'scaling by a share of nothing',
    'production',
    { 'resources.requests': { memory: '1Gi' }, 'resources.requests.cpu': null },
    'autoscaling.cpuPercent is a share',
  ],
  [
    'replicas that drain at once',
    'production',
    { 'autoscaling.scaleDownPeriodSeconds': 24 },
    'autoscaling.scaleDownPeriodSeconds is',
  ],

  ['replicas that nobody reaches', 'minimal', { 'networkPolicy.edge': [] }, 'networkPolicy.edge is empty'],
  [
    'metrics that nobody reaches',
    'minimal',
    { 'metrics.serviceMonitor.enabled': true },
    'networkPolicy.prometheus is empty',
  ],
  ['a route without a Gateway', 'minimal', { 'httpRoute.enabled': true }, 'httpRoute.parentRefs is empty'],

  ['pushes without a Secret', 'production', { 'push.existingSecret': '' }, 'push.existingSecret is empty'],
  ['half of web push', 'production', { 'push.vapid.subject': '' }, 'push.vapid is not complete'],
  ['half of APNs', 'production', { 'push.apns.team': '' }, 'push.apns is not complete'],
  ['pushes without keys', 'minimal', { 'push.enabled': 'true' }, 'push.enabled=true has no keys'],
  ['TURN without a secret', 'minimal', { 'ice.turnUrls': TURN }, 'TURN needs both'],

  // The schema refuses these.
  ['a misspelt value', 'minimal', { replicas: 3 }, "additional properties 'replicas' not allowed"],
  [
    'a misspelt setting',
    'minimal',
    { 'config.APP_LOG_LEVL': 'warn' },
    "additional properties 'APP_LOG_LEVL' not allowed",
  ],
  ['a secret among the settings', 'minimal', { 'config.APP_TURN_SECRET': 'x' }, "'APP_TURN_SECRET' not allowed"],
  ['a setting that a value writes', 'minimal', { 'config.APP_PUBLIC_URL': 'x' }, "'APP_PUBLIC_URL' not allowed"],
  ['a mode that is not known', 'minimal', { 'redis.mode': 'replicated' }, 'value must be one of'],
  ['a password in a host', 'minimal', { 'redis.hosts': ['user:pass@redis'] }, 'does not match pattern'],
];

/**
 * The other side of some of the borders above.
 * @type {[title: string, scenario: string, set: Record<string, unknown>][]}
 */
export const ACCEPTED = [
  ['a replica that takes exactly as long as it may', 'minimal', { 'drain.transfersSeconds': 575 }],
  ['a longer one, knowingly', 'minimal', { 'drain.transfersSeconds': 900, 'drain.allowBeyond600Seconds': true }],
  ['two edges', 'minimal', { 'networkPolicy.edge': [...PEER, ...PEER] }],
  ['a network that somebody else guards', 'minimal', { 'networkPolicy.enabled': false, 'networkPolicy.edge': [] }],
  [
    'the development login, for trying it out',
    'evaluation',
    {
      'broker.enabled': true,
      'broker.devLogin': true,
      'broker.existingSecret': 'x',
      'authBroker.existingSecret': 'x',
      'identity.mode': 'broker',
    },
  ],
  ['a cluster of which one node is named, with another broker', 'minimal', { 'redis.mode': 'cluster' }],
];
