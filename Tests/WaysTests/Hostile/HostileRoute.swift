import Foundation
import LosslessJSON

/// A line of the route table with the request that `/openapi.json` documents for it.
struct HostileRoute {
  /// The line of the table: `GET /v1/entities/{type}`.
  let line: String
  let method: String
  /// The documented path, with the names of its parameters in braces.
  let path: String
  let pathNames: [String]
  let queryNames: [String]
  /// The required query parameters.
  let neededQueryNames: [String]
  let fieldNames: [String]
  /// The schema of the JSON body; nil if there is none.
  let body: JSONValue?

  /// The routes for a line: for `{name}`, one of the operations. Empty if the document does not have the
  /// line.
  static func all(of line: String, in document: JSONValue) -> [HostileRoute] {
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 2, let documented = document["paths"]?.members else { return [] }
    let method = words[0].lowercased()
    let wanted = words[1].replacing("{key*}", with: "{key}")
    // The paths of a page's files are in no document.
    if wanted.contains("...") {
      return [HostileRoute(line, method, "/{path}", ["parameters": []], shared: nil, document)]
    }
    var paths = documented.filter { $0.value[method] != nil }
    if wanted.hasPrefix("/v1/operations/{name}") {
      let below = wanted.dropFirst("/v1/operations/{name}".count)
      paths = paths.filter { path in
        path.name.hasPrefix("/v1/operations/") && path.name.hasSuffix(below)
          && path.name.filter { $0 == "/" }.count == wanted.filter { $0 == "/" }.count
      }
    } else {
      paths = paths.filter { path in
        // In the table, the action after a key is part of the key.
        path.name == wanted || wanted.hasSuffix("/{key}") && path.name.hasPrefix("\(wanted)/")
      }
    }
    return paths.compactMap { path in
      path.value[method].map {
        HostileRoute(
          line, method, path.name, $0, shared: path.value["parameters"], document)
      }
    }
  }

  private init(
    _ line: String, _ method: String, _ path: String, _ operation: JSONValue, shared: JSONValue?,
    _ document: JSONValue
  ) {
    self.line = line
    self.method = method.uppercased()
    self.path = path
    let parameters = ((shared?.array ?? []) + (operation["parameters"]?.array ?? []))
      .map { Self.resolved($0, in: document) }
    func names(_ place: String, isNeeded: Bool = false) -> [String] {
      parameters.filter {
        $0["in"]?.string == place && (!isNeeded || $0["required"]?.bool == true)
      }.compactMap { $0["name"]?.string }
    }
    pathNames = path.matches(of: /{([A-Za-z_]\w*)}/).map { String($0.1) }
    queryNames = names("query")
    neededQueryNames = names("query", isNeeded: true)
    fieldNames = names("header").map { $0.lowercased() }
    body = (operation["requestBody"]?["content"]?["application/json"]?["schema"])
      .map { Self.expanded($0, in: document, depth: 6) }
  }

  /// The component that a reference names; any other value itself.
  private static func resolved(_ value: JSONValue, in document: JSONValue) -> JSONValue {
    guard let path = value["$ref"]?.string else { return value }
    let names = path.split(separator: "/").dropFirst().map(String.init)
    return names.reduce(document) { $0?[$1] } ?? value
  }

  /// A schema with the components that it refers to in place of references.
  private static func expanded(
    _ value: JSONValue, in document: JSONValue, depth: Int
  ) -> JSONValue {
    guard depth > 0 else { return value }
    return switch resolved(value, in: document) {
    case .object(let members):
      .object(
        members.map {
          JSONMember(
            $0.name,
            expanded($0.value, in: document, depth: value["$ref"] == nil ? depth : depth - 1))
        })
    case .array(let elements):
      .array(elements.map { expanded($0, in: document, depth: depth) })
    case let other: other
    }
  }

  /// The places of values in a body, each as the path of members that leads there; `0` stands for the
  /// elements of a list.
  var bodyPlaces: [[String]] { body.map { Self.places(in: $0, depth: 4) } ?? [] }

  private static func places(in schema: JSONValue, depth: Int) -> [[String]] {
    var found: [[String]] = []
    guard depth > 0 else { return found }
    for member in schema["properties"]?.members ?? [] {
      found.append([member.name])
      found += places(in: member.value, depth: depth - 1).map { [member.name] + $0 }
    }
    if let items = schema["items"] {
      found.append(["0"])
      found += places(in: items, depth: depth - 1).map { ["0"] + $0 }
    }
    for choice in (schema["oneOf"]?.array ?? []) + (schema["anyOf"]?.array ?? []) {
      found += places(in: choice, depth: depth - 1)
    }
    return found
  }
}

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
