import Foundation
import Gateway
import LosslessJSON
import Model
import Testing

@testable import Composition
@testable import Endpoints

/// Faults of `openapi.yaml`, which no compiler finds.
struct OpenAPIResourceTests {
  private static func document() throws -> JSONValue {
    OpenAPIDocument(
      template: try OpenAPIResource.value(), operations: [], version: "1", isFull: true
    ).value()
  }

  /// A JSON value with the JSON pointer of its place, and all values in it.
  private static func all(
    in value: JSONValue, at pointer: String = ""
  ) -> [(pointer: String, value: JSONValue)] {
    let inner =
      switch value {
      case .array(let elements): elements.enumerated().map { (String($0.offset), $0.element) }
      case .object(let members): members.map { ($0.name, $0.value) }
      default: [(String, JSONValue)]()
      }
    return [(pointer, value)]
      + inner.flatMap { all(in: $0.1, at: pointer.appending(pointerMember: $0.0)) }
  }

  /// The methods of all paths.
  private static func operations(
    of document: JSONValue
  ) -> [(path: JSONMember, method: JSONMember)] {
    (document["paths"]?.members ?? []).flatMap { path in
      (path.value.members ?? []).filter { $0.name != "parameters" }.map { (path, $0) }
    }
  }

  @Test("The document has the members of OpenAPI only, in their usual order")
  func hasNoOwnMembers() throws {
    let document = try Self.document()
    #expect(
      document.members?.map(\.name) == [
        "openapi", "info", "servers", "tags", "paths", "components",
      ])
    #expect(document["info"]?["title"] == "Larder")
    #expect(document["info"]?["version"] == "1")
    let own = Self.all(in: document).filter { $0.pointer.contains("/x-") }
    #expect(own.isEmpty, "\(own.map(\.pointer))")
  }

  @Test("Every reference has a target in the document")
  func resolvesReferences() throws {
    let values = Self.all(in: try Self.document())
    let places = Set(values.map { "#\($0.pointer)" })
    let references = values.compactMap { $0.value["$ref"]?.string }
    #expect(references.count > 80)
    #expect(references.filter { !places.contains($0) } == [])
  }

  @Test(
    "Every method has an id of its own, a known tag, a summary, credentials and described responses"
  )
  func describesMethods() throws {
    let document = try Self.document()
    let tags = Set((document["tags"]?.array ?? []).compactMap { $0["name"]?.string })
    let schemes = Set(document["components"]?["securitySchemes"]?.members?.map(\.name) ?? [])
    var ids: Set<String> = []
    for (path, method) in Self.operations(of: document) {
      let place = "\(method.name) \(path.name)"
      let id = try #require(method.value["operationId"]?.string, "\(place)")
      // Generators of clients change the case.
      #expect(ids.insert(id.lowercased()).inserted, "\(place): \(id)")
      let own = (method.value["tags"]?.array ?? []).compactMap(\.string)
      #expect(own.count == 1 && tags.isSuperset(of: own), "\(place): \(own)")
      #expect(method.value["summary"]?.string?.isEmpty == false, "\(place)")
      let security = try #require(method.value["security"]?.array, "\(place)")
      #expect(
        schemes.isSuperset(of: security.flatMap { $0.members?.map(\.name) ?? [] }), "\(place)")
      let responses = method.value["responses"]?.members ?? []
      #expect(!responses.isEmpty, "\(place)")
      for response in responses {
        #expect(response.name == "default" || Int(response.name) != nil, "\(place)")
        let text = response.value["description"] ?? response.value["$ref"]
        #expect(text?.string?.isEmpty == false, "\(place): \(response.name)")
      }
    }
    #expect(ids.count > 80)
  }

  @Test("Every body has a schema and every list its items, and no value has several types")
  func hasCompleteSchemas() throws {
    let values = Self.all(in: try Self.document())
    for (pointer, value) in values {
      for content in value["content"]?.members ?? []
      where pointer.hasSuffix("requestBody") || value["description"] != nil {
        #expect(content.value["schema"] != nil, "\(pointer): \(content.name)")
      }
      if value["type"] == "array" { #expect(value["items"] != nil, "\(pointer)") }
      // Generators of clients do not know lists of types.
      #expect(value["type"]?.array == nil, "\(pointer)")
    }
  }

  @Test("Every status that the problems of a method have is documented, with the codes")
  func documentsProblems() throws {
    let document = try Self.document()
    let paths = document["paths"]
    let drop = paths?["/v1/admin/tables/{type}"]?["delete"]?["responses"]
    for status in ["204", "400", "401", "403", "404", "409", "429", "500", "503"] {
      #expect(drop?[status] != nil, "\(status)")
    }
    #expect(drop?["default"] == nil)
    #expect(drop?["409"]?["description"] == "Conflict: `type_in_use`.")
    #expect(drop?["409"]?["$ref"] == "#/components/responses/Conflict")
    // Only what every route and caller can get.
    #expect(paths?["/v1/queue"]?["get"]?["responses"]?["401"]?["description"] == nil)
    let schemas = document["components"]?["schemas"]
    let codes = schemas?["ConflictProblem"]?["allOf"]?[1]?["properties"]?["code"]?["enum"]?.array
    #expect(codes?.contains("type_in_use") == true)
    #expect(codes?.contains("not_found") == false)
    let limited = document["components"]?["responses"]?["TooManyRequests"]
    #expect(limited?["headers"]?["Retry-After"] != nil)
    // Of another program, or with a form of their own.
    let others = Self.operations(of: document).filter { $1.value["responses"]?["default"] != nil }
    #expect(
      others.allSatisfy { $0.path.name.hasPrefix("/s3") || $0.path.name == "/v1/graphql" },
      "\(others.map { $0.path.name })")
  }

  @Test("The template names only codes that exist")
  func knowsEveryCode() throws {
    let known = Set(Failure.Code.allCases.map(\.rawValue)).union(["upgrade_required"])
    let named = Self.all(in: try OpenAPIResource.value())
      .filter { $0.pointer.hasSuffix("/x-larder-problems") }
      .flatMap { $0.value.array ?? [] }.compactMap(\.string)
    #expect(named.count > 200)
    #expect(Set(named).subtracting(known) == [])
  }

  @Test("The parameters of a path are those in its braces, and every parameter is complete")
  func declaresParameters() throws {
    let document = try Self.document()
    for (path, method) in Self.operations(of: document) {
      let place = "\(method.name) \(path.name)"
      let parameters = [path.value, method.value].flatMap { $0["parameters"]?.array ?? [] }
        .map { $0.resolved(in: document) }
      let inPath = parameters.filter { $0["in"] == "path" }.compactMap { $0["name"]?.string }
      let braces = path.name.matches(of: /\{(\w+)\}/).map { String($0.1) }
      #expect(inPath == braces, "\(place)")
      for parameter in parameters {
        #expect(parameter["name"]?.string != nil, "\(place): \(parameter)")
        #expect(["path", "query", "header"].contains(parameter["in"]?.string), "\(place)")
        #expect(parameter["schema"]?.members != nil, "\(place): \(parameter)")
        #expect(parameter["in"] != "path" || parameter["required"] == true, "\(place)")
      }
    }
  }

  @Test("The template has what all operations have in common")
  func hasOperationMembers() throws {
    let common = try OpenAPIResource.value()["x-larder-operation"]
    let methods = [
      ["get"], ["post"], ["mutation"], ["/diff", "get"], ["/diff", "post"], ["/stream", "get"],
      ["/events", "get"],
    ]
    for names in methods {
      let method = names.reduce(common) { $0?[$1] }
      #expect(method?["responses"]?["200"] != nil, "\(names)")
      #expect(method?["x-larder-problems"]?.array?.isEmpty == false, "\(names)")
    }
    #expect(
      common?.members?.map(\.name) == ["get", "post", "mutation", "/diff", "/stream", "/events"])
  }

  @Test("Every part has one name and is used")
  func usesEveryPart() throws {
    let file = try #require(
      ShippedFiles.embedded.first { $0.path == OpenAPIResource.path })
    let text = String(decoding: file.bytes, as: UTF8.self)
    let names = text.matches(of: /: &(\w+)/).map { String($0.1) }
    #expect(names.count > 20)
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(text.contains(try Regex(#"\*\#(name)\b"#)), "\(name)")
    }
  }

  @Test("Limits and names are those in force")
  func limitsAreInForce() throws {
    let document = try Self.document()
    let paths = try #require(document["paths"])
    let notification = paths["/v1/push/notifications"]?["post"]
    let members = notification?.schemaOfBody?.resolved(in: document)["properties"]
    #expect(members?["chatId"]?.maximum == NotificationLimits.chatIDBytesMax)
    #expect(members?["userIds"]?["maxItems"]?.int == NotificationLimits.userIDsMax)
    #expect(members?["userIds"]?["items"]?.maximum == NotificationLimits.userIDBytesMax)
    #expect(members?["text"]?.maximum == NotificationLimits.textBytesMax)
    #expect(members?["heading"]?.maximum == NotificationLimits.headingBytesMax)
    #expect(
      members?["data"]?["description"]?.string?
        .contains("at most \(NotificationLimits.dataBytesMax) bytes") == true)
    for path in ["/v1/push/notifications", "/v1/mutations"] {
      let key = paths[path]?["post"]?.parameter("Idempotency-Key", in: document)
      #expect(key?["schema"]?.maximum == IdempotencyKey.bytesMax, "\(path)")
    }
    let outbox = paths["/v1/admin/push/notifications"]?["get"]?.parameter("limit", in: document)
    #expect(outbox?["schema"]?["maximum"]?.int == PushService.pageMax)
    let queue = paths["/v1/mutations"]?["get"]?.parameter("limit", in: document)
    #expect(queue?["schema"]?["maximum"]?.int == SyncQueue.pageMax)
    let write = paths["/v1/entities"]?["post"]?.schemaOfBody?["items"]?
      .resolved(in: document)["properties"]?["op"]
    #expect(write?["enum"]?.array == WriteAction.allCases.map { .string($0.rawValue) })
  }

  @Test(
    "Plain scalars of JSON are JSON's values, all others are strings",
    arguments: [
      ("a: 1", #"{"a":1}"#), ("a: -2.50", #"{"a":-2.50}"#), ("a: 3.1.0", #"{"a":"3.1.0"}"#),
      ("a: true", #"{"a":true}"#), ("a: 'true'", #"{"a":"true"}"#), ("a: null", #"{"a":null}"#),
      ("a: on", #"{"a":"on"}"#), ("a: 1st", #"{"a":"1st"}"#), (#"a: "1""#, #"{"a":"1"}"#),
      ("200: {}", #"{"200":{}}"#), ("[]", "[]"), ("a:", #"{"a":null}"#),
      ("a: &x [1]\nb: *x", #"{"a":[1],"b":[1]}"#), ("a: >-\n  b\n  c", #"{"a":"b c"}"#),
      ("b: 1\na: 2", #"{"b":1,"a":2}"#),
    ])
  func convertsScalars(yaml: String, json: String) throws {
    #expect(try OpenAPIResource.value(of: yaml).text == json)
  }

  @Test(
    "Text that is not one JSON value is refused",
    arguments: ["a: [", "a: 1\na: 2", "a: *unknown", "? [1]\n: 2"])
  func refusesFaults(yaml: String) {
    #expect(throws: (any Error).self) { try OpenAPIResource.value(of: yaml) }
  }
}

extension JSONValue {
  fileprivate var int: Int? { int64.map { Int($0) } }

  fileprivate var maximum: Int? { self["maxLength"]?.int }

  /// The schema of the JSON body of a method.
  fileprivate var schemaOfBody: JSONValue? {
    self["requestBody"]?["content"]?["application/json"]?["schema"]
  }

  fileprivate func parameter(_ name: String, in document: JSONValue) -> JSONValue? {
    self["parameters"]?.array?.map { $0.resolved(in: document) }
      .first { $0["name"]?.string == name }
  }

  /// The component that a reference names; the value itself if it is none.
  fileprivate func resolved(in document: JSONValue) -> JSONValue {
    guard let path = self["$ref"]?.string else { return self }
    let names = path.split(separator: "/").dropFirst().map(String.init)
    return names.reduce(document) { $0?[$1] } ?? self
  }
}
