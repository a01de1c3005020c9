import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { readTypedWords, type WordsProblem } from '../../sealing/typed-words.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { goInstead } from '../navigation.ts';
import { isolated } from '../parts/isolated.ts';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { PLAIN_FIELD } from './shown-words.tsx';

/** Errors about the words themselves, which are shown beside them. */
const OF_WORDS = ['bad_words', 'bad_ring', 'words_over', 'keys_gone'];

function problemText(problem: WordsProblem): string {
  const { recovery } = keyTexts.value;
  if (problem.kind === 'unknown') return recovery.unknown(problem.at, isolated(problem.word));
  return problem.kind === 'count' ? recovery.count(problem.count) : recovery.checksum;
}

interface TypingProps {
  why: string;
  action: string;
  use: (words: string) => Promise<void>;
  onCancel: () => void;
}

/** Asks for the 24 words, and names what is wrong with them. */
function TypingWords({ why, action, use, onCancel }: TypingProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = useSignal('');
  const problems = useSignal<readonly string[]>([]);
  const isBusy = useSignal(false);
  useLayoutEffect(() => field.current?.focus(), []);
  const { recovery, failed } = keyTexts.value;
  const tryWords = async (): Promise<void> => {
    problems.value = [];
    const read = await readTypedWords(typed.peek());
    problems.value = read.problems.map(problemText);
    if (read.problems.length > 0) return field.current?.focus();
    try {
      await use(read.words);
    } catch (error) {
      if (!OF_WORDS.includes(codeOf(error))) throw error;
      problems.value = [errorText(codeOf(error))];
      field.current?.focus();
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy.peek()) return;
    isBusy.value = true;
    attempt(
      () =>
        tryWords().finally(() => {
          isBusy.value = false;
        }),
      failed,
    );
  };
  return (
    <form class="stack" onSubmit={submit} autocomplete="off">
      <p>{why}</p>
      <label class="field">
        <span>{recovery.field}</span>
        <textarea
          {...PLAIN_FIELD}
          ref={field}
          rows={5}
          lang="en"
          aria-invalid={problems.value.length > 0}
          aria-describedby="typing-words typed-problems"
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
        />
      </label>
      <p id="typing-words" class="hint">
        {recovery.typing}
      </p>
      <div id="typed-problems" class="item-error" role="status">
        {problems.value.map((text) => (
          <p key={text}>{text}</p>
        ))}
      </div>
      <div class="row">
        <button type="button" class="button" onClick={onCancel}>
          {texts.value.app.cancel}
        </button>
        <button class="button primary" disabled={isBusy.value}>
          {action}
        </button>
      </div>
    </form>
  );
}

/** Puts this browser, which has no key, into the ring by the words. */
export function RecoveringByWords() {
  const { keys } = useApp();
  const { recovery, get } = keyTexts.value;
  const use = async (words: string): Promise<void> => {
    await (await keys.open()).recover(words);
    notify(recovery.got);
    goInstead('settings');
  };
  return <TypingWords why={recovery.useWhy} action={get} use={use} onCancel={() => goInstead('settings')} />;
}

/** Takes typed words, which sign the ring in force, so that they go on counting. */
export function RenewingWords({ onOver }: { onOver: () => void }) {
  const { keys } = useApp();
  const { recovery } = keyTexts.value;
  const use = async (words: string): Promise<void> => {
    await (await keys.open()).renewWords(words);
    notify(recovery.renewed);
    onOver();
  };
  return <TypingWords why={recovery.renewWhy} action={recovery.renew} use={use} onCancel={onOver} />;
}
