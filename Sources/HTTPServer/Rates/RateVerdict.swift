import HTTPWire

/// What a rate limit makes of one request.
struct RateVerdict: Sendable, Equatable {
  let isAllowed: Bool
  let requestsMax: Int
  let windowSeconds: Int
  /// Requests left after this one.
  let remaining: Int
  /// Until the caller may send as many again as the limit says; at least 1.
  let resetSeconds: Int

  /// Appends the fields that tell of the limit, as structured fields
  /// (draft-ietf-httpapi-ratelimit-headers).
  func append(to output: inout [UInt8]) {
    output.append("RateLimit-Policy: \"default\";q=")
    output.append(decimal: requestsMax)
    output.append(";w=")
    output.append(decimal: windowSeconds)
    output.append("\r\nRateLimit: \"default\";r=")
    output.append(decimal: remaining)
    output.append(";t=")
    output.append(decimal: resetSeconds)
    output.appendLineEnd()
  }
}
