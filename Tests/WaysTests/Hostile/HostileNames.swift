import Foundation

/// The names that the service's sources read: of header fields, parameters and members.
///
/// They are extracted from the sources, so that inputs of a new route are tried without being listed here,
/// documented or not.
struct HostileNames {
  /// Header fields, in lower case, without those that frame a message or control the connection: with them
  /// nothing after the head would be tried.
  let fields: [String]
  /// Parameters of queries and members of bodies.
  let members: [String]

  private static let framing: Set = [
    "connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding",
    "upgrade",
  ]
  /// Fields that the sources read by typed names.
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
