package import Model
import Upstream

/// The header fields of callers that an upstream receives.
package struct ForwardingRule: Hashable, Sendable {
  /// In lower case.
  package let names: [String]
  /// Whether tokens issued by this service are among them.
  package let forwardsOwnTokens: Bool

  package init(names: [String], forwardsOwnTokens: Bool = true) {
    // Device tokens are for this service only and are never forwarded, whatever the settings say.
    self.names = names.map { $0.lowercased() }.filter { $0 != "device-token" }
    self.forwardsOwnTokens = forwardsOwnTokens
  }

  fileprivate var credentials: Set<String> {
    ForwardedHeaders.credentials.intersection(names)
  }

  /// Returns the first line of the partitions of each upstream's scopes; nil for an upstream whose
  /// scopes need none.
  ///
  /// A caller sees the scopes of all upstreams at once. Of two upstreams, one that divides its data by
  /// a header that the other does not receive would otherwise show what it returned without the header
  /// to callers with it. The line names the headers, not the upstream, so that renaming an upstream
  /// keeps its data.
  package static func markers(of rules: [UpstreamName: ForwardingRule]) -> [UpstreamName: String] {
    guard Set(rules.values.map { Set($0.names) }).count > 1 else { return [:] }
    let credentialSets = Set(rules.values.map(\.credentials).filter { !$0.isEmpty })
    return rules.compactMapValues { rule in
      var decisive = Set(rule.names).subtracting(rule.credentials)
      if credentialSets.count > 1 { decisive.formUnion(rule.credentials) }
      // No header line and no name of own data begins so.
      return decisive.isEmpty ? nil : "@" + decisive.sorted().joined(separator: ",")
    }
  }
}
