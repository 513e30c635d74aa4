import HTTPWire

/// A request target as it may be logged.
enum LoggedTarget {
  /// The parameter whose value opens a stream to whoever holds it.
  private static let secretName = "ticket="

  /// The target, the value of `ticket` left out.
  static func text(_ target: ArraySlice<UInt8>) -> String {
    let text = target.text
    guard let question = text.firstIndex(of: "?"), text.contains(secretName) else { return text }
    let parameters = text[text.index(after: question)...].split(
      separator: "&", omittingEmptySubsequences: false)
    let shown = parameters.map { $0.hasPrefix(secretName) ? secretName + "…" : String($0) }
    return text[...question] + shown.joined(separator: "&")
  }
}
