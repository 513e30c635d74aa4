extension String {
  /// A JSON pointer one member deeper (RFC 6901 section 3).
  package func appending(pointerMember name: String) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
      return "\(self)/\(name)"
    }
    return "\(self)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
  }
}
