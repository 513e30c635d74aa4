import Gateway
import LosslessJSON
import Model

/// The JSON of hooks that are called about writes and outcomes.
enum OutgoingHookDocument {
  static func value(_ summary: OutgoingHooks.Summary) -> JSONValue {
    let (hook, counts) = (summary.hook, summary.counts)
    var value: JSONValue = [
      "name": .string(hook.name), "on": .string(hook.trigger.text),
      "when": .string(hook.moment.rawValue),
      "origin": .string(hook.origin),
    ]
    if let pending = summary.pending, let bytes = summary.pendingBytes {
      value["pending"] = .number(JSONNumber(pending))
      value["pendingBytes"] = .number(JSONNumber(bytes))
      value["dropped"] = .number(JSONNumber(counts.dropped))
    }
    value["calls"] = .object(
      outcomes(of: hook.moment).map {
        JSONMember($0.rawValue, .number(JSONNumber(counts.outcomes[$0] ?? 0)))
      })
    if let last = counts.last { value["last"] = .string(last.iso8601) }
    if let fault = counts.lastFault {
      value["lastFault"] = [
        "at": .string(fault.at.iso8601), "reason": .string(fault.reason),
      ]
    }
    return value
  }

  static func value(_ removed: OutgoingHooks.Removed) -> JSONValue {
    [
      "name": .string(removed.name), "removed": true,
      "pending": .number(JSONNumber(removed.pending)),
      "pendingBytes": .number(JSONNumber(removed.pendingBytes)),
    ]
  }

  private static func outcomes(of moment: OutgoingHook.Moment) -> [HookCallOutcome] {
    switch moment {
    case .before: [.allowed, .refused, .unanswered]
    case .after: [.delivered, .failed, .notSent]
    }
  }
}
