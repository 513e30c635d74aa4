import Cryptography
package import HTTPClient
import HTTPTypes
import LosslessJSON
package import Model

/// The question which node of which cluster answers at an address, signed in both directions. Nodes and commands ask
/// it; no client does.
package struct NodePing: Sendable {
  /// Known only to requests with the signature of a node.
  package static let path = "/v1/node"
  /// In place of a method, so that the signature of an answer is never that of a request.
  static let answerMethod = "ANSWER"

  /// What was found at an address.
  package enum Finding: Hashable, Sendable {
    /// A node with the same secret.
    ///
    /// - Parameter cluster: the identity of its cluster; empty before it has reached PostgreSQL.
    case node(id: String, cluster: String)
    /// A node that does not accept the signature, for this reason.
    case refused(String)
    /// Something else, or a service outside of a cluster.
    case other(status: Int)
    case unreachable(String)
  }

  private let signature: NodeSignature
  private let asker: String
  private let clock: WallClock
  private let random: RandomBytes

  /// - Parameter asker: the id of the asking node, or the name of a command.
  package init(
    _ signature: NodeSignature, asker: String, clock: WallClock, random: RandomBytes
  ) {
    self.signature = signature
    self.asker = asker
    self.clock = clock
    self.random = random
  }

  /// Asks at the address that a node advertises.
  ///
  /// - Parameter send: sends the request, with a time limit.
  package func ask(
    _ url: HTTPURL,
    send: (HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse
  ) async -> Finding {
    let id = Base64URL.encode(random.bytes(16))
    let statement = NodeSignature.Statement(
      node: asker, time: clock.now(), nonce: Base64URL.encode(random.bytes(16)),
      client: NodeSignature.Client(address: nil, isSecure: false), surface: "main", content: .none)
    let host = url.origin.authority
    var request = HTTPClientRequest(
      method: .get, url: HTTPURL(origin: url.origin, target: Self.path), isSafeToRepeat: true)
    request.authority = host
    request.fields[HTTPField.Name("Request-Id")!] = id
    request.fields[LeaderForwarder.FieldName.node] = signature.field(
      statement,
      for: NodeSignature.Request(method: "GET", target: Self.path, host: host, id: id))
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await send(request)
    } catch {
      return .unreachable("\(error)")
    }
    return finding(response, id: id)
  }

  func finding(_ response: HTTPClientResponse, id: String) -> Finding {
    if let refusal = response.fields[LeaderForwarder.FieldName.refusal] {
      return .refused(refusal)
    }
    guard response.status == .ok, let field = response.fields[LeaderForwarder.FieldName.node],
      let document = try? JSONValue(parsing: response.body),
      let cluster = document["cluster"]?.string
    else { return .other(status: response.status.code) }
    do throws(NodeSignature.Fault) {
      let answer = try signature.statement(
        in: field,
        of: NodeSignature.Request(
          method: Self.answerMethod, target: Self.path, host: cluster, id: id), at: clock.now())
      return .node(id: answer.node, cluster: cluster)
    } catch {
      return .refused(error == .expired ? "expired" : "signature")
    }
  }
}

/// What a node answers to a ``NodePing``.
package struct NodeAnswer: Sendable {
  private let node: String
  private let cluster: @Sendable () -> String?
  private let signature: NodeSignature
  private let clock: WallClock

  /// - Parameter cluster: the identity of the cluster; nil before the node has reached PostgreSQL.
  package init(
    node: String, cluster: @escaping @Sendable () -> String?, signature: NodeSignature,
    clock: WallClock
  ) {
    self.node = node
    self.cluster = cluster
    self.signature = signature
    self.clock = clock
  }

  /// - Parameter id: the request's `Request-Id`.
  /// - Returns: the value of `Larder-Node`, and the content.
  package func answer(to id: String) -> (field: String, content: [UInt8]) {
    let cluster = cluster() ?? ""
    let statement = NodeSignature.Statement(
      node: node, time: clock.now(), nonce: "-",
      client: NodeSignature.Client(address: nil, isSecure: false), surface: "main", content: .none)
    let field = signature.field(
      statement,
      for: NodeSignature.Request(
        method: NodePing.answerMethod, target: NodePing.path, host: cluster, id: id))
    let document: JSONValue = ["node": .string(node), "cluster": .string(cluster)]
    return (field, document.bytes)
  }
}
