/** The id of the recovery words in a ring. */
export const WORDS_ID = 'recovery-words';
/** The kind of the recovery words in a ring. */
export const WORDS_KIND = 'words';
