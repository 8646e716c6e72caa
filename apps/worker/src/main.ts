import 'reflect-metadata';
import { createLogger, loadWorkerConfig, runProcess } from '@app/runtime';
import { createApp } from './app.js';

runProcess(async () => {
  const config = loadWorkerConfig();
  return createApp(config, await createLogger('worker', config.logLevel));
});
