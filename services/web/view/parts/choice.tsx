interface ChoiceProps<T extends string> {
  legend: string;
  options: readonly (readonly [T, string])[];
  chosen: T;
  choose: (value: T) => void;
}

/** Offers a choice of a few options under a legend. */
export function Choice<T extends string>({ legend, options, chosen, choose }: ChoiceProps<T>) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(([value, label]) => (
        <label key={value} class="check">
          <input type="radio" name={legend} checked={value === chosen} onChange={() => choose(value)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
