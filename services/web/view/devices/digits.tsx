import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { inviteDigits } from '../../../../shared/client/session/invites.ts';
import type { SignInRequestView } from '../../../../shared/client/index.ts';
import { keyState } from '../../sealing/key-state.ts';
import { serverNow } from '../../server-time.ts';
import { secretsOf } from '../../session/joining.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { attempt } from '../parts/notices.ts';
import { DIGITS, DigitBoxes } from './digit-boxes.tsx';

/** The tries at the digits. Then the request is denied, because an honest user sees the right digits. */
const MOST_TRIES = 3;

interface DigitsProps {
  view: SignInRequestView;
  /** The digits belong to a code that this tab has shown, with this secret. */
  onRight: (secret: string) => void;
  onOver: () => void;
}

/** Asks for the digits that the new device shows. Those of a device with keys also depend on its keys. */
export function Digits({ view, onRight, onOver }: DigitsProps) {
  const { keys } = useApp();
  const typed = useSignal('');
  const wrong = useSignal(0);
  const isRight = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const { approve } = texts.value;
  useLayoutEffect(() => input.current?.focus(), []);
  const digitsOf = async (secret: string): Promise<string> =>
    view.keys === undefined || keyState.peek().kind !== 'keyed'
      ? inviteDigits(secret, view.request_id)
      : (await keys.open()).invitedDigits(secret, view.keys, view.request_id);
  const check = async (digits: string): Promise<void> => {
    for (const secret of secretsOf(serverNow())) {
      if ((await digitsOf(secret)) !== digits) continue;
      isRight.value = true;
      return onRight(secret);
    }
    typed.value = '';
    wrong.value += 1;
    if (wrong.value >= MOST_TRIES) onOver();
  };
  const type = (text: string) => {
    // Digits that are being compared, or were right, stay as they are.
    if (typed.value.length === DIGITS) return;
    typed.value = text.replace(/\D/g, '').slice(0, DIGITS);
    if (typed.value.length === DIGITS) {
      attempt(
        () =>
          check(typed.value).catch((error: unknown) => {
            typed.value = '';
            throw error;
          }),
        texts.value.failed.approve,
      );
    }
  };
  return (
    <label class="field">
      <span>{approve.digits}</span>
      <DigitBoxes
        field={input}
        value={typed.value}
        isWrong={wrong.value > 0 && typed.value === ''}
        isRight={isRight.value}
        onType={type}
      />
      {wrong.value > 0 && !isRight.value && (
        <span class="item-error" role="status">
          {approve.wrongDigits(MOST_TRIES - wrong.value)}
        </span>
      )}
    </label>
  );
}
