/** Characters that change the direction of the letters after them. */
const TURNING = /\p{Bidi_Control}/gu;

/**
 * Isolates words of somebody else in a sentence, so that neither reorders the other. A character that would change the
 * direction of letters is visible.
 */
export const isolated = (text: string): string => `\u2068${text.replace(TURNING, '\ufffd')}\u2069`;
