import Gateway
import GraphQL
import Model
import Upstream

/// The check of `hooks.out` in settings against the local types and fields and the operations, and the
/// hooks that result.
struct HooksOutCheck {
  let settings: Settings
  let registry: OperationRegistry
  let local: LocalSchema

  /// A hook of a type or an operation that does not exist would never be called.
  var faults: [SettingsFault] {
    settings.outgoingHooks.compactMap { hook in
      fault(of: hook.trigger).map {
        SettingsFault(hook.places.place(of: "on"), "`hooks.out`: `\(hook.name)`: \($0)")
      }
    }
  }

  private func fault(of trigger: HookTrigger) -> String? {
    switch trigger {
    case .write(let type, let operation):
      if local.types[type] != nil || local.extensions[type] != nil && operation == .update {
        return nil
      }
      if local.extensions[type] != nil {
        return "\(type) is a type of upstream's with local fields, which are only updated: "
          + "use `\(HookTrigger.write(type: type, .update).text)`"
      }
      if registry.catalogue.types.contains(where: { $0.name == type }) {
        return "\(type) is a type of upstream's without local fields; hooks are called for local "
          + "types and local fields"
      }
      if let types = local.interfaces[type]?.types {
        return "\(type) is an interface: name \(types.joined(separator: " or "))"
      }
      return "there is no local type \(type)."
        + NearestNames.didYouMean(type, among: local.types.keys.sorted())
    case .outcome(let name, _):
      let operation = registry.operations.first { $0.name == name }
      if operation?.kind == .mutation { return nil }
      if operation != nil { return "\(name) is not a mutation" }
      let names = registry.operations.filter { $0.kind == .mutation }.map(\.name)
      return "there is no mutation \(name)." + NearestNames.didYouMean(name, among: names.sorted())
    }
  }

  /// The hooks of settings without faults.
  var hooks: [OutgoingHook] {
    settings.outgoingHooks.map { hook in
      let secrets = hook.secrets.isEmpty ? settings.outgoingHookSecrets : hook.secrets
      return OutgoingHook(
        name: hook.name, trigger: hook.trigger, moment: hook.moment, url: hook.url.http,
        keys: secrets.compactMap { WebhookSignature.key($0.revealed) }, timeout: hook.timeout,
        unanswered: hook.unanswered ?? .refuse)
    }
  }

  /// One line for each hook: what it is called for, and where.
  var lines: [(hook: String, text: String)] {
    hooks.map { hook in
      switch hook.moment {
      case .before:
        let silence = hook.unanswered == .refuse ? "refuses" : "allows"
        return (
          hook.name,
          "\(hook.trigger.text): \(hook.origin) is asked before; no decision in "
            + "\(DurationText.print(hook.timeout)) \(silence) the write"
        )
      case .after: return (hook.name, "\(hook.trigger.text): reported to \(hook.origin)")
      }
    }
  }
}
