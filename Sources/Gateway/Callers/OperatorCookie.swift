/// The cookie of an operator's session in the console.
///
/// Over TLS its name has the prefix `__Host-` (RFC 6265bis section 4.1.3.2), so that no other host of the
/// domain can set one.
package enum OperatorCookie {
  private static let name = "larder-console"
  private static let secureName = "__Host-larder-console"
  /// Cookies of these names that are looked at in one request.
  private static let valuesMax = 4

  /// Returns the values of all such cookies in a `Cookie` field: of those with the prefix alone, if there are any,
  /// since other hosts of the domain can set the others.
  package static func values(in field: String?) -> [String] {
    guard let field, field.contains(name) else { return [] }
    let own = pairs(field).filter { isOwn($0) }
    let secure = own.filter { $0.hasPrefix("\(secureName)=") }
    return Array(
      (secure.isEmpty ? own : secure).compactMap { pair in
        pair.firstIndex(of: "=").map { String(pair[pair.index(after: $0)...]) }
      }.prefix(valuesMax))
  }

  /// Returns a `Cookie` field without such cookies, for others than this service; nil if none is left.
  static func removed(from field: String) -> String? {
    guard field.contains(name) else { return field }
    let others = pairs(field).filter { !isOwn($0) }
    return others.isEmpty ? nil : others.joined(separator: "; ")
  }

  /// The value of `Set-Cookie` that sets the cookie. The browser forgets it when it is closed.
  package static func setting(_ value: String, isSecure: Bool) -> String {
    "\(isSecure ? secureName : name)=\(value); \(attributes(isSecure))"
  }

  /// The values of `Set-Cookie` that remove it.
  package static func removing(isSecure: Bool) -> String {
    "\(isSecure ? secureName : name)=; Max-Age=0; \(attributes(isSecure))"
  }

  private static func attributes(_ isSecure: Bool) -> String {
    "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
  }

  private static func pairs(_ field: String) -> [Substring] {
    field.split(separator: ";").map { pair in
      var pair = pair.drop { $0 == " " || $0 == "\t" }
      while pair.last == " " || pair.last == "\t" { pair.removeLast() }
      return pair
    }.filter { !$0.isEmpty }
  }

  private static func isOwn(_ pair: Substring) -> Bool {
    let own = pair.prefix { $0 != "=" }
    return own == name || own == secureName
  }
}
