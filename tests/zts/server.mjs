// An HTTP server with PHP's threads in its own process. Used by tests/zts/server_test.
//
//   node server.mjs MODULE DOCUMENT_ROOT SOCKET       MODULE: that of @platformatic/php-node
import { createServer } from 'node:http'

const [, , module, docroot, socket] = process.argv
const { Php, Request } = await import(module)
const php = new Php({ docroot })

createServer(async (request, response) => {
  const answer = await php.handleRequest(new Request({ url: `http://localhost${request.url}` }))
  response.writeHead(answer.status).end(answer.body)
}).listen(socket)
