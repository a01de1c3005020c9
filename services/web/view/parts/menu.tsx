import { signal } from '@preact/signals';
import type { IconNode } from 'lucide';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

export interface MenuAction {
  label: string;
  node: IconNode;
  act: () => void;
  isDanger?: boolean;
}

interface Menu {
  title: string;
  actions: readonly MenuAction[];
  /** The place beside which the menu opens, if there is space. */
  anchor: DOMRect | null;
}

const shown = signal<Menu | null>(null);
const EDGE_PX = 8;

/** Opens a list of actions: beside `opener` on a wide screen, at the foot of a small one. */
export function openMenu(title: string, actions: readonly MenuAction[], opener: Element | null): void {
  shown.value = { title, actions, anchor: opener?.getBoundingClientRect() ?? null };
}

function place(dialog: HTMLDialogElement, anchor: DOMRect | null): void {
  if (anchor === null || innerWidth < 640) return;
  const { width, height } = dialog.getBoundingClientRect();
  const top = anchor.bottom + height + EDGE_PX > innerHeight ? anchor.top - height : anchor.bottom;
  const left = Math.min(anchor.left, innerWidth - width - EDGE_PX);
  dialog.style.inset = `${Math.max(EDGE_PX, top)}px auto auto ${Math.max(EDGE_PX, left)}px`;
}

export function MenuDialog() {
  const menu = shown.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (menu === null || dialog.current === null) return;
    dialog.current.showModal();
    place(dialog.current, menu.anchor);
  }, [menu]);
  if (menu === null) return null;
  // A closed dialog gives the focus back to the element that had it before.
  const close = () => {
    dialog.current?.close();
    shown.value = null;
  };
  return (
    <dialog
      ref={dialog}
      class="menu"
      aria-label={menu.title}
      onCancel={close}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <div class="menu-list">
        {menu.actions.map(({ label, node, act, isDanger }) => (
          <button
            key={label}
            type="button"
            class={`menu-item ${isDanger === true ? 'danger-text' : ''}`}
            onClick={() => {
              close();
              act();
            }}
          >
            <Icon node={node} size={18} /> {label}
          </button>
        ))}
      </div>
    </dialog>
  );
}
