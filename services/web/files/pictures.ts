/** What every browser here can draw, and that carries no script: SVG does. */
export const isPicture = (type: string | null): boolean => /^image\/(png|jpeg|gif|webp|avif)$/.test(type ?? '');
