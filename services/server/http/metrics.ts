import { counter, histogram, LATENCY_BUCKETS } from '../telemetry/metrics.ts';

/** What the answers of a port are counted by. */
export const HTTP_METRICS = {
  http_requests_total: counter('Requests answered, by route of the route table', ['route', 'method', 'status']),
  http_request_duration_seconds: histogram('Time to answer a request; event streams are not counted', LATENCY_BUCKETS, [
    'route',
    'method',
  ]),
  problems_total: counter('Error answers by code of the error registry', ['code']),
  rate_limited_total: counter('Requests refused by a rate limit', ['group']),
};
