import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const SIGNIN_METRICS = {
  login_requests_total: counter('Login requests by QR code, by outcome', ['outcome']),
};
