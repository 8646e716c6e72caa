// Loaded into a process with `node --require`. On SIGUSR2, the process emits a warning, as Node.js and libraries do.
process.on('SIGUSR2', () => {
  process.emitWarning('this is deprecated', { type: 'DeprecationWarning', code: 'TEST' });
});
