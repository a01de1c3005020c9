/** Returns the value of a JSON text; null if it is damaged, which no form of the contract allows. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
