/// A request that tries another caller's secret.
struct MatrixAsk: Sendable, CustomStringConvertible {
  /// The way in which the response to another caller's secret is compared with that to an invented one.
  enum Comparison: Sendable {
    /// Equal, byte for byte.
    case whole
    /// The same status and header fields: the body is new each time.
    case form
    /// Not compared: searched for other callers' words.
    case words
  }

  let method: String
  let target: String
  let headers: [(String, String)]
  let body: String?
  let comparison: Comparison
  /// Whether the response is an endless stream: its first event is compared.
  let isStream: Bool

  init(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil,
    comparison: Comparison = .whole, isStream: Bool = false
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.comparison = comparison
    self.isStream = isStream
  }

  static func get(
    _ target: String, _ headers: (String, String)..., comparison: Comparison = .whole
  ) -> MatrixAsk {
    MatrixAsk("GET", target, headers: headers, comparison: comparison)
  }

  static func stream(_ target: String, _ headers: (String, String)...) -> MatrixAsk {
    MatrixAsk("GET", target, headers: headers, isStream: true)
  }

  /// A live stream of one subject.
  static func live(_ subject: String, _ headers: (String, String)...) -> MatrixAsk {
    MatrixAsk(
      "POST", "/v1/live", headers: headers, body: #"{"queries":[{"id":"a",\#(subject)}]}"#,
      isStream: true)
  }

  /// All text of the request.
  var text: String {
    ([target] + headers.map(\.1) + [body ?? ""]).joined(separator: "\n")
  }

  /// Whether it can be repeated without an effect.
  var isSafe: Bool { method == "GET" || method == "HEAD" }

  var description: String {
    let fields = headers.map { " \($0.0): \($0.1)" }.joined()
    return "\(method) \(target)\(fields) \(body ?? "")"
  }
}
