import GraphQL
import HTTPClient
import HTTPTypes
import LosslessJSON
import Model

/// Three requests to a temporary service with new operations, as lines of curl with what came back.
struct Trial {
  /// The maximum number of elements that a list is asked for.
  private static let listLength = 3

  private let operations: [DraftedOperation]
  /// The address that the lines show: that of the settings.
  private let shownAddress: String
  private let service: TemporaryService
  /// Of a signed-in user; nil for an anonymous caller.
  private let token: String?
  private var lines: [String] = []

  /// - Parameters:
  ///   - operations: those of ``choose(from:)``.
  ///   - needsUser: whether only signed-in users can call the operations.
  /// - Returns: the lines to print.
  static func run(
    _ workspace: Workspace, _ operations: [DraftedOperation], shownAddress: String,
    needsUser: Bool
  ) async throws -> [String] {
    var workspace = workspace
    let admin = RandomName.make()
    if needsUser { workspace = workspace.with(adminToken: Secret(admin)) }
    return try await TemporaryService.run(workspace) { service in
      let token = needsUser ? try await signUp(service, admin: admin) : nil
      var trial = Trial(
        operations: operations, shownAddress: shownAddress, service: service, token: token)
      try await trial.run()
      return trial.lines
    }
  }

  private init(
    operations: [DraftedOperation], shownAddress: String, service: TemporaryService, token: String?
  ) {
    self.operations = operations
    self.shownAddress = shownAddress
    self.service = service
    self.token = token
  }

  /// Creates a user, who ends with the service.
  private static func signUp(
    _ service: TemporaryService, admin: String
  ) async throws -> String? {
    let body: JSONValue = [
      "email": .string("trial@example.com"), "password": .string(RandomName.make()),
    ]
    let response = try await service.request(
      "/v1/auth/sign-up", fields: [("Authorization", "Bearer \(admin)")], json: body.text)
    return (try? JSONValue(parsing: response.body))?["accessToken"]?.string
  }

  private mutating func run() async throws {
    guard let list = Self.first(of: operations) else {
      for target in ["/readyz", "/v1/operations", "/openapi.json"] { _ = try await call(target) }
      return
    }
    let target = target(list)
    let response = try await call(target)
    _ = try await call(target)
    if let item = item(of: list, in: response) {
      _ = try await call(item)
    } else if let tag = response.fields[.eTag] {
      _ = try await call(target, ifNoneMatch: tag)
    } else {
      _ = try await call("/v1/operations")
    }
  }

  // MARK: Requests

  /// The maximum number of operations of the temporary service: one with the tables of all types would take long
  /// to start.
  private static let operationsMax = 4

  /// The operations that a trial calls.
  static func choose(from operations: [DraftedOperation]) -> [DraftedOperation] {
    guard let first = first(of: operations) else { return Array(operations.prefix(1)) }
    let items = items(of: first, in: operations)
    return [first] + items.prefix(operationsMax - 1)
  }

  /// The query to begin with: a list whose items another query looks up, else any that needs no variable.
  private static func first(of operations: [DraftedOperation]) -> DraftedOperation? {
    let plain = operations.filter { $0.kind == .query && $0.needsNoVariable }
    let types = Set(operations.filter { $0.kind == .query }.compactMap(\.lookup?.type))
    return plain.first { $0.isList && types.contains($0.typeName) } ?? plain.first { $0.isList }
      ?? plain.first
  }

  private func target(_ operation: DraftedOperation) -> String {
    let path = operation.route.map { "/api\($0)" } ?? "/v1/operations/\(operation.name)"
    return operation.sizeVariable.map { "\(path)?\($0)=\(Self.listLength)" } ?? path
  }

  /// The queries that look up an item of a list.
  private static func items(
    of list: DraftedOperation, in operations: [DraftedOperation]
  ) -> [DraftedOperation] {
    operations.filter {
      $0.kind == .query && $0.lookup?.type == list.typeName && $0.name != list.name
    }
  }

  /// The path of the first item of a list's response.
  private func item(of list: DraftedOperation, in response: HTTPClientResponse) -> String? {
    guard let data = (try? JSONValue(parsing: response.body))?["data"] else { return nil }
    for operation in Self.items(of: list, in: operations) {
      guard let lookup = operation.lookup, let key = Self.key(lookup.keyField, in: data)
      else { continue }
      let text = Self.percentEncoded(key)
      guard let route = operation.route else {
        return "/v1/operations/\(operation.name)?\(lookup.variable)=\(text)"
      }
      return "/api" + route.replacing("{\(lookup.variable)}", with: text)
    }
    return nil
  }

  /// The first text or number with a name in the objects of lists, from the outside in.
  private static func key(_ name: String, in value: JSONValue) -> String? {
    var waiting: [(value: JSONValue, isElement: Bool)] = [(value, false)]
    while !waiting.isEmpty {
      let (value, isElement) = waiting.removeFirst()
      if isElement, let key = value[name] {
        switch key {
        case .string(let text): return text
        case .number(let number): return JSONValue.number(number).text
        default: break
        }
      }
      waiting += value.array?.prefix(1).map { ($0, true) } ?? []
      // The node of an edge is an element too.
      waiting += value.members?.map { ($0.value, isElement && $0.name == "node") } ?? []
    }
    return nil
  }

  private static func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += "%" + (digits.count == 1 ? "0" + digits : digits)
      }
    }
    return encoded
  }

  private mutating func call(
    _ target: String, ifNoneMatch tag: String? = nil
  ) async throws -> HTTPClientResponse {
    var fields: [(name: String, value: String)] = []
    var options = ["curl -i"]
    if let token {
      fields.append(("Authorization", "Bearer \(token)"))
      options.append("-H \"Authorization: Bearer $TOKEN\"")
    }
    if let tag {
      fields.append(("If-None-Match", tag))
      options.append("-H 'If-None-Match: \(tag)'")
    }
    let url = shownAddress + target
    options.append(url.contains("?") || url.contains("&") ? "'\(url)'" : url)
    let response = try await service.request(target, fields: fields)
    lines.append("  \(options.joined(separator: " "))")
    lines.append("    \(Self.summary(response))")
    return response
  }

  private static func summary(_ response: HTTPClientResponse) -> String {
    var parts = ["\(response.status.code)"]
    if let name = HTTPField.Name("Cache-Status"), let status = response.fields[name] {
      parts.append("Cache-Status: \(status)")
    }
    if response.status.code >= 400 {
      let body = try? JSONValue(parsing: response.body)
      if let detail = body?["detail"]?.string { parts.append(String(detail.prefix(300))) }
    } else if let error = (try? JSONValue(parsing: response.body))?["errors"]?[0]?["message"] {
      parts.append("with an error of the API: \(error.string?.prefix(200) ?? "")")
    } else {
      parts.append("\(response.body.count) bytes")
    }
    return parts.joined(separator: ", ").onOneLine
  }
}

extension Workspace {
  /// The same with another admin token.
  fileprivate func with(adminToken: Secret) -> Workspace {
    var settings = settings
    settings.adminToken = adminToken
    return Workspace(
      loaded: LoadedSettings(
        settings: settings, notes: loaded.notes, places: loaded.places, excerpt: loaded.excerpt),
      registry: registry, local: local, links: links, warnings: warnings)
  }
}
