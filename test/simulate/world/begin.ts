/** The wall clock of every simulation begins here. */
export const BEGINS_AT_MS = Date.UTC(2026, 0, 1);
