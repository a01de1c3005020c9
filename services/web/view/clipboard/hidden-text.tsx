import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { texts } from '../../texts/texts.ts';

/** The same number for every text, so that its length stays hidden too. */
const DOTS = '•'.repeat(16);

/** Shows a text of the clipboard once it is touched. `of`: the time of the entry, so that the next one is hidden again. */
export function HiddenText(props: { of: number; shown?: Signal<number | null>; children: ComponentChildren }) {
  const own = useSignal<number | null>(null);
  const { of, shown = own, children } = props;
  const { clipboard } = texts.value;
  const isShown = shown.value === of;
  const toggle = () => {
    shown.value = isShown ? null : of;
  };
  return (
    <>
      {isShown && children}
      <button type="button" class="clipboard-words" aria-expanded={isShown} onClick={toggle}>
        {!isShown && <span aria-hidden="true">{DOTS} </span>}
        <small>{isShown ? clipboard.hide : clipboard.show}</small>
      </button>
    </>
  );
}
