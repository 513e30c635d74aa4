package import Gateway

/// One of `push.rules`, and where it was written.
package struct PushRuleSettings: Sendable {
  package let rule: PushRule
  package let place: SettingPlace
}
