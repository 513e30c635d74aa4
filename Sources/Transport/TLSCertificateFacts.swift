/// What a certificate in use says about itself.
package struct TLSCertificateFacts: Equatable, Sendable {
  package enum KeyKind: Hashable, Sendable {
    case rsa
    case ecdsa
    case other
  }

  package let files: TLSCertificateFiles
  package let keyKind: KeyKind
  /// The DNS names it is for, in lower case; `*.example.com` stands for one label.
  package let names: [String]
  /// Its last second, since 1970.
  package let expirySeconds: Int64
  /// Whether every user of the machine may read the key.
  package let isKeyOpenToAll: Bool
}
