/// A signature in the field `Authorization`.
package struct SignatureAuthorization: Hashable, Sendable {
  package var credential: SignatureCredential
  /// Names in lower case, as the signer lists them.
  package var signedFields: [String]
  package var signature: String

  package init(credential: SignatureCredential, signedFields: [String], signature: String) {
    self.credential = credential
    self.signedFields = signedFields
    self.signature = signature
  }

  /// Reads a field of the form that ``text`` has. Blanks around the commas may be missing, and the
  /// three parts may come in any order.
  ///
  /// - Returns: nil also for another algorithm, for parts that are missing or come twice, and where
  ///   the names of fields do not ascend.
  package init?(_ text: String) {
    guard text.hasPrefix("\(SignatureAlgorithm.name) ") else { return nil }
    var parts: [Substring: Substring] = [:]
    for part in text.dropFirst(SignatureAlgorithm.name.count).split(separator: ",") {
      let part = Substring(part).drop { $0 == " " }
      guard let equals = part.firstIndex(of: "="),
        parts.updateValue(
          part[part.index(after: equals)...].prefix { $0 != " " }, forKey: part[..<equals]) == nil
      else { return nil }
    }
    guard parts.count == 3,
      let credential = parts["Credential"].flatMap({ SignatureCredential($0) }),
      let names = parts["SignedHeaders"].flatMap({ Self.names($0) }),
      let signature = parts["Signature"], signature.utf8.count == 64
    else { return nil }
    self.init(credential: credential, signedFields: names, signature: String(signature))
  }

  package var text: String {
    "\(SignatureAlgorithm.name) Credential=\(credential.text), "
      + "SignedHeaders=\(signedFields.joined(separator: ";")), Signature=\(signature)"
  }

  /// The names in a list of signed fields.
  ///
  /// - Returns: nil unless each is in lower case and behind the one before.
  static func names(_ list: Substring) -> [String]? {
    let names = list.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !$0.isEmpty && $0 == $0.lowercased() }),
      zip(names, names.dropFirst()).allSatisfy({ $0.utf8.lexicographicallyPrecedes($1.utf8) })
    else { return nil }
    return names
  }
}
