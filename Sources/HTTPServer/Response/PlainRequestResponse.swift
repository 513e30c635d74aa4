/// What a client is told that speaks HTTP without TLS to a TLS listener: it cannot read anything
/// else, and would otherwise see a connection that just ends.
package enum PlainRequestResponse {
  package static let bytes: [UInt8] = {
    let body =
      #"{"type":"about:blank","title":"Bad Request","status":400,"detail":"#
      + #""This port speaks HTTPS: the request came without TLS."}"#
    let head = """
      HTTP/1.1 400 Bad Request\r
      Content-Type: application/problem+json\r
      Content-Length: \(body.utf8.count)\r
      Cache-Control: no-store\r
      Connection: close\r
      \r

      """
    return Array((head + body).utf8)
  }()
}
