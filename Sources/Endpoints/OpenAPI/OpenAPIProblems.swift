import HTTPWire
import LosslessJSON
import Model

/// The responses with problems: for each status that a method can have, the codes of its problems.
///
/// The template has the codes of a method in `x-larder-problems`. Those of every route, of its callers and of
/// its body follow from the method itself.
struct OpenAPIProblems {
  private static let member = "x-larder-problems"
  private static let mediaType = ProblemDocument.mediaType

  /// Codes of the server below the routes, with their statuses (``HTTPServer/ServerProblem``).
  private static let ofServer = [
    "request_timeout": 408, "target_too_long": 414, "upgrade_required": 426,
    "head_too_large": 431,
  ]

  /// Of every route.
  private static let ofAll =
    ["request_timeout", "target_too_long", "head_too_large"]
    + [
      Failure.Code.malformedRequest, .forbidden, .rateLimited, .internal, .overloaded, .draining,
    ].map(\.rawValue)
  /// Of routes that identify their caller.
  private static let ofCallers = [
    Failure.Code.unauthenticated, .tokenExpired, .tokenInvalid, .accountDisabled, .sessionExpired,
    .csrfInvalid, .accountsUnavailable, .storageUnavailable,
  ].map(\.rawValue)
  /// Of all methods but GET: a token that only reads is refused, and so is a body of another type.
  private static let ofWrites = [
    Failure.Code.readOnly, .crossOrigin, .unauthenticated, .bodyTooLarge, .bodyIncomplete,
    .unsupportedMediaType,
    .storageUnavailable,
  ].map(\.rawValue)

  /// Of routes that the session of the console authorises.
  private static let ofConsole = [
    Failure.Code.sessionExpired, .csrfInvalid, .crossOrigin,
  ].map(\.rawValue)
  /// The credentials of operators, who can be switched off.
  private static let ofOperators: Set = ["admin", "viewer", "console"]

  /// The statuses of all codes, by code.
  private static let statuses = Dictionary(
    Failure.Code.allCases.map { ($0.rawValue, FailureStatus.status(of: $0)) },
    uniquingKeysWith: { first, _ in first }
  ).merging(ofServer) { first, _ in first }

  /// The names of the components that ``addComponents(to:)`` can add.
  static var schemaNames: [String] {
    Set(statuses.values).sorted().map { "\(name(of: $0))Problem" }
  }

  private var used: Set<Int> = []

  /// Returns a member of a path, with the responses of problems if it is a method.
  mutating func completed(_ method: JSONMember) -> JSONMember {
    guard let own = method.value[Self.member]?.array else { return method }
    var value = JSONValue.object(
      (method.value.members ?? []).filter { $0.name != Self.member })
    let usual = Self.usualCodes(of: method)
    let codes = usual.union(own.compactMap(\.string))
    var responses = value["responses"]?.members ?? []
    for (status, codes) in Self.grouped(codes) where !responses.contains("\(status)") {
      used.insert(status)
      var response: JSONValue = [
        "$ref": .string("#/components/responses/\(Self.name(of: status))")
      ]
      if !usual.isSuperset(of: codes) {
        let list = codes.map { "`\($0)`" }.joined(separator: ", ")
        response["description"] = .string("\(Self.reason(status)): \(list).")
      }
      responses.append(JSONMember("\(status)", response))
    }
    value["responses"] = .object(responses)
    return JSONMember(method.name, value)
  }

  /// Codes by status, in ascending order of both.
  private static func grouped(_ codes: Set<String>) -> [(status: Int, codes: [String])] {
    Dictionary(grouping: codes.sorted()) { statuses[$0] ?? 500 }
      .sorted { $0.key < $1.key }.map { (status: $0.key, codes: $0.value) }
  }

  private static func usualCodes(of method: JSONMember) -> Set<String> {
    var codes = Set(ofAll)
    let schemes = Set(
      (method.value["security"]?.array ?? []).flatMap { $0.members?.map(\.name) ?? [] })
    if !schemes.isEmpty { codes.formUnion(ofCallers) }
    if schemes.contains("device") { codes.insert(Failure.Code.deviceOfAnotherUser.rawValue) }
    if !schemes.isEmpty, schemes.isSubset(of: ofOperators) {
      codes.insert(Failure.Code.adminOff.rawValue)
    }
    if schemes.contains("console") { codes.formUnion(ofConsole) }
    if method.name != "get" { codes.formUnion(ofWrites) }
    return codes
  }

  // MARK: Components

  /// Adds the responses in use, and the schemas of their problems.
  func addComponents(to document: inout JSONValue) {
    var responses = document["components"]?["responses"]?.members ?? []
    for status in used.sorted() {
      let name = Self.name(of: status)
      let codes = Self.statuses.filter { $0.value == status }.map(\.key).sorted()
      document["components"]?["schemas"]?["\(name)Problem"] = [
        "allOf": [
          ["$ref": "#/components/schemas/Problem"],
          [
            "type": "object",
            "properties": [
              "code": ["type": "string", "enum": .array(codes.map { .string($0) })]
            ],
          ],
        ]
      ]
      var response: JSONValue = ["description": .string("\(Self.reason(status)).")]
      if let headers = Self.headers(of: status) { response["headers"] = headers }
      response["content"] = .object([
        JSONMember(
          Self.mediaType, ["schema": ["$ref": .string("#/components/schemas/\(name)Problem")]])
      ])
      responses.append(JSONMember(name, response))
    }
    document["components"]?["responses"] = .object(responses)
  }

  private static func headers(of status: Int) -> JSONValue? {
    switch status {
    case 401: ["WWW-Authenticate": ["$ref": "#/components/headers/WWWAuthenticate"]]
    case 416: ["Content-Range": ["$ref": "#/components/headers/ContentRange"]]
    case 429, 503: ["Retry-After": ["$ref": "#/components/headers/RetryAfter"]]
    default: nil
    }
  }

  private static func reason(_ status: Int) -> String { "\(StatusLine.reason(status))" }

  /// The reason phrase as a name: `NotFound`.
  private static func name(of status: Int) -> String {
    reason(status).filter { $0 != " " && $0 != "-" }
  }
}

extension [JSONMember] {
  fileprivate func contains(_ name: String) -> Bool { contains { $0.name == name } }
}
