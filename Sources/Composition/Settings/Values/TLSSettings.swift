/// PEM files; both or neither.
package struct TLSSettings: Sendable {
  package var certificateFile: String?
  package var keyFile: String?
}
