import Model

/// Says in words whether answers of an operation are kept, and why.
enum CacheNote {
  static func text(kind: OperationKind, policy: CachePolicy) -> String {
    switch kind {
    case .mutation: return "not kept: a mutation; entities of its answer are written"
    case .subscription: return "not kept: a subscription"
    case .query: break
    }
    let sharing =
      policy.sharing == .public
      ? "one copy for everybody, asked for without the caller's credential"
      : "a copy for each user whose credential is passed on"
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
    return "\(windows.joined(separator: ", ")); \(sharing)"
  }
}
