/// One request that tries a caller's luck.
struct MatrixAsk: Sendable, CustomStringConvertible {
  /// How the answer to somebody else's secret is held against that to a made-up one.
  enum Comparison: Sendable {
    /// The same, byte by byte.
    case whole
    /// The same status and the same header fields: the body is new each time.
    case form
    /// Not at all: it is looked through for words that are somebody else's.
    case words
  }

  let method: String
  let target: String
  let headers: [(String, String)]
  let body: String?
  let comparison: Comparison
  /// An endless answer: its first event is looked at.
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

  /// The text of everything it tells the service.
  var text: String {
    ([target] + headers.map(\.1) + [body ?? ""]).joined(separator: "\n")
  }

  /// Whether it may be asked any number of times without a difference.
  var isSafe: Bool { method == "GET" || method == "HEAD" }

  var description: String {
    let fields = headers.map { " \($0.0): \($0.1)" }.joined()
    return "\(method) \(target)\(fields) \(body ?? "")"
  }
}
