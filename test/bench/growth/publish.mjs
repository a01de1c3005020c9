export const publish = () => {};
