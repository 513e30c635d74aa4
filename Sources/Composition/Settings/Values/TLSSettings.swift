/// Certificates of the listening addresses; none = plain HTTP.
package struct TLSSettings: Sendable {
  /// Of a certificate beside the first; both or neither.
  package struct Certificate: Sendable {
    package var certificateFile: String?
    package var keyFile: String?
  }

  /// Of the first, which also is for clients that ask for no name; both or neither.
  package var certificateFile: String?
  package var keyFile: String?
  /// Further ones, by a name that says nothing more. They are taken in the order of these names.
  package var certificates: [String: Certificate] = [:]
  /// Of `Strict-Transport-Security`; nil = not sent.
  package var strictTransportAge: Duration?
}
