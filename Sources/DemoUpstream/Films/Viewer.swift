/// Who calls, by the Authorization header: `Bearer user-ada` is the user `u-ada`, without further
/// ado. Anything else is nobody.
enum Viewer {
  static let memberSince = "2020-01-01"
  private static let prefix = "Bearer user-"
  private static let nameLengthMax = 32

  static func user(authorization: String?) -> User? {
    guard let authorization, authorization.hasPrefix(prefix) else { return nil }
    let name = authorization.dropFirst(prefix.count)
    guard (1...nameLengthMax).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte) else {
      return nil
    }
    return User(
      id: "u-\(name)", name: name.prefix(1).uppercased() + name.dropFirst(),
      memberSince: memberSince)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
