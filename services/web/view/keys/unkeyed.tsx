import { useSignal } from '@preact/signals';
import { Lock } from 'lucide';
import { useEffect } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import { goOnWithoutKeys, keyState } from '../../sealing/key-state.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { errorText } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { confirmed } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { otherNames, StartAnew } from './anew.tsx';
import { GettingKey, UsingWords } from './getting-key.tsx';

/** Offers to make the key of an account that has none. */
function Create() {
  const app = useApp();
  const words = keyTexts.value;
  const create = () =>
    attempt(async () => {
      const why = words.createWhy(otherNames(app).join(', '));
      if (!(await confirmed({ title: words.createTitle, why, action: words.create }))) return;
      await (await app.keys.open()).create({ anew: true });
      notify(words.created);
    }, words.failed);
  return (
    <div class="row start">
      <button type="button" class="button" onClick={create}>
        <Icon node={Lock} size={18} /> {words.create}
      </button>
    </div>
  );
}

/** Offers keys to a browser that has none, or has lost them. */
export function Unkeyed() {
  const { keys, entry } = useApp();
  const isEncrypted = useSignal<boolean | null>(null);
  const problem = useSignal('');
  const words = keyTexts.value;
  const { ringNumber } = shared.value;
  useEffect(() => {
    keys
      .open()
      .then((sealing) => sealing.isEncrypted())
      .then(
        (found) => {
          isEncrypted.value = found;
          problem.value = '';
        },
        (error: unknown) => {
          problem.value = errorText(codeOf(error));
        },
      );
  }, [ringNumber]);
  const { kind, isGuest } = keyState.value;
  const isLost = kind === 'lost';
  // A code that is shown stays, although the service cannot be asked again.
  if (isEncrypted.value === null) {
    return problem.value === '' ? <Waiting /> : <p class="item-error">{problem.value}</p>;
  }
  return (
    <>
      <p class="hint">{isLost ? words.lost : isEncrypted.value ? words.noKey : words.off}</p>
      {isEncrypted.value ? <GettingKey /> : <Create />}
      {isEncrypted.value && !isGuest && <UsingWords />}
      {isLost && (
        <div class="row start">
          <button type="button" class="button" onClick={() => goOnWithoutKeys(entry.deviceId)}>
            {words.without}
          </button>
        </div>
      )}
      {isEncrypted.value && !isGuest && <StartAnew isMember={false} />}
    </>
  );
}
