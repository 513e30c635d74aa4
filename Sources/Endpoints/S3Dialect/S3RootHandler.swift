package import HTTPServer
import HTTPTypes
package import HTTPWire

/// The handler of the S3 dialect with paths from the root: on its own addresses and its own host name.
/// Clients that do not support a path before the bucket (MinIO's, restic, AWS's CRT) need it.
package struct S3RootHandler: RequestHandler {
  /// Its name in metrics, after those of the route table.
  static let pattern = "/{bucket}/{key*}"
  private static let methods: [RequestMethod] = [.get, .put, .post, .delete]

  let endpoint: S3Endpoint
  let cors: CORSPolicy
  /// The host name in lower case, whose subdomains each name a bucket; nil for none.
  let host: String?
  package let names: RequestNames
  /// Nil on a node that is not a replica.
  var replica: ReplicaRouting?

  /// Whether a request is for the dialect's host name or a subdomain of it.
  func handles(_ head: borrowing RequestHead) -> Bool {
    guard host != nil, let name = Self.hostName(head) else { return false }
    return name == host || bucket(in: name) != nil
  }

  package func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    ContentRoute(rule: S3Endpoint.content)
  }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    cors.decorate(&response, for: request)
  }

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? {
    S3Endpoint.refusal(of: error, path: path, requestID: requestID)
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    // Nodes forward to the main addresses.
    if let verdict = request.node { return .misdirected(request, verdict) }
    let writes = ![.get, .head, .options].contains(request.method)
    guard let replica, writes else { return await serve(request) }
    request.note { $0.route = Int32(names.routes.count - 1) }
    var response = await replica.forward(request, S3Endpoint.content, .s3)
    cors.decorate(&response, for: request)
    return response
  }

  /// Responds from this node.
  func serve(_ request: ServerRequest) async -> ServerResponse {
    request.note { $0.route = Int32(names.routes.count - 1) }
    if let preflight = cors.preflight(request) { return preflight }
    var request = request
    request.parameters = parameters(of: request)
    var response: ServerResponse
    if request.method == .options {
      response = ServerResponse(status: .noContent, fields: [.allow: Router.allow(Self.methods)])
    } else if request.method == .head || Self.methods.contains(request.method) {
      response = await endpoint.respond(to: request, isAtRoot: true)
    } else {
      response = endpoint.refuseMethod(request)
      response.fields[.allow] = Router.allow(Self.methods)
    }
    cors.decorate(&response, for: request)
    return response
  }

  /// The bucket and the key in the host and the path, in the form of the dialect's path parameters: the
  /// key still percent-encoded.
  private func parameters(of request: ServerRequest) -> PathParameters {
    var parameters = PathParameters()
    var path = request.path.dropFirst()
    if let bucket = Self.hostName(request.head).flatMap(bucket(in:)) {
      parameters.append("bucket", bucket)
    } else {
      guard !path.isEmpty else { return parameters }
      let bucket = path.prefix { $0 != "/" }
      parameters.append("bucket", PercentCoding.decode(bucket) ?? String(bucket))
      path = path.dropFirst(bucket.count + 1)
    }
    if !path.isEmpty { parameters.append("key", String(path)) }
    return parameters
  }

  private func bucket(in name: String) -> String? {
    guard let host, name.hasSuffix(".\(host)") else { return nil }
    return String(name.dropLast(host.count + 1))
  }

  /// The requested host, in lower case and without a port.
  private static func hostName(_ head: borrowing RequestHead) -> String? {
    head["host"]?.text.lowercased().split(separator: ":").first.map(String.init)
  }
}
