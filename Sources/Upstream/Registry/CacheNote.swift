import Model

/// Says in words whether answers of an operation are kept, and why.
enum CacheNote {
  static func text(
    kind: OperationKind, policy: CachePolicy, forwardedHeaders: [String]
  ) -> String {
    switch kind {
    case .mutation: return "not kept: a mutation; entities of its answer are written"
    case .subscription: return "not kept: a subscription"
    case .query: break
    }
    var windows: [String] = []
    if policy.maxAge > .zero { windows.append("fresh for \(policy.maxAge.wholeSeconds) s") }
    if policy.staleWhileRevalidate > .zero {
      windows.append(
        "served while refreshed for \(policy.staleWhileRevalidate.wholeSeconds) s more")
    }
    if policy.staleIfError > .zero {
      windows.append("served when upstream fails for \(policy.staleIfError.wholeSeconds) s more")
    }
    if policy.maxAge == .zero, policy.staleWhileRevalidate == .zero {
      windows.insert("asked for each time, equal reads together", at: 0)
    }
    let sharing = sharing(policy, forwardedHeaders)
    return "\(windows.joined(separator: ", ")); \(sharing)"
  }

  private static func sharing(_ policy: CachePolicy, _ forwardedHeaders: [String]) -> String {
    let partitions = forwardedHeaders.filter { !ForwardedHeaders.credentials.contains($0) }
    let forEach = partitions.isEmpty ? "" : ", for each \(partitions.joined(separator: " and "))"
    guard partitions.count < forwardedHeaders.count else {
      return "one copy for everybody\(forEach)"
    }
    switch policy.sharing {
    case .public:
      return "one copy for everybody\(forEach), asked for without the caller's credential"
    case .user:
      return "a copy for each user whose credential is passed on\(forEach)"
    case .claim(let name):
      return
        "a copy for each value of the claim \(name)\(forEach), asked for with one caller's token"
    }
  }
}
