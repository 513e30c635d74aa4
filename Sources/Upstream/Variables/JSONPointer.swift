/// A place in a JSON text (RFC 6901), built from the root down.
struct JSONPointer: Hashable {
  let text: String

  static let root = JSONPointer(text: "")

  func appending(_ name: String) -> JSONPointer {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
      return JSONPointer(text: "\(text)/\(name)")
    }
    let escaped = name.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
    return JSONPointer(text: "\(text)/\(escaped)")
  }

  func appending(_ index: Int) -> JSONPointer { JSONPointer(text: "\(text)/\(index)") }
}
