/// The two PEM files a server proves its name with.
package struct TLSCertificateFiles: Hashable, Sendable {
  /// The chain, leaf first.
  package var certificate: String
  /// The leaf's key, without a passphrase.
  package var key: String

  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}
