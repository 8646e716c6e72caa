import { once } from 'node:events';
import { connect } from 'node:net';
import { mongo } from 'mongoose';

const OP_MSG = 2013;
const HEADER_BYTES = 16;

/** Binary data of subtype 2 repeats its length. */
export const UNREADABLE = new mongo.Binary(Buffer.from('??'), 2);

/** Inserts a document in which the driver cannot read {@link UNREADABLE}, because the repeated length is wrong. */
export async function insertUnreadable(uri: string, collection: string, document: mongo.Document): Promise<void> {
  const bytes = Buffer.from(mongo.BSON.serialize(document));
  bytes.writeInt32LE(999, bytes.indexOf('??') - 4);
  await insertBson(uri, collection, bytes);
}

/**
 * Inserts a document as it is, because drivers send only text that is UTF-8.
 *
 * @see https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg
 */
export async function insertBson(uri: string, collection: string, document: Uint8Array): Promise<void> {
  const { hostname, port, pathname } = new URL(uri);
  const command = mongo.BSON.serialize({ insert: collection, $db: pathname.slice(1) });
  const documents = Buffer.concat([Buffer.from('documents\0'), document]);
  const sections = [Buffer.of(0), command, Buffer.of(1), int32(4 + documents.length), documents];
  const message = Buffer.concat([int32(0), ...sections]);
  const header = [HEADER_BYTES + message.length, 1, 0, OP_MSG].map(int32);
  const socket = connect(Number(port), hostname).end(Buffer.concat([...header, message]));
  const [response] = (await once(socket, 'data')) as [Buffer];
  const { ok, n } = mongo.BSON.deserialize(response.subarray(HEADER_BYTES + 5));
  if (ok !== 1 || n !== 1) throw new Error('the document was not inserted');
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
