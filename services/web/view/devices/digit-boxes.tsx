import type { RefObject } from 'preact';

/** How many digits a new device shows. */
export const DIGITS = 6;

interface DigitBoxesProps {
  field: RefObject<HTMLInputElement | null>;
  value: string;
  isWrong: boolean;
  isRight: boolean;
  onType: (text: string) => void;
}

/** One field for all digits, so that pasting and proposals of the browser work. It lies over a box for each digit. */
export function DigitBoxes({ field, value, isWrong, isRight, onType }: DigitBoxesProps) {
  return (
    <span class={`digit-boxes ${isRight ? 'is-right' : ''}`} dir="ltr">
      <input
        ref={field}
        inputMode="numeric"
        autocomplete="one-time-code"
        aria-invalid={isWrong}
        readOnly={isRight}
        value={value}
        onInput={(event) => {
          const { currentTarget } = event;
          onType(currentTarget.value);
          // Characters other than digits are not shown.
          currentTarget.value = currentTarget.value.replace(/\D/g, '').slice(0, DIGITS);
        }}
      />
      {Array.from({ length: DIGITS }, (_, at) => (
        <span key={at} aria-hidden="true" class={at === value.length ? 'is-next' : ''}>
          {value[at] ?? ''}
        </span>
      ))}
    </span>
  );
}
