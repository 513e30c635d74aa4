import Model

/// A place in a JSON text (RFC 6901), built from the root down.
struct JSONPointer: Hashable {
  let text: String

  static let root = JSONPointer(text: "")

  func appending(_ name: String) -> JSONPointer {
    JSONPointer(text: text.appending(pointerMember: name))
  }

  func appending(_ index: Int) -> JSONPointer { JSONPointer(text: "\(text)/\(index)") }
}
