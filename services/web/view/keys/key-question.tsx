import { useEffect, useRef } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import { dropKeys, keepKeyState, keyState } from '../../sealing/key-state.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { attempt } from '../parts/notices.ts';

/**
 * Asks whether the device that gave the key shows the same digits, and names the account. Nothing is sealed or opened
 * before. The question defends against somebody who lets this browser into another account.
 */
export function KeyQuestion() {
  const { entry, signOut } = useApp();
  const dialog = useRef<HTMLDialogElement>(null);
  const state = keyState.value;
  const words = keyTexts.value;
  const isAsked = state.kind === 'unconfirmed';
  useEffect(() => {
    if (isAsked) dialog.current?.showModal();
  }, [isAsked]);
  if (state.kind !== 'unconfirmed') return null;
  const { code, approver, isNew, isGuest } = state;
  const name = shared.value.devices.find(({ device_id }) => device_id === approver)?.name ?? words.otherDevice;
  const refuse = () =>
    attempt(async () => {
      if (!isNew) return dropKeys({ kind: 'lost', isGuest });
      // Nothing is sent before the session is over.
      await signOut();
    }, words.failed);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="key-question"
      // The question stays until it is answered.
      onCancel={(event) => event.preventDefault()}
    >
      <h2 id="key-question">{words.compare}</h2>
      <p class="hint" dir="auto">
        {texts.value.settings.signedInAs(shared.value.me?.name ?? entry.userName)}
      </p>
      <p>{isGuest ? words.compareWhyGuest(name) : words.compareWhy(name)}</p>
      <p class="digits" dir="ltr" aria-label={Array.from(code).join(' ')}>
        {code}
      </p>
      <div class="dialog-actions">
        <button type="button" class="button danger-text" onClick={refuse}>
          {isNew ? words.differNew : words.differ}
        </button>
        <button type="button" class="button primary" onClick={() => keepKeyState({ kind: 'keyed', isGuest })}>
          {words.same(name)}
        </button>
      </div>
    </dialog>
  );
}
