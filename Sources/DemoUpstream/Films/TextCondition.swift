/// A `StringFilter` input.
struct TextCondition {
  private let equal: String?
  private let contained: String?
  private let prefix: String?

  init(_ input: Arguments) {
    equal = input.string("eq")?.lowercased()
    contained = input.string("contains")?.lowercased()
    prefix = input.string("startsWith")?.lowercased()
  }

  func admits(_ text: String) -> Bool {
    let text = text.lowercased()
    return (equal.map { text == $0 } ?? true) && (contained.map { text.contains($0) } ?? true)
      && (prefix.map { text.hasPrefix($0) } ?? true)
  }
}
