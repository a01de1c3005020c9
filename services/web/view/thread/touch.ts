/** The listeners for fingers on one item. Spread them over its element. */
export interface Touch {
  onContextMenu(event: MouseEvent): void;
  onTouchStart(event: TouchEvent): void;
  onTouchMove(event: TouchEvent): void;
  onTouchEnd(event: TouchEvent): void;
  onTouchCancel(event: TouchEvent): void;
}

export interface TouchActions {
  /** A long press. With a mouse the browser's own menu stays, which includes the selection. */
  press(): void;
  /** Returns the action of a swipe: along the lines, from their beginning to their end, or against them. */
  swipe(isForwards: boolean): (() => void) | null;
}

/** A finger that moves less than this rests, and one that moves further acts. In CSS pixels. */
const [STARTS_AT, ACTS_AT] = [12, 72];
/** A swipe that begins this near to the edge of the screen goes back, or to another application. In CSS pixels. */
const EDGE = 24;

/** Returns the direction of the lines: 1 from left to right, -1 from right to left. */
const directionOf = (element: Element): number => (getComputedStyle(element).direction === 'rtl' ? -1 : 1);

/** Tells whether the content under the finger scrolls to the side by itself, as a long line of code does. */
const scrollsAside = (target: EventTarget | null): boolean => {
  const box = target instanceof Element ? target.closest('pre') : null;
  return box !== null && box.scrollWidth > box.clientWidth;
};

export function touchOf({ press, swipe }: TouchActions): Touch {
  let from: { x: number; y: number } | null = null;
  let movedBy = 0;

  const actionOf = (element: Element): (() => void) | null =>
    Math.abs(movedBy) < ACTS_AT ? null : swipe(movedBy * directionOf(element) > 0);

  function show(element: HTMLElement): void {
    element.style.translate = movedBy === 0 ? '' : `${movedBy}px`;
    element.classList.toggle('is-swiped', actionOf(element) !== null);
  }

  function end(element: HTMLElement): void {
    from = null;
    movedBy = 0;
    show(element);
  }

  return {
    onContextMenu(event) {
      if ((event as PointerEvent).pointerType !== 'touch') return;
      event.preventDefault();
      press();
    },
    onTouchStart({ touches, target }) {
      const [first, second] = touches;
      const isPossible = first !== undefined && second === undefined && !scrollsAside(target);
      const isInside = isPossible && first.clientX > EDGE && first.clientX < innerWidth - EDGE;
      from = isInside ? { x: first.clientX, y: first.clientY } : null;
    },
    onTouchMove({ touches, currentTarget }) {
      const [finger] = touches;
      if (from === null || finger === undefined) return;
      const [x, y] = [finger.clientX - from.x, finger.clientY - from.y];
      // A finger that begins downwards scrolls.
      if (movedBy === 0 && Math.abs(y) > STARTS_AT && Math.abs(y) > Math.abs(x)) from = null;
      else if (movedBy !== 0 || (Math.abs(x) > STARTS_AT && Math.abs(x) > 2 * Math.abs(y))) {
        movedBy = Math.sign(x) * Math.min(Math.abs(x), 1.5 * ACTS_AT);
        show(currentTarget as HTMLElement);
      }
    },
    onTouchEnd({ currentTarget }) {
      const element = currentTarget as HTMLElement;
      const action = actionOf(element);
      end(element);
      action?.();
    },
    onTouchCancel: ({ currentTarget }) => end(currentTarget as HTMLElement),
  };
}
