import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { inviteDigits } from '../../../../shared/client/session/invites.ts';
import { serverNow } from '../../server-time.ts';
import { secretsOf } from '../../session/joining.ts';
import { texts } from '../../texts/texts.ts';

/** The tries at the digits. Then the request is denied, because an honest user sees the right digits. */
const MOST_TRIES = 3;

/** Asks for the digits that the new device shows. `onRight`: they belong to a code that this tab has shown. */
export function Digits({ requestId, onRight, onOver }: { requestId: string; onRight: () => void; onOver: () => void }) {
  const typed = useSignal('');
  const wrong = useSignal(0);
  const input = useRef<HTMLInputElement>(null);
  const { approve } = texts.value;
  useEffect(() => input.current?.focus(), []);
  const type = (text: string) => {
    typed.value = text.replace(/\D/g, '').slice(0, 6);
    if (typed.value.length < 6) return;
    const isRight = secretsOf(serverNow()).some((secret) => inviteDigits(secret, requestId) === typed.value);
    if (isRight) return onRight();
    typed.value = '';
    wrong.value += 1;
    if (wrong.value >= MOST_TRIES) onOver();
  };
  return (
    <label class="field">
      <span>{approve.digits}</span>
      <input
        ref={input}
        class="digits"
        inputMode="numeric"
        autocomplete="one-time-code"
        dir="ltr"
        aria-invalid={wrong.value > 0}
        value={typed.value}
        onInput={(event) => {
          type(event.currentTarget.value);
          event.currentTarget.value = typed.value;
        }}
      />
      {wrong.value > 0 && (
        <span class="item-error" role="status">
          {approve.wrongDigits(MOST_TRIES - wrong.value)}
        </span>
      )}
    </label>
  );
}
