/** A text in the forms that a language has for counts; `other` where it has no more. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** The form for a count, by the rules of the platform (CLDR, through `Intl.PluralRules`). */
export function pluralOf(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language);
  return (count, forms) => forms[rules.select(count)] ?? forms.other;
}
