import { makeBatonClient } from '@baton/client';

const list = document.querySelector('#devices');
const state = document.querySelector('#state');
const baton = makeBatonClient({ baseUrl: '' });

function show(devices) {
  const rows = devices.map(({ name, online, last_seen_at }) => {
    const row = document.createElement('li');
    row.className = online ? 'online' : '';
    row.textContent = name;
    if (last_seen_at !== null) row.title = new Date(last_seen_at).toLocaleString();
    return row;
  });
  list.replaceChildren(...rows);
}

baton.on('presence', show);
baton.on('state', (now) => {
  state.textContent = now;
});
baton.on('problem', ({ action, message }) => {
  // Whoever is not signed in is sent to the login, which comes back here.
  if (action === 'sign-in') location.href = `/api/auth/login?return_to=${encodeURIComponent(location.pathname)}`;
  else state.textContent = message;
});
baton.start();
