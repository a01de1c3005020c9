import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { keyTexts } from '../../texts/key-texts.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { codeOf } from '../parts/notices.ts';
import { CodeOf, type CodeState, CopyLink } from '../sign-in/sign-in-code.tsx';

/** Shows the code by which a device that has keys gives them to this browser, which is signed in. */
export function LinkCode({ onOver }: { onOver: () => void }) {
  const { keys } = useApp();
  const state = useSignal<CodeState>({ kind: 'asking' });
  const isUngiven = useSignal(false);
  const words = keyTexts.value;
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const ask = async () => {
      const sealing = await keys.open();
      const request = await sealing.ask(signal);
      if (signal.aborted) return;
      state.value = { kind: 'shown', link: request.link, until: request.expires_at };
      const isGiven = await request.approved();
      if (isGiven) await sealing.takeGrant(false);
      else isUngiven.value = true;
    };
    ask().catch((error: unknown) => {
      if (!signal.aborted) state.value = { kind: 'over', why: codeOf(error) };
    });
    return () => stopping.abort();
  }, []);
  if (isUngiven.value) return <p class="item-error">{words.noneGiven}</p>;
  return (
    <div class="stack">
      <p class="lead">{words.how}</p>
      <CodeOf state={state.value} />
      <div class="row">
        <button type="button" class="button" onClick={onOver}>
          {texts.value.app.cancel}
        </button>
        {state.value.kind === 'shown' && <CopyLink link={state.value.link} />}
      </div>
    </div>
  );
}
