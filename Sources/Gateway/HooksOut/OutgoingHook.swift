package import Cryptography
package import HTTPClient
package import Model

/// A hook that is called about writes and outcomes: an element of `hooks.out`.
package struct OutgoingHook: Sendable {
  package enum Moment: String, Sendable, CaseIterable {
    /// It can refuse the write.
    case before
    case after
  }

  /// What no decision of a hook ``Moment/before`` means.
  package enum Unanswered: String, Sendable, CaseIterable {
    case refuse
    case allow
  }

  /// Unique; events in the outbox belong to it.
  package let name: String
  package let trigger: HookTrigger
  package let moment: Moment
  package let url: HTTPURL
  /// A request is signed with each of them.
  package let keys: [SymmetricKey]
  /// For the whole response.
  package let timeout: Duration
  package let unanswered: Unanswered

  package init(
    name: String, trigger: HookTrigger, moment: Moment, url: HTTPURL, keys: [SymmetricKey],
    timeout: Duration, unanswered: Unanswered = .refuse
  ) {
    self.name = name
    self.trigger = trigger
    self.moment = moment
    self.url = url
    self.keys = keys
    self.timeout = timeout
    self.unanswered = unanswered
  }
}

extension OutgoingHook {
  /// Scheme, host and port. The path can contain a secret.
  package var origin: String { "\(url.origin.scheme.rawValue)://\(url.origin.authority)" }
}

extension HookSubscriptions {
  init(_ hooks: [OutgoingHook], _ moment: OutgoingHook.Moment) {
    let chosen = hooks.filter { $0.moment == moment }
    self.init(names: Dictionary(grouping: chosen, by: \.trigger).mapValues { $0.map(\.name) })
  }
}
