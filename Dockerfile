# Three targets that share all their layers: `api`, `worker`, and `cli` for the one-shots (setup, demo catalogue).
#   docker build --target worker -t item-listing-worker .
# Where Docker Hub is not reached: --build-arg NODE_IMAGE=registry.example.com/node:24-bookworm-slim
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# Before the sources: a change of code does not install everything again.
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY apps apps
COPY libs libs
RUN npm run build

FROM ${NODE_IMAGE} AS production-dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE} AS cli
ENV NODE_ENV=production
WORKDIR /app
COPY --from=production-dependencies /app/package.json ./
COPY --from=production-dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# Everything above belongs to root: the process can read itself and change nothing.
USER node
# Exec form, here and below: a shell in between would swallow the SIGTERM that the processes stop in order on.
CMD ["node", "dist/apps/cli/src/setup.js"]

# Ready, not live, in both checks below: a container is healthy when it does its work. A database that goes away leaves
# the API ready, which then answers with 503s, and makes workers unhealthy; where that restarts them nothing is lost.
FROM cli AS worker
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WORKER_PORT || 3001) + '/health/ready').then(async (answer) => { console.log(await answer.text()); process.exit(answer.ok ? 0 : 1) })"]
CMD ["node", "--v8-pool-size=1", "dist/apps/worker/src/main.js"]

FROM cli AS api
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health/ready').then(async (answer) => { console.log(await answer.text()); process.exit(answer.ok ? 0 : 1) })"]
CMD ["node", "--v8-pool-size=1", "dist/apps/api/src/main.js"]
