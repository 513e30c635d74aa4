import LosslessJSON

/// Where a value stands in a response: what `errors[].path` and `stale` hold.
struct ResponsePath {
  enum Part: Hashable {
    case member(String)
    case element(Int)
  }

  private(set) var parts: [Part] = []

  mutating func push(_ part: Part) { parts.append(part) }

  mutating func pop() { parts.removeLast() }

  /// `film.cast.0.name`, for logs and reports.
  var text: String {
    parts.map { part in
      switch part {
      case .member(let name): name
      case .element(let index): String(index)
      }
    }.joined(separator: ".")
  }

  func write(to writer: inout JSONWriter) {
    writer.beginArray()
    for part in parts {
      switch part {
      case .member(let name): writer.string(name)
      case .element(let index): writer.int(index)
      }
    }
    writer.endArray()
  }
}
