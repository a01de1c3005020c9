import type { IconNode } from 'lucide';
import { ArrowLeft } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Icon } from './icon.tsx';

interface IconButtonProps {
  node: IconNode;
  label: string;
  onClick: (event: { currentTarget: HTMLButtonElement }) => void;
  kind?: string;
  isPressed?: boolean;
}

export function IconButton({ node, label, onClick, kind = '', isPressed }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${kind}`}
      aria-label={label}
      title={label}
      {...(isPressed !== undefined && { 'aria-pressed': isPressed })}
      onClick={onClick}
    >
      <Icon node={node} />
    </button>
  );
}

/** Shows a page of the main part. Its heading takes the focus when the page opens. */
export function Pane({
  title,
  actions,
  before,
  children,
  kind = '',
  dropping = {},
}: {
  title: ComponentChildren;
  actions?: ComponentChildren;
  /** Content beside the heading. */
  before?: ComponentChildren;
  children: ComponentChildren;
  kind?: string;
  /** The listeners for files that are dragged over the page. */
  dropping?: {
    onDragOver?: (event: DragEvent) => void;
    onDragLeave?: (event: DragEvent) => void;
    onDrop?: (event: DragEvent) => void;
  };
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <section class={`pane ${kind}`} {...dropping}>
      <header class="pane-head">
        <a class="icon-button back" href="#/" aria-label={texts.value.app.back} title={texts.value.app.back}>
          <Icon node={ArrowLeft} />
        </a>
        {before}
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h1>
        <div class="pane-actions">{actions}</div>
      </header>
      {children}
    </section>
  );
}

export function Empty({ node, title, why, children, isPage = false }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-mark">
        <Icon node={node} size={28} />
      </span>
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {why !== undefined && <p>{why}</p>}
      {children}
    </div>
  );
}

interface EmptyProps {
  node: IconNode;
  title: string;
  why?: string;
  /** True: there is nothing else on the page. */
  isPage?: boolean;
  children?: ComponentChildren;
}

/** Shows names in a row, each in its own text direction, so that none reorders its neighbours. */
export function Names({ of }: { of: readonly string[] }) {
  return <>{of.map((name, i) => [i > 0 && ', ', <bdi key={i}>{name}</bdi>])}</>;
}

/** Shows that the app waits, but only when that takes long enough to be noticed. */
export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="spinner" />
      <span class="unseen">{texts.value.app.loading}</span>
    </div>
  );
}
