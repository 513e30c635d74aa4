/// The content codings that are written (RFC 9110 8.4.1).
package enum ContentCoding: String, Sendable, Hashable {
  case identity
  case gzip
}
