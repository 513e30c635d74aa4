import Foundation

/// The names that the service's own sources read: of header fields, of parameters and of members.
///
/// They are taken from the sources, so that what a new route reads is tried without being listed
/// here, whether it is documented or not.
struct HostileNames {
  /// Header fields, in lower case. Those that frame a message, or say what becomes of a connection,
  /// are left out: with them nothing behind the head would be tried.
  let fields: [String]
  /// Parameters of queries and members of bodies.
  let members: [String]

  private static let framing: Set = [
    "connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding",
    "upgrade",
  ]
  /// Read by type-safe names.
  private static let alsoRead = ["accept", "content-encoding", "content-type", "user-agent"]

  static func read() throws -> HostileNames {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources").standardized
    var fields = Set(alsoRead)
    var members: Set<String> = []
    for module in ["Endpoints", "Gateway", "HTTPServer", "HTTPWire"] {
      let folder = sources.appending(path: module)
      for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init()
      where path.hasSuffix(".swift") && !path.contains("OpenAPI") {
        let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
        for match in text.matches(of: /(?:field|named|head)[\[(](?:named: |of: )?"([a-z0-9-]+)"/) {
          fields.insert(String(match.1))
        }
        guard module == "Endpoints" else { continue }
        for match in text.matches(of: /(?:\[|case |number\(|has\(|text\()"([A-Za-z][\w.-]*)"/) {
          members.insert(String(match.1))
        }
      }
    }
    return HostileNames(
      fields: fields.subtracting(framing).sorted(), members: members.sorted())
  }
}
