async function check() {
  return 0;
}

export { check };
