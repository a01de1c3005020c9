import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { proposeDeviceName } from '../../../../shared/client/index.ts';
import { betterName, proposedName } from '../../session/device.ts';
import { texts } from '../../texts/texts.ts';
import { attempt } from '../parts/notices.ts';

interface NameFormProps {
  title: string;
  why: string;
  /** Called with the name in the form that the service takes. */
  done: (name: string) => Promise<void> | void;
  /** The way back; without it there is none. */
  back?: () => void;
}

/** Asks for the name of this device, with a proposal to type over, and shows the resulting name before it is used. */
export function NameForm({ title, why, done, back }: NameFormProps) {
  const name = useSignal(proposedName());
  const isTyped = useRef(false);
  const isBusy = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const { name: words, app } = texts.value;
  // Before the page is painted, because a later selection would overwrite the first letters of a user who types at once.
  useLayoutEffect(() => input.current?.select(), []);
  useEffect(() => {
    void betterName().then((better) => {
      if (isTyped.current || better === name.value || input.current === null) return;
      input.current.value = better;
      name.value = better;
      input.current.select();
    });
  }, []);
  const typed = name.value.trim();
  const plain = proposeDeviceName(name.value);
  const submit = (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    attempt(async () => {
      try {
        await done(plain);
      } finally {
        isBusy.value = false;
      }
    }, texts.value.failed.signIn);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <h1>{title}</h1>
      <p class="lead">{why}</p>
      <label class="field">
        <span>{words.label}</span>
        <input
          ref={input}
          required
          maxLength={32}
          autocomplete="off"
          aria-describedby="name-rule"
          value={name.value}
          onInput={(event) => {
            isTyped.current = true;
            name.value = event.currentTarget.value;
          }}
        />
      </label>
      <p class="hint" id="name-rule" aria-live="polite">
        {plain === typed || typed === '' ? words.rule : words.called(plain)}
      </p>
      <button class="button primary wide" disabled={isBusy.value}>
        {words.done}
      </button>
      {back !== undefined && (
        <button type="button" class="button wide" onClick={back}>
          {app.back}
        </button>
      )}
    </form>
  );
}
