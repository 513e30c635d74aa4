import Gateway
import Model
import Upstream

/// The check of standing subscriptions and polls in settings against the operations: the operator relies
/// on them.
struct StandingCheck {
  let upstream: NamedUpstream
  let registry: OperationRegistry

  var faults: [SettingsFault] {
    let settings = upstream.settings
    var faults: [SettingsFault] = []
    var seen: Set<StandingRule> = []
    for standing in settings.standing {
      do throws(StandingRuleFaults) {
        _ = try StandingPlan(standing.rule, in: registry, of: upstream.name)
      } catch {
        faults += Self.faults("\(upstream.section).standing", error, standing.places)
      }
      var rule = standing.rule
      rule.catchUp = nil
      if !seen.insert(rule).inserted {
        faults.append(
          SettingsFault(
            standing.places.whole,
            "`\(upstream.section).standing` has \(rule.operation) with the same variables twice"))
      }
    }
    for poll in settings.polls {
      do throws(StandingRuleFaults) {
        _ = try PollPlan(poll.rule, in: registry, of: upstream.name)
      } catch {
        faults += Self.faults("\(upstream.section).poll", error, poll.places)
      }
    }
    return faults
  }

  private static func faults(
    _ setting: String, _ faults: StandingRuleFaults, _ places: MemberPlaces
  ) -> [SettingsFault] {
    faults.all.map {
      SettingsFault(places.place(of: $0.member), "`\(setting)`: \($0.setting): \($0.text)")
    }
  }

  /// Operations that settings make useless: all their requests are refused.
  var warnings: [Finding] {
    guard upstream.settings.subscriptions == .off else { return [] }
    let names = registry.operations.filter {
      $0.kind == .subscription && $0.upstream == upstream.name
    }.map(\.name).sorted()
    guard !names.isEmpty else { return [] }
    let setting = "\(upstream.section).subscriptions"
    return [
      Finding(
        severity: .warning,
        message: "`\(setting): off` refuses every request for \(names.joined(separator: ", ")).",
        setting: setting)
    ]
  }
}
