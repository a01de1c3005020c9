import { useSignal } from '@preact/signals';
import { Search as SearchIcon } from 'lucide';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Item } from '../../history/database.ts';
import { agoText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, threads, useApp } from '../app-context.ts';
import { hrefOf } from '../navigation.ts';
import { Marked } from '../parts/marked.tsx';
import { Empty, Pane } from '../parts/parts.tsx';
import { soughtWords } from './sought.ts';

const TYPING_MS = 150;

function Found({ item, words }: { item: Item; words: string }) {
  const name = findPeer(item.thread)?.name ?? threads.value.get(item.thread)?.name ?? '';
  return (
    <li>
      <a
        class="found"
        href={hrefOf('device', item.thread, item.id)}
        onClick={() => {
          soughtWords.value = words;
        }}
      >
        <span class="device-name" dir="auto">
          {name} <small>{agoText(item.at)}</small>
        </span>
        <span class="found-words" dir="auto">
          <Marked
            text={item.kind === 'message' ? item.text : item.files.map((file) => file.name).join(', ')}
            words={words}
          />
        </span>
      </a>
    </li>
  );
}

export function SearchPane() {
  const { history } = useApp();
  const words = useSignal('');
  const found = useSignal<Item[] | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const { search } = texts.value;
  const wanted = words.value.trim();
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      if (wanted === '') found.value = null;
      else {
        void history.search(wanted).then((items) => {
          if (!isOver) found.value = items;
        });
      }
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [wanted]);
  return (
    <Pane title={search.title}>
      <div class="pane-body">
        <label class="field">
          <span class="unseen">{search.label}</span>
          <input
            ref={input}
            type="search"
            placeholder={search.label}
            value={words.value}
            onInput={(event) => {
              words.value = event.currentTarget.value;
            }}
          />
        </label>
        {found.value === null && <p class="hint">{search.start}</p>}
        {found.value?.length === 0 && <Empty node={SearchIcon} title={search.none} />}
        {found.value !== null && found.value.length > 0 && (
          <ul class="found-list">
            {found.value.map((item) => (
              <Found key={item.id} item={item} words={wanted} />
            ))}
          </ul>
        )}
      </div>
    </Pane>
  );
}
