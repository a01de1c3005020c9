import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';

interface Question {
  title: string;
  why: string;
  action: string;
  answer: (isYes: boolean) => void;
}

const question = signal<Question | null>(null);

/** Asks before an action that cannot be undone. */
export function confirmed(asked: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer: (isYes) => {
        question.value = null;
        resolve(isYes);
      },
    };
  });
}

export function ConfirmDialog() {
  const asked = question.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (asked !== null) dialog.current?.showModal();
  }, [asked]);
  if (asked === null) return null;
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="question" onCancel={() => asked.answer(false)}>
      <h2 id="question" dir="auto">
        {asked.title}
      </h2>
      <p>{asked.why}</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => asked.answer(false)}>
          {texts.value.app.cancel}
        </button>
        <button type="button" class="button danger" onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
      </div>
    </dialog>
  );
}
