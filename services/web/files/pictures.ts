/** Tells whether every browser can draw this type, and it carries no script, unlike SVG. */
export const isPicture = (type: string | null): boolean => /^image\/(png|jpeg|gif|webp|avif)$/.test(type ?? '');
