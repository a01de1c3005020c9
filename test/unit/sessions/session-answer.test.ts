import { sessionAnswer } from '../../../services/sync/sessions/session-answer.ts';
import { misfit } from '../../../shared/client/http/misfit.ts';
import { formOf } from '../../../shared/contract/forms.ts';
import type { IssuedSession } from '../../../shared/contract/modules/broker.ts';
import { SessionAnswer } from '../../../shared/contract/modules/sessions.ts';

test('clients can read the session of a user whose name is very long', () => {
  const issued = {
    ...{ session_id: 's1', subject: 'ann', meta: 'device-1', label: 'Phone', scope: 'full', tier: 'full' },
    ...{ persist: 'persist', created_at: 1, expires_at: 2, access_token: 'token', expires_in: 300 },
    user: { user_id: 'ann', name: 'a'.repeat(5_000) },
  } satisfies Omit<IssuedSession, 'cookie'>;
  const device = { device_id: 'device-1', name: 'Phone', type: 'browser' } as const;
  expect(misfit(formOf(SessionAnswer), sessionAnswer(issued, device))).toBeNull();
});
