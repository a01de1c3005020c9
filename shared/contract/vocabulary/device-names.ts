/**
 * Returns how a device name looks. Two names are equal when this is the same, without regard to case and to repeated spaces
 * (CONTRACT.md, "Conventions"). Scripts compare by the same rule (`devices/names.lua`).
 */
export const looksOf = (name: string): string => name.trim().replace(/ +/g, ' ').toLowerCase();
