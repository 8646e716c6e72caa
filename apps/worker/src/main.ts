import 'reflect-metadata';
import { createLogger, loadWorkerConfig, runProcess } from '@app/runtime';
import { createApp } from './app.js';

runProcess(() => {
  const config = loadWorkerConfig();
  return createApp(config, createLogger('worker', config.logLevel));
});
