import HTTPWire

/// Text that must not reach a log, a fault, a dump or a response: however it is printed, it shows as
/// asterisks. Only ``revealed`` returns the text.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The text shown for any secret; its length reveals nothing.
  package static let mask = "********"

  package let revealed: String

  package init(_ text: String) {
    revealed = text
  }

  package var description: String { Self.mask }
  package var debugDescription: String { Self.mask }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Lexical operations on paths, without access to the disk.
enum FolderPath {
  /// Resolves a path.
  ///
  /// - Parameter folder: the folder that a relative path starts from, which is the settings file's.
  static func resolve(_ path: String, in folder: String) throws(ValueRefusal) -> String {
    guard !path.isEmpty else { throw ValueRefusal("it is empty") }
    guard !path.unicodeScalars.contains(where: { $0.value == 0 }) else {
      throw ValueRefusal("a path must not contain NUL")
    }
    if path.hasPrefix("/") { return path }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    return rest.isEmpty || rest == "." ? folder : "\(folder)/\(rest)"
  }

  /// The folder of a file, `.` for a bare name.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether `path` is `folder` or inside it, after removing `.` and `..` from both.
  static func isInside(_ path: String, _ folder: String) -> Bool {
    components(path).starts(with: components(folder))
  }

  private static func components(_ path: String) -> [Substring] {
    var parts: [Substring] = path.hasPrefix("/") ? ["/"] : []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != "..", last != "/" {
        parts.removeLast()
      } else {
        parts.append(part)
      }
    }
    return parts
  }
}

/// Header field names that settings can use: tokens, except those that belong to the connection or
/// are set by this service.
enum FieldName {
  /// Fields of one connection or of one message's framing (RFC 9110 section 7.6.1); forwarding them
  /// enables request smuggling.
  private static let connectionFields: Set<String> = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Fields that the service sets on each upstream request.
  private static let serviceFields: Set<String> = [
    "accept", "accept-encoding", "content-encoding", "content-type", "idempotency-key",
    "traceparent", "tracestate",
  ]

  /// Fields that this service handles, and that upstream has no use for or must not see; each would
  /// also split the cache.
  private static let handledFields: Set<String> = [
    "cache-control", "device-token", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "last-event-id", "range",
  ]

  /// - Returns: the name in lower case.
  static func parse(_ text: String, forwarded: Bool) throws(ValueRefusal) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isTokenByte) else {
      throw ValueRefusal("a field name consists of letters, digits and !#$%&'*+-.^_`|~")
    }
    let name = text.lowercased()
    if connectionFields.contains(name) {
      throw ValueRefusal("that field belongs to the connection, not to the request")
    }
    if serviceFields.contains(name) {
      throw ValueRefusal("the service sets that field itself on each upstream request")
    }
    if forwarded, handledFields.contains(name) {
      throw ValueRefusal("this service handles that field, and never forwards it")
    }
    return name
  }
}

extension FixedWidthInteger {
  /// Parses digits only, without the sign that `init(_:)` would accept.
  init?(decimal text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Self(text, radix: 10)
    else { return nil }
    self = number
  }
}

extension UInt8 {
  var isASCIIAlphanumeric: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }
}
