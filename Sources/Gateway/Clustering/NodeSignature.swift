import Cryptography
package import Model

/// Signs the requests that the nodes of a cluster forward to each other, and checks the signatures:
/// HMAC-SHA-256 under a key derived from the secret that all nodes share.
///
/// The signature is in one field, `Larder-Node`, as words with single blanks between them:
/// `1 <node> <time> <nonce> <address> <scheme> <host> <surface> <content> <code>`. The code covers these
/// words and what the request states elsewhere: method, target, `Host` and `Request-Id`.
package struct NodeSignature: Sendable {
  /// The field, in lower case.
  package static let fieldName = "larder-node"
  /// How far the time of a signature can be from the receiver's clock, in both directions.
  package static let window = Duration.seconds(30)
  /// The fewest bytes of a secret.
  package static let secretBytesMin = 32

  private static let version = "1"
  private static let wordCount = 10
  /// Longer values are refused before anything is computed.
  private static let bytesMax = 1_024
  private static let absent = "-"
  private static let streamed = "streamed"

  /// What the forwarding node states of the content.
  package enum Content: Hashable, Sendable {
    case none
    /// The SHA-256 digest of the whole content, in hexadecimal digits.
    case digest(String)
    /// The content is sent as it arrives, and its digest is not known yet.
    case streamed
  }

  /// The client of the forwarded request.
  package struct Client: Hashable, Sendable {
    /// Its numeric address; nil over a Unix socket.
    package var address: String?
    package var isSecure: Bool
    /// The authority that a trusted proxy reported; nil without one.
    package var host: String?

    package init(address: String?, isSecure: Bool, host: String? = nil) {
      self.address = address
      self.isSecure = isSecure
      self.host = host
    }
  }

  /// What a signature states.
  package struct Statement: Hashable, Sendable {
    /// The id of the forwarding node.
    package var node: String
    package var time: Timestamp
    /// Random, and different in each request.
    package var nonce: String
    package var client: Client
    /// The part of the service that the client called, see `NodeCall.Surface` of HTTPServer.
    package var surface: String
    package var content: Content

    package init(
      node: String, time: Timestamp, nonce: String, client: Client, surface: String,
      content: Content
    ) {
      self.node = node
      self.time = time
      self.nonce = nonce
      self.client = client
      self.surface = surface
      self.content = content
    }
  }

  /// What the request states outside the signature's field.
  package struct Request: Hashable, Sendable {
    package var method: String
    /// As in the request line.
    package var target: String
    /// The value of `Host`.
    package var host: String
    /// The value of `Request-Id`.
    package var id: String

    package init(method: String, target: String, host: String, id: String) {
      self.method = method
      self.target = target
      self.host = host
      self.id = id
    }
  }

  /// The reason that a signature is refused.
  package enum Fault: Error, Hashable, Sendable {
    /// The field has another form: another version wrote it, or a client that is no node.
    case malformed
    /// The code does not fit: the nodes have different secrets, or the request was altered.
    case altered
    /// The time is not within ``NodeSignature/window`` of now: an old request, or clocks apart.
    case expired
  }

  private let key: SymmetricKey

  /// - Parameter secret: at least ``secretBytesMin`` bytes.
  package init(secret: some Collection<UInt8>) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Array(secret)),
      info: Array("larder/cluster/node-signature".utf8), outputByteCount: 32)
  }

  /// The value of the field for a request.
  package func field(_ statement: Statement, for request: Request) -> String {
    let words = Self.words(of: statement)
    return (words + [Base64URL.encode(code(words, request))]).joined(separator: " ")
  }

  /// Checks the field of a request.
  ///
  /// The time is checked after the code, so that only nodes learn that their clocks are apart.
  package func statement(
    in field: String, of request: Request, at now: Timestamp
  ) throws(Fault) -> Statement {
    guard field.utf8.count <= Self.bytesMax else { throw .malformed }
    let words = field.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == Self.wordCount, let statement = Self.statement(words) else {
      throw .malformed
    }
    guard let given = Base64URL.decode(words[Self.wordCount - 1]),
      HMAC<SHA256>.isValidAuthenticationCode(
        given, authenticating: Self.text(Array(words.dropLast()), request), using: key)
    else { throw .altered }
    let age = statement.time.distance(to: now)
    guard age <= Self.window, age >= .zero - Self.window else { throw .expired }
    return statement
  }

  /// The digest of content, as ``Content/digest(_:)`` states it.
  package static func digest(of content: [UInt8]) -> String {
    Hexadecimal.encode(SHA256.hash(data: content))
  }

  private func code(_ words: [String], _ request: Request) -> SHA256.Digest {
    HMAC<SHA256>.authenticationCode(for: Self.text(words, request), using: key)
  }

  /// What the code covers. No part contains a line feed: a parsed head has none in its target and values.
  private static func text(_ words: [String], _ request: Request) -> [UInt8] {
    Array(
      ([words.joined(separator: " "), request.method, request.target, request.host, request.id])
        .joined(separator: "\n").utf8)
  }

  private static func words(of statement: Statement) -> [String] {
    let content =
      switch statement.content {
      case .none: absent
      case .digest(let digest): digest
      case .streamed: streamed
      }
    return [
      version, statement.node, "\(statement.time.milliseconds)", statement.nonce,
      statement.client.address ?? absent, statement.client.isSecure ? "https" : "http",
      statement.client.host ?? absent, statement.surface, content,
    ]
  }

  private static func statement(_ words: [String]) -> Statement? {
    guard words[0] == version, words.allSatisfy({ !$0.isEmpty }),
      let time = Int64(words[2]), words[5] == "https" || words[5] == "http",
      let content = content(words[8])
    else { return nil }
    return Statement(
      node: words[1], time: Timestamp(milliseconds: time), nonce: words[3],
      client: Client(
        address: words[4] == absent ? nil : words[4], isSecure: words[5] == "https",
        host: words[6] == absent ? nil : words[6]),
      surface: words[7], content: content)
  }

  private static func content(_ word: String) -> Content? {
    switch word {
    case absent: return Content.none
    case streamed: return .streamed
    default:
      let isDigest =
        word.utf8.count == 64
        && word.utf8.allSatisfy { byte in
          (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
        }
      return isDigest ? .digest(word) : nil
    }
  }
}
