package import HTTPWire

/// A request that another node of a cluster forwards, with the client it came from.
package struct NodeCall: Sendable, Equatable {
  /// What the forwarding node states of the content, which only its reader can check.
  package enum Content: Sendable, Equatable {
    case none
    /// The SHA-256 digest of the whole content, in hexadecimal digits.
    case digest(String)
    /// Sent while the client sends it: nothing is stated.
    case streamed
  }

  /// The part of the service that the client called.
  package enum Surface: String, Sendable {
    case main
    /// The addresses that serve only the S3 dialect.
    case s3
  }

  /// The id of the forwarding node.
  package let node: String
  package let content: Content
  package let surface: Surface

  package init(node: String, content: Content, surface: Surface = .main) {
    self.node = node
    self.content = content
    self.surface = surface
  }
}

/// The judgement of the fields with which nodes of a cluster forward requests to each other.
package indirect enum NodeVerdict: Sendable, Equatable {
  /// The client is that of the forwarding node's request.
  case accepted(NodeCall, ProxiedClient)
  /// The fields are not right, for this reason. The peer counts as the client, and handlers must refuse
  /// the request: it is never served as one that was not forwarded.
  case refused(String)
}

/// Judges the requests of nodes of a cluster.
package struct NodeJudge: Sendable {
  package typealias Judge =
    @Sendable (_ head: borrowing RequestHead, _ secondsSince1970: Int64) -> NodeVerdict?

  package let judge: Judge

  /// - Parameter judge: returns nil for a request of a client. Must be quick: every request passes it.
  package init(_ judge: @escaping Judge) {
    self.judge = judge
  }
}
