import Gateway
import Model

/// Checks of `hooks.out` that need no schema.
extension SettingsChecks {
  var outgoingHooks: [SettingsFault] {
    var faults: [SettingsFault] = []
    if settings.outgoingHookSecrets.contains(where: { WebhookSignature.key($0.revealed) == nil }),
      let place = places["hooks.outSecret"]
    {
      faults.append(SettingsFault(place, "`hooks.outSecret` \(Self.secretForm)"))
    }
    for hook in settings.outgoingHooks {
      func fault(_ member: String, _ text: String) {
        faults.append(
          SettingsFault(hook.places.place(of: member), "`hooks.out`: `\(hook.name)`: \(text)"))
      }
      if hook.secrets.isEmpty, settings.outgoingHookSecrets.isEmpty {
        fault("", "`secret` is missing; set it there, or `hooks.outSecret` for all hooks")
      }
      if hook.secrets.contains(where: { WebhookSignature.key($0.revealed) == nil }) {
        fault("secret", "`secret` \(Self.secretForm)")
      }
      switch (hook.moment, hook.trigger) {
      case (.before, .outcome):
        fault("when", "the outcome of a mutation cannot be refused; write `when: after`")
      case (.after, _):
        if hook.unanswered != nil {
          fault("onTimeout", "`onTimeout` needs `when: before`; remove it")
        }
      case (.before, .write): break
      }
    }
    return faults
  }

  private static let secretForm =
    "must be 24 to 64 bytes in base64, with or without `whsec_`, such as the output of "
    + "`openssl rand -base64 32`"
}
