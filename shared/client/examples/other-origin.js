import { makeBatonClient } from '@baton/client';

const [connect, send] = [document.querySelector('#connect'), document.querySelector('#send')];
const [state, received] = [document.querySelector('#state'), document.querySelector('#received')];
let baton = null;

connect.addEventListener('submit', (event) => {
  event.preventDefault();
  const { service, token } = connect.elements;
  void baton?.close();
  // No cookie goes to another origin: the token says who this is.
  baton = makeBatonClient({ baseUrl: service.value, headers: { Authorization: `Bearer ${token.value}` } });
  baton.on('state', (now) => {
    state.textContent = now;
  });
  baton.on('problem', ({ message }) => {
    state.textContent = message;
  });
  baton.on('presence', (devices) => {
    send.elements.to.replaceChildren(...devices.map(({ name, device_id }) => new Option(name, device_id)));
  });
  baton.messages.receive(({ content }) => {
    received.append(Object.assign(document.createElement('li'), { textContent: content }));
  });
  baton.start();
});

send.addEventListener('submit', (event) => {
  event.preventDefault();
  const { to, text } = send.elements;
  void baton.messages.send({ device_id: to.value }, text.value).then(() => {
    text.value = '';
  });
});
