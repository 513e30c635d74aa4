/// Settings of a cluster: several nodes on one PostgreSQL, one of which leads.
package struct ClusterSettings: Sendable {
  /// The name by default. The tables of others have it in the name of their schema.
  package static let nameDefault = "larder"

  /// When the leader writes a snapshot, from which a new node starts.
  package struct Snapshots: Sendable {
    /// The maximum age of the latest snapshot.
    package var interval = Duration.seconds(3_600)
    /// The maximum size of the log since the latest snapshot.
    package var logBytesMax = 1 << 30
  }

  /// The database that the nodes share; nil = a single machine.
  package var postgres: PostgresURL?
  /// The URL at which the other nodes reach this one; nil only for a single machine.
  package var advertise: ServiceURL?
  /// Authenticates the nodes to each other; nil only for a single machine.
  package var secret: Secret?
  /// Clusters of different names in one database do not see each other.
  package var name = nameDefault
  /// How long the leader leads without renewing its lease.
  package var lease = Duration.seconds(5)
  /// Whether this node can become the leader.
  package var isCandidate = true
  package var snapshots = Snapshots()

  /// Whether this node belongs to a cluster.
  package var isOn: Bool { postgres != nil }
}

/// A connection URI of libpq (PostgreSQL 15 manual, section 34.1.1.2), with the hosts that it names.
/// It can contain a password, and shows as asterisks.
package struct PostgresURL: Hashable, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible,
  CustomReflectable
{
  package static let schemes = ["postgres", "postgresql"]

  /// The URI as written, for libpq alone.
  package let revealed: Secret
  /// Host names and addresses without brackets, or the folders of Unix sockets; empty for libpq's default.
  package let hosts: [String]
  /// The parameters after the question mark, without passwords.
  package let parameters: [String: String]

  package var description: String { Secret.mask }
  package var debugDescription: String { Secret.mask }
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// Whether each host is this machine.
  package var isLocal: Bool {
    hosts.allSatisfy { $0.hasPrefix("/") || HostName.isLoopback($0) }
  }

  init(parsing text: String) throws(ValueRefusal) {
    guard let mark = text.firstRange(of: "://"),
      Self.schemes.contains(text[..<mark.lowerBound].lowercased())
    else { throw ValueRefusal("it must begin with postgres:// or postgresql://") }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw ValueRefusal("blanks, control and non-ASCII characters must be percent-encoded")
    }
    guard !text.contains("#") else { throw ValueRefusal("`#` must be written as %23") }
    let rest = text[mark.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    parameters = try Self.parameters(rest.drop { $0 != "?" }.dropFirst())
    var names = try Self.hosts(authority)
    // As in libpq, parameters override the address.
    if let host = parameters["host"] { names = host.split(separator: ",").map(String.init) }
    hosts = names
    revealed = Secret(text)
  }

  private static func hosts(_ authority: Substring) throws(ValueRefusal) -> [String] {
    var list = authority
    if let at = authority.lastIndex(of: "@") {
      // libpq ends the user's part at the first one.
      guard authority[..<at].firstIndex(of: "@") == nil else {
        throw ValueRefusal("`@` in a user name or password must be written as %40")
      }
      list = authority[authority.index(after: at)...]
    }
    guard !list.isEmpty else { return [] }
    var hosts: [String] = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      var host = part
      var port: Substring?
      if part.hasPrefix("["), let end = part.firstIndex(of: "]") {
        host = part[part.index(after: part.startIndex)..<end]
        let after = part[part.index(after: end)...]
        guard HostName.isIPv6(String(host)), after.isEmpty || after.hasPrefix(":") else {
          throw ValueRefusal("the host is not valid; write an IPv6 address in brackets")
        }
        port = after.isEmpty ? nil : after.dropFirst()
      } else {
        if let colon = part.firstIndex(of: ":") {
          host = part[..<colon]
          port = part[part.index(after: colon)...]
        }
        guard let name = decoded(host),
          name.isEmpty || name.hasPrefix("/") || HostName.isValid(name)
        else { throw ValueRefusal("the host is not valid; write an IPv6 address in brackets") }
        if !name.isEmpty { hosts.append(name) }
        host = ""
      }
      if !host.isEmpty { hosts.append(String(host)) }
      if let port, !port.isEmpty {
        guard let number = UInt16(decimal: port), number > 0 else {
          throw ValueRefusal("its port must be 1 to 65535")
        }
      }
    }
    return hosts
  }

  private static func parameters(_ query: Substring) throws(ValueRefusal) -> [String: String] {
    var parameters: [String: String] = [:]
    for part in query.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, let name = decoded(pair[0]), let value = decoded(pair[1]) else {
        throw ValueRefusal("its parameters must be written as name=value with & between them")
      }
      if name != "password", name != "sslpassword" { parameters[name] = value }
    }
    return parameters
  }

  /// Decodes percent-encoded text; nil for a faulty code.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let code = UInt8(String(Substring(rest.prefix(2))), radix: 16),
        code != 0
      else { return nil }
      rest = rest.dropFirst(2)
      bytes.append(code)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
