import HTTPWire
import Model

/// The target of a stream, as a ticket is bound to it.
///
/// Browsers encode characters that a page writes plainly in a URL (`'` in a filter, a space, `é`), so
/// targets are compared in one form of percent-encoding. A separator and its encoded form stay different.
package struct StreamTarget: Sendable {
  /// Percent-encoded in one form.
  let path: String
  /// Without the ticket; nil in a ticket that is good for any query of the path.
  let query: String?

  /// - Parameters:
  ///   - path: as sent, or as a page writes it.
  ///   - query: likewise; its ticket is removed.
  package init(path: String, query: String?) {
    self.path = Self.normal(path, separators: "/")
    self.query = query.map { text in
      let others = text.split(separator: "&").filter { !$0.hasPrefix("ticket=") }
      return Self.normal(others.joined(separator: "&"), separators: "&=+")
    }
  }

  /// Returns whether a ticket for this target is good for a request's target.
  func covers(_ request: StreamTarget) -> Bool {
    guard path.equalsExactly(request.path) else { return false }
    guard let query else { return true }
    return query.equalsExactly(request.query ?? "")
  }

  /// Returns the text with each part between separators in the shortest percent-encoding. A part that
  /// is not encoded correctly stays as it is.
  private static func normal(_ text: String, separators: String) -> String {
    let separators = Set(separators.unicodeScalars)
    return text.unicodeScalars.split(omittingEmptySubsequences: false) { separators.contains($0) }
      .reduce(into: (text: "", end: text.unicodeScalars.startIndex)) { result, part in
        // The separator before this part.
        result.text.unicodeScalars.append(
          contentsOf: text.unicodeScalars[result.end..<part.startIndex])
        let part = Substring(part)
        result.text += PercentCoding.decode(part).map { PercentCoding.encode($0) } ?? String(part)
        result.end = part.endIndex
      }.text
  }
}
