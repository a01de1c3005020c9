import { useSignal } from '@preact/signals';
import { Copy, Printer } from 'lucide';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { wordsIn } from '../../sealing/typed-words.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { texts } from '../../texts/texts.ts';
import { copyText } from '../parts/copying.ts';
import { Icon } from '../parts/icon.tsx';
import { attempt } from '../parts/notices.ts';

/** A field for words of the list, of which the browser keeps nothing and which it sends to no spelling check. */
export const PLAIN_FIELD = {
  required: true,
  dir: 'ltr',
  autocomplete: 'off',
  autocapitalize: 'none',
  autocorrect: 'off',
  spellcheck: false,
} as const;

interface ShownProps {
  words: readonly string[];
  onNext: () => void;
  onCancel: () => void;
}

/** Shows the words in a numbered list, to be written down, copied or printed. */
export function ShownWords({ words, onNext, onCancel }: ShownProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const { recovery } = keyTexts.value;
  const copy = () => attempt(() => copyText(words.join(' ')), '');
  return (
    <>
      <section class="word-sheet" aria-labelledby="word-sheet">
        <h2 id="word-sheet" ref={heading} tabIndex={-1}>
          {recovery.list}
        </h2>
        <ol class="word-list" dir="ltr" lang="en" translate={false}>
          {words.map((word, index) => (
            <li key={index}>{word}</li>
          ))}
        </ol>
      </section>
      <p class="hint">
        {recovery.writeDown} {recovery.copyRisk}
      </p>
      <div class="row start">
        <button type="button" class="button" onClick={copy}>
          <Icon node={Copy} size={18} /> {texts.value.thread.copy}
        </button>
        <button type="button" class="button" onClick={() => print()}>
          <Icon node={Printer} size={18} /> {recovery.print}
        </button>
      </div>
      <div class="row">
        <button type="button" class="button" onClick={onCancel}>
          {texts.value.app.cancel}
        </button>
        <button type="button" class="button primary" onClick={onNext}>
          {recovery.written}
        </button>
      </div>
    </>
  );
}

/** Returns two places in the list, in order. */
function twoOf(count: number): readonly [number, number] {
  const [one = 0, other = 0] = crypto.getRandomValues(new Uint32Array(2));
  const first = one % count;
  const second = (first + 1 + (other % (count - 1))) % count;
  return first < second ? [first, second] : [second, first];
}

interface CheckingProps {
  words: readonly string[];
  onRight: () => Promise<void>;
  onBack: () => void;
}

/** Asks for two of the words, before they count. */
export function CheckingWords({ words, onRight, onBack }: CheckingProps) {
  const places = useMemo(() => twoOf(words.length), [words]);
  const typed = useSignal<readonly string[]>(['', '']);
  const wrong = useSignal<readonly number[]>([]);
  const isBusy = useSignal(false);
  const fields = useRef<HTMLFieldSetElement>(null);
  const focusOn = (index: number) => fields.current?.querySelectorAll('input')[index]?.focus();
  useLayoutEffect(() => focusOn(0), []);
  const { recovery } = keyTexts.value;
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy.peek()) return;
    wrong.value = places.filter((place, index) => wordsIn(typed.value[index] ?? '').join(' ') !== words[place]);
    if (wrong.value.length > 0) return focusOn(places.indexOf(wrong.value[0] ?? -1));
    isBusy.value = true;
    attempt(
      () =>
        onRight().finally(() => {
          isBusy.value = false;
        }),
      recovery.failed,
    );
  };
  return (
    <form class="stack" onSubmit={submit} autocomplete="off">
      <fieldset class="word-check stack" ref={fields}>
        <legend>{recovery.check}</legend>
        {places.map((place, index) => (
          <label key={place} class="field">
            <span>{recovery.word(place + 1)}</span>
            <input
              {...PLAIN_FIELD}
              aria-invalid={wrong.value.includes(place)}
              aria-describedby="wrong-words"
              value={typed.value[index]}
              onInput={({ currentTarget }) => {
                typed.value = typed.value.with(index, currentTarget.value);
              }}
            />
          </label>
        ))}
      </fieldset>
      <p id="wrong-words" class="item-error" role="status">
        {wrong.value.map((place) => recovery.wrong(place + 1)).join(' ')}
      </p>
      <div class="row">
        <button type="button" class="button" onClick={onBack}>
          {recovery.showAgain}
        </button>
        <button class="button primary" disabled={isBusy.value}>
          {recovery.finish}
        </button>
      </div>
    </form>
  );
}
