import Foundation

/// What a 2xx of Larder has. Networks that want a sign-in, and proxies, respond in Larder's place: what has
/// another shape is no response.
enum ResponseShape: Hashable, Sendable {
  enum Member: Hashable, Sendable {
    case string, number, bool, array
  }

  /// A JSON object with these members.
  case object([String: Member])
  /// The status of a mutation.
  case mutation
  /// `data` or `errors` of GraphQL.
  case result
  /// No content.
  case empty
  /// An event stream, which is returned open.
  case stream
  /// Any head, of a response to HEAD.
  case head

  static let changes = Self.object(["cursor": .string, "complete": .bool, "changes": .array])
  static let session = Self.object([
    "accessToken": .string, "refreshToken": .string, "expiresIn": .number,
  ])

  private static let states = OutboxRows.ends.union(["queued", "inflight", "parked"])

  /// Whether a 2xx has this shape.
  func fits(status: Int, _ json: JSONValue?) -> Bool {
    switch self {
    case .empty: return status == 204
    case .head: return true
    case .stream: return false
    case .object(let members):
      guard let object = json?.object else { return false }
      return members.allSatisfy { name, kind in object[name]?.member == kind }
    case .mutation:
      return json?["id"]?.string != nil && Self.states.contains(json?["state"]?.string ?? "")
    case .result: return json?["data"] != nil || json?["errors"]?.array != nil
    }
  }
}

extension JSONValue {
  fileprivate var member: ResponseShape.Member? {
    switch self {
    case .string: .string
    case .number: .number
    case .bool: .bool
    case .array: .array
    case .null, .object: nil
    }
  }
}

extension HTTPResponse {
  /// Whether the head has the field that Larder adds to each response.
  var hasRequestID: Bool { headers["request-id"]?.isEmpty == false }

  /// Whether this can be Larder's response to a request. 429 and 5xx keep their meaning from any sender.
  func isLarders(to request: HTTPRequest) -> Bool {
    if status == 429 || status >= 500 { return true }
    guard hasRequestID else { return false }
    switch status {
    case 200..<300: return request.shape.fits(status: status, json)
    case 304: return request.headers["If-None-Match"] != nil || request.path.hasSuffix("/diff")
    case 400..<500: return isProblemType && (request.method == "HEAD" || isProblem)
    default: return false
    }
  }

  private var isProblemType: Bool {
    type.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
      == "application/problem+json"
  }

  /// Whether the body has what each problem of Larder has (docs/problems.md). Other services have errors with a
  /// `code` too.
  private var isProblem: Bool {
    json?["status"]?.int == status && json?["code"]?.string != nil && json?["retry"]?.string != nil
  }
}
