import { keyTexts } from '../../texts/key-texts.ts';

/** Says what encryption protects, and what it does not. */
export function Protection() {
  const { protection } = keyTexts.value;
  const lists = [
    [protection.isProtected, protection.protectedList],
    [protection.isNot, protection.notList],
  ] as const;
  return (
    <details class="protection">
      <summary>{protection.title}</summary>
      {lists.map(([title, list]) => (
        <section key={title}>
          <h3>{title}</h3>
          <ul class="stack">
            {list.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </section>
      ))}
      <p class="hint">{protection.web}</p>
    </details>
  );
}
