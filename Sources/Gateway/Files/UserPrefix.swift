import Model

/// The beginning of the keys that are a user's own.
///
/// It is the user's id and a slash. A slash within the id would make one user's prefix the
/// beginning of another's, so it and the percent sign are written in hexadecimal.
struct UserPrefix {
  let text: String

  init(user: String) {
    var escaped = ""
    for scalar in user.unicodeScalars {
      switch scalar {
      case "/": escaped += "%2F"
      case "%": escaped += "%25"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    text = escaped + "/"
  }

  /// The part of a key in front of its first slash; empty without one.
  static func owner(of key: ObjectKey) -> String {
    let bytes = key.text.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: bytes[..<slash], as: UTF8.self)
  }
}
