package import Gateway
package import Model

/// A webhook by which upstream reports changes, one of `hooks.in`.
package struct HookSettings: Sendable {
  package enum Format: String, CaseIterable, Sendable {
    case hasura
    case plain
  }

  /// Nil only until the settings are checked.
  package var format: Format?
  /// Any of them is accepted, so that a secret can be changed.
  package var secrets: [Secret] = []
  /// By name; for ``Format/hasura`` only.
  package var tables: [String: HookTableSettings] = [:]
}

/// The entities that a table's rows are.
package struct HookTableSettings: Sendable {
  package let type: String
  /// Field names by column; an empty list leaves the column out.
  package let columns: [String: [String]]
  /// Operations, types and tags that become due when rows are added or removed.
  package let invalidates: [String]
  package let place: SettingPlace
}

/// A hook that is called about writes and outcomes, an element of `hooks.out`.
package struct OutgoingHookSettings: Sendable {
  package static let timeoutDefault = Duration.seconds(2)

  /// Unique.
  package let name: String
  package let trigger: HookTrigger
  package let moment: OutgoingHook.Moment
  package let url: ServiceURL
  /// Requests are signed with each of them; empty if all hooks share ``Settings/outgoingHookSecrets``.
  package let secrets: [Secret]
  package let timeout: Duration
  /// Nil if not written.
  package let unanswered: OutgoingHook.Unanswered?
  package let places: MemberPlaces

  /// The name of a hook whose settings have none.
  static func defaultName(_ trigger: HookTrigger, _ moment: OutgoingHook.Moment) -> String {
    "\(trigger.text) \(moment.rawValue)"
  }
}
