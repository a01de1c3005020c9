/* Shows the OpenAPI document. This page and Swagger UI contact only the service itself. */

/**
 * Keeps the entry that a link of a problem document names in sight, until the user moves the page. Such links lead to a
 * place below the reference, whose height is not final at once.
 */
function showNamed() {
  const { hash } = window.location;
  const named = hash.startsWith('#error') ? document.getElementById(hash.slice(1)) : null;
  const shown = document.getElementById('reference');
  if (named === null || shown === null) return;
  const observer = new ResizeObserver(() => named.scrollIntoView());
  observer.observe(shown);
  for (const moved of ['wheel', 'touchstart', 'keydown', 'pointerdown']) {
    window.addEventListener(moved, () => observer.disconnect(), { once: true, passive: true });
  }
}

/** Finds operations by words. Each word must occur in the tag, the path, the method or the summary. */
function search(tags, phrase) {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (tag) => (each) => {
    const summary = each.getIn(['operation', 'summary']) ?? '';
    const text = `${tag} ${each.get('method')} ${each.get('path')} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags
    .map((tag, name) => tag.update('operations', (operations) => operations.filter(isFound(name))))
    .filter((tag) => tag.get('operations').size > 0);
}

// Runs first, because Swagger UI overwrites what stands behind `#` with its own links.
showNamed();
window.SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  defaultModelsExpandDepth: 0,
  // Swagger UI's validator is a service on another host.
  validatorUrl: null,
  plugins: [{ fn: { opsFilter: search } }],
});
