/**
 * What is made from code, so that no document can tell another story: a whole file, or, with `section`, the part of a
 * Markdown file between `<!-- generated:<section> -->` and `<!-- /generated:<section> -->`.
 * `make({built})` gives the text without the markers, also as a promise; `built('services/sync/config.js')` imports a
 * module of the build.
 */
export const GENERATED = [];
