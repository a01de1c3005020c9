import { counter, histogram } from '../telemetry/metrics.ts';

/** Seconds. A poll waits 25 s at most, and a body may take 30 s. A quantile beyond the last bucket would have no value. */
const REQUEST_BUCKETS = [0.01, 0.05, 0.1, 0.25, 1, 5, 30];

/** The metrics of the responses of a port. */
export const HTTP_METRICS = {
  http_requests_total: counter('Answered requests, by route of the route table', ['route', 'method', 'status']),
  http_request_duration_seconds: histogram(
    'Time to answer a request, by the beginning of its path; event streams and bytes of files are left out',
    REQUEST_BUCKETS,
    ['prefix'],
  ),
  problems_total: counter('Error answers, by code of the error registry', ['code']),
  rate_limited_total: counter('Requests that a rate limit refused', ['group']),
};
