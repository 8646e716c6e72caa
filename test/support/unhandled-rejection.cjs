// Loaded into a process with `node --require`. On SIGUSR2, a promise is rejected that nothing handles, with an error that
// has the command that failed, as those of ioredis do.
process.on('SIGUSR2', () => {
  const command = { name: 'evalsha', args: ['nobody may read this'] };
  void Promise.reject(Object.assign(new Error('nobody handles this'), { command }));
});
