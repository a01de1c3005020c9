/* Shows the OpenAPI document. Nothing here or in Swagger UI asks anybody but the service itself. */

/**
 * Links of problem documents lead below what is shown here. Its height is not there at once: what they name stays in
 * sight until somebody moves the page.
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

/** Every word that is looked for stands in the tag, the path, the method or the summary of what is found. */
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

// First: it writes links of its own kind over what stands behind `#`.
showNamed();
window.SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  defaultModelsExpandDepth: 0,
  // Its validator is a service on another host.
  validatorUrl: null,
  plugins: [{ fn: { opsFilter: search } }],
});
