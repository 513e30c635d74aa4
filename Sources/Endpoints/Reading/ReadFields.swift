import Gateway
import HTTPWire
import Model

/// The response fields of a read that are the same for every caller of one answer.
struct ReadFields: Sendable {
  /// The strong tag of the representation, quotes included.
  let entityTag: String
  let cacheControl: String
  let vary: String

  /// - Parameters:
  ///   - isPrivate: the caller presented a credential.
  ///   - forwardedNames: header names that settings pass upstream.
  init(
    _ rendered: RenderedResponse, coding: ContentCoding, isPrivate: Bool, forwardedNames: [String]
  ) {
    entityTag = EntityTag(rendered.tag).coded(coding).text
    cacheControl = Self.cacheControl(
      rendered.policy, isPrivate: isPrivate, hasErrors: rendered.hasErrors)
    vary = Self.vary(forwardedNames)
  }

  /// What shared caches and browsers may do with an answer (RFC 9111, RFC 5861).
  private static func cacheControl(
    _ policy: CachePolicy, isPrivate: Bool, hasErrors: Bool
  ) -> String {
    let sharing = isPrivate ? "private" : "public"
    guard policy.maxAge > .zero, !hasErrors else { return "\(sharing), no-cache" }
    var text = "\(sharing), max-age=\(policy.maxAge.wholeSeconds)"
    if policy.staleWhileRevalidate > .zero {
      text += ", stale-while-revalidate=\(policy.staleWhileRevalidate.wholeSeconds)"
    }
    if policy.staleIfError > .zero {
      text += ", stale-if-error=\(policy.staleIfError.wholeSeconds)"
    }
    return text
  }

  static func vary(_ forwardedNames: [String]) -> String {
    let always = ["Accept-Encoding", "Authorization", "Device-Token"]
    let known = Set(always.map { $0.lowercased() })
    return (always + forwardedNames.filter { !known.contains($0) }).joined(separator: ", ")
  }
}
