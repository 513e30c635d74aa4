package import Gateway
package import HTTPServer
import HTTPWire
package import Model

extension NodeJudge {
  /// Judges requests by the signatures of a cluster's nodes.
  ///
  /// - Parameter nonces: those of the requests accepted so far, for the life of the process.
  package static func signed(
    _ signature: NodeSignature, nonces: SeenNonces, clock: WallClock
  ) -> NodeJudge {
    NodeJudge { head, _ in
      guard let field = head["larder-node"] else { return nil }
      return verdict(field.text, on: head, signature, nonces, at: clock.now())
    }
  }

  private static func verdict(
    _ field: String, on head: borrowing RequestHead, _ signature: NodeSignature,
    _ nonces: SeenNonces, at now: Timestamp
  ) -> NodeVerdict {
    let request = NodeSignature.Request(
      method: head.method.name, target: head.target.text, host: head["host"]?.text ?? "",
      id: head["request-id"]?.text ?? "")
    let statement: NodeSignature.Statement
    do throws(NodeSignature.Fault) {
      guard !head.fields.repeats("larder-node") else { throw .malformed }
      statement = try signature.statement(in: field, of: request, at: now)
    } catch {
      let refusal: NodeRefusal =
        switch error {
        case .malformed, .altered: .signature
        case .expired: .expired
        }
      return .refused(refusal.rawValue)
    }
    let stated = statement.client
    guard
      let client = ProxiedClient(
        numericAddress: stated.address, isSecure: stated.isSecure, host: stated.host),
      let surface = NodeCall.Surface(rawValue: statement.surface)
    else { return .refused(NodeRefusal.signature.rawValue) }
    // Repeating a safe request changes nothing.
    let isSafe = head.method == .get || head.method == .head || head.method == .options
    guard isSafe || nonces.note(statement.nonce, at: now) else {
      return .refused(NodeRefusal.replayed.rawValue)
    }
    let content: NodeCall.Content =
      switch statement.content {
      case .none: .none
      case .digest(let digest): .digest(digest)
      case .streamed: .streamed
      }
    return .accepted(
      NodeCall(node: statement.node, content: content, surface: surface), client)
  }
}
