// Starts OpenTelemetry as its documentation shows it (https://opentelemetry.io/docs/languages/js/getting-started/nodejs/),
// in a process that is started with `node --require`.
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { NestInstrumentation } = require('@opentelemetry/instrumentation-nestjs-core');
const { MongoDBInstrumentation } = require('@opentelemetry/instrumentation-mongodb');
const { IORedisInstrumentation } = require('@opentelemetry/instrumentation-ioredis');

new NodeSDK({
  serviceName: 'from-require',
  instrumentations: [
    new HttpInstrumentation(),
    new ExpressInstrumentation(),
    new NestInstrumentation(),
    new MongoDBInstrumentation(),
    new IORedisInstrumentation(),
  ],
}).start();
