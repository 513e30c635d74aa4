import Foundation

/// A request to Larder, before the credentials are added.
struct HTTPRequest: Sendable {
  var method = "GET"
  /// The path, percent-encoded, with a slash in front.
  var path: String
  var query: [(name: String, value: String)] = []
  var headers: [String: String] = [:]
  var body: Data?
  /// Without a head, or without 4 KiB more of the body, for so long there is no response; nil for the client's.
  var deadline: Duration?
  /// Notes whether Larder may have the request, for callers that depend on it when their task is cancelled.
  var arrival: Locked<Bool>?
  /// Of a 2xx.
  var shape = ResponseShape.object([:])

  /// A request with a JSON body.
  static func post(
    _ path: String, _ body: JSONValue, shape: ResponseShape = .object([:])
  ) -> HTTPRequest {
    HTTPRequest(
      method: "POST", path: path, headers: ["Content-Type": "application/json"], body: body.data,
      shape: shape)
  }

  var isStream: Bool { shape == .stream }

  /// The path of an operation.
  static func operationPath(_ name: String) throws -> String {
    try checkOperation(name)
    return "/v1/operations/\(encoded(name))"
  }

  /// Throws unless an operation can have this name.
  static func checkOperation(_ name: String) throws {
    guard !name.isEmpty else {
      throw LarderError.invalidArgument("The name of the operation is empty.")
    }
  }

  /// Throws unless the path begins with one slash and has no segment that leads elsewhere.
  func checkPath() throws {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    let isPlain = segments.dropFirst().allSatisfy { segment in
      ![".", ".."].contains(segment.lowercased().replacingOccurrences(of: "%2e", with: "."))
    }
    let isOther = path.hasPrefix("//") || !path.hasPrefix("/") || path.contains("\\")
    guard isPlain, !isOther else {
      throw LarderError.invalidArgument(
        "\(path) is not a path of Larder: it must begin with one /, without . or .. as a segment.")
    }
  }

  var target: String {
    let pairs = query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }
    guard !pairs.isEmpty else { return path }
    return path + (path.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
  }

  /// Percent-encodes all but the unreserved characters of RFC 3986.
  static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// A response that is whole, or one whose body is being received.
struct HTTPResponse: Sendable {
  let status: Int
  /// By name in lower case.
  let headers: [String: String]
  var body = Data()
  var stream: AsyncThrowingStream<Data, any Error>?
  /// Whether this is not Larder's response to a request for a stream. Other requests fail then.
  var isForeign = false
  /// The body, if it is JSON and its type says so.
  private(set) var json: JSONValue?

  init(status: Int, headers: [String: String]) {
    self.status = status
    self.headers = headers
  }

  var type: String { headers["content-type"] ?? "" }

  /// Reads the body, once it is whole.
  mutating func readJSON() {
    if type.contains("json") { json = try? JSONValue(parsing: body) }
  }

  var problem: Problem { Problem(status: status, body: json) }

  /// Whether Larder refuses with this status and code.
  func isRefusal(_ status: Int, _ codes: String...) -> Bool {
    self.status == status && codes.contains(problem.code)
  }

  /// The error of a status from 400 on.
  var error: LarderError? {
    switch status {
    case ..<400: nil
    case 429, 502, 503, 504:
      .unavailable(problem, retryAfter: headers["retry-after"].flatMap { Int($0) })
    default: .refused(problem)
    }
  }

  /// The JSON of a 2xx; an empty object where there is none.
  func content() throws -> JSONValue {
    if let error { throw error }
    if body.isEmpty { return [:] }
    guard let json else {
      throw LarderError.unexpectedContent("The response with status \(status) is no JSON.")
    }
    return json
  }
}
