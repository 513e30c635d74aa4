import Model

/// Describes whether and how responses of an operation are cached.
enum CacheNote {
  static func text(
    kind: OperationKind, policy: CachePolicy, forwardedHeaders: [String],
    lookup: EffectTarget? = nil
  ) -> String {
    switch kind {
    case .mutation: return "not cached: a mutation; entities in its response are stored"
    case .subscription: return "not cached: a subscription; entities in its events are stored"
    case .query: break
    }
    var windows: [String] = []
    if policy.maxAge > .zero { windows.append("fresh for \(policy.maxAge.wholeSeconds) s") }
    if policy.staleWhileRevalidate > .zero {
      windows.append(
        "served while refreshed for another \(policy.staleWhileRevalidate.wholeSeconds) s")
    }
    if policy.staleIfError > .zero {
      windows.append("served if upstream fails for another \(policy.staleIfError.wholeSeconds) s")
    }
    if policy.maxAge == .zero, policy.staleWhileRevalidate == .zero {
      windows.insert("fetched for each read, concurrent equal reads coalesced", at: 0)
    }
    if let lookup, policy.staleIfError > .zero {
      windows.append("answered from the stored \(lookup) if upstream fails")
    }
    let sharing = sharing(policy, forwardedHeaders)
    return "\(windows.joined(separator: ", ")); \(sharing)"
  }

  private static func sharing(_ policy: CachePolicy, _ forwardedHeaders: [String]) -> String {
    let partitions = forwardedHeaders.filter { !ForwardedHeaders.credentials.contains($0) }
    let forEach = partitions.isEmpty ? "" : ", for each \(partitions.joined(separator: " and "))"
    guard partitions.count < forwardedHeaders.count else {
      return "one copy for all callers\(forEach)"
    }
    switch policy.sharing {
    case .public:
      return "one copy for all callers\(forEach), fetched without the caller's credential"
    case .user:
      return "a copy for each user, fetched with the user's credential\(forEach)"
    case .claim(let name):
      return
        "a copy for each value of the claim \(name)\(forEach), fetched with one caller's token"
    }
  }
}
