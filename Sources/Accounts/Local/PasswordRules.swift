/// What a new password must be (NIST SP 800-63B section 3.1.1): long enough, and not the address.
enum PasswordRules {
  private static let charactersMin = 8
  /// scrypt takes any length; this bounds what is read for it.
  private static let bytesMax = 1_024

  /// - Parameter email: nil where there is none that can be read.
  /// - Returns: the rules it breaks.
  static func broken(by password: String, email: String?) -> [String] {
    var rules: [String] = []
    if password.count < charactersMin {
      rules.append("It has at least \(charactersMin) characters.")
    }
    if password.utf8.count > bytesMax { rules.append("It has at most \(bytesMax) bytes.") }
    if password.lowercased() == email { rules.append("It is not the address.") }
    return rules
  }
}
