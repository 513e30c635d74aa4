/// What a GraphQL answer is labelled with.
enum GraphQLMediaType {
  static let response = "application/graphql-response+json"
  static let json = "application/json"

  /// The newer type if the client lists it with a quality above zero, else plain JSON. An `Accept`
  /// that admits neither is ignored, as most servers do.
  static func negotiated(accept: String?) -> String {
    let ranges = (accept ?? "").split(separator: ",")
    let takesResponse = ranges.contains { range in
      let parts = range.split(separator: ";").map { $0.trimmed.lowercased() }
      let isRefused = parts.dropFirst().contains {
        ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0)
      }
      return parts.first == response && !isRefused
    }
    return "\(takesResponse ? response : json); charset=utf-8"
  }

  /// Whether a request's content type is JSON, whatever its parameters.
  static func isJSON(_ contentType: String?) -> Bool {
    contentType?.split(separator: ";").first?.trimmed.lowercased() == json
  }
}

extension Substring {
  /// Without spaces and tabs at either end.
  fileprivate var trimmed: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
