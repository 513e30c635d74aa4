import HTTPServer
import HTTPWire

/// The handler of a node of a cluster, around that of a single machine: they differ in what they do before and
/// after it responds.
protocol NodeHandler: RequestHandler {
  var inner: LarderHandler { get }
}

extension NodeHandler {
  package var names: RequestNames { inner.names }

  package func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    inner.contentRoute(for: head)
  }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    inner.decorate(&response, for: request)
  }

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? {
    inner.refusal(of: error, path: path, requestID: requestID)
  }
}
