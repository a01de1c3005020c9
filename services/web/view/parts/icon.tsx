import type { IconNode } from 'lucide';
import { h } from 'preact';

/** Shows an icon. The words beside it, or the label of its button, say what it means. */
export function Icon({ node, size = 20 }: { node: IconNode; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {node.map(([tag, attributes]) => h(tag, { ...attributes, key: JSON.stringify(attributes) }))}
    </svg>
  );
}
