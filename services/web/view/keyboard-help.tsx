import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.ts';
import { showsKeys } from './keyboard.ts';

/** Lists the keys that work everywhere. */
export function KeyboardHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  const { app, keyboard } = texts.value;
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => {
    dialog.current?.close();
    showsKeys.value = false;
  };
  const rows = [
    ['↑ ↓', keyboard.devices],
    ['/', keyboard.search],
    ['A …', keyboard.write],
    ['Enter', keyboard.send],
    ['Esc', keyboard.leave],
    ['?', keyboard.help],
  ] as const;
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="keyboard" onCancel={close}>
      <h2 id="keyboard">{keyboard.title}</h2>
      <dl class="keys">
        {rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          {app.close}
        </button>
      </div>
    </dialog>
  );
}
