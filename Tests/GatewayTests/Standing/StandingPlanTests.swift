import LosslessJSON
import Model
import Testing
import Upstream

@testable import Gateway

struct StandingPlanTests {
  @Test(
    "All that is wrong with a standing subscription is named",
    arguments: [
      (
        StandingRule(operation: "Plian"),
        ["operation: there is no operation named Plian. Did you mean \"Plain\""]
      ),
      (StandingRule(operation: "Items"), ["operation: Items is a query, not a subscription."]),
      (
        StandingRule(operation: "Team"),
        ["operation: Team is shared by the claim org"]
      ),
      (
        StandingRule(
          operation: "ItemChanged", variables: [.init("ownr", "1")],
          catchUp: .init(operation: "Plain", variable: "x", field: "y")),
        ["variables: ownr is not a variable", "catchUp.operation: Plain is a subscription"]
      ),
      (
        StandingRule(
          operation: "Plain",
          catchUp: .init(operation: "ItemsSince", variable: "sinc", field: "updatedAt")),
        ["catchUp.variable: ItemsSince has no variable sinc. Did you mean \"since\""]
      ),
      (
        StandingRule(
          operation: "Plain",
          catchUp: .init(operation: "ItemsSince", variable: "since", field: "updated")),
        ["catchUp.field: no entity in ItemsSince has the single-valued field updated."]
      ),
      (
        StandingRule(
          operation: "Plain", catchUp: .init(operation: "Nothing", variable: "a", field: "b")),
        ["catchUp.operation: there is no operation named Nothing"]
      ),
    ] as [(StandingRule, [String])])
  func namesFaults(rule: StandingRule, messages: [String]) throws {
    let world = try SubscriptionWorld()
    let faults = try #require(
      #expect(throws: StandingRuleFaults.self) { try StandingPlan(rule, in: world.registry) })
    #expect(faults.messages.count == messages.count, "\(faults.messages)")
    for (fault, message) in zip(faults.messages, messages) {
      #expect(fault.hasPrefix(message), "\(fault)")
    }
  }

  @Test(
    "All that is wrong with a poll is named",
    arguments: [
      (
        PollRule(operation: "Plain", every: .seconds(1)),
        ["operation: Plain is a subscription, not a query."]
      ),
      (
        PollRule(operation: "ItemsAfter", every: .seconds(1)),
        ["variables: since is required"]
      ),
      (
        PollRule(
          operation: "ItemsAfter", every: .seconds(1), variables: [.init("since", "x")],
          since: .init(variable: "since", field: "name")),
        ["variables: since is not a variable"]
      ),
      (
        PollRule(
          operation: "Items", every: .seconds(1), since: .init(variable: "since", field: "name")),
        ["since.variable: Items has no variable since"]
      ),
    ] as [(PollRule, [String])])
  func namesFaultsOfPolls(rule: PollRule, messages: [String]) throws {
    let world = try SubscriptionWorld()
    let faults = try #require(
      #expect(throws: StandingRuleFaults.self) { try PollPlan(rule, in: world.registry) })
    #expect(faults.messages.count == messages.count, "\(faults.messages)")
    for (fault, message) in zip(faults.messages, messages) {
      #expect(fault.hasPrefix(message), "\(fault)")
    }
  }

  @Test("A catch-up gets the subscription's variables of the same names")
  func sharesVariables() throws {
    let world = try SubscriptionWorld()
    let plan = try StandingPlan(
      StandingRule(
        operation: "ItemChanged", variables: [.init("owner", "01")],
        catchUp: .init(operation: "ItemsSince", variable: "since", field: "updatedAt")),
      in: world.registry)
    #expect(plan.variables.json == #"{"owner":"01"}"#)
    let query = try #require(plan.catchUp)
    #expect(query.variables(since: "t")?.json == #"{"since":"t","owner":"01"}"#)
    #expect(query.variables(since: nil)?.json == #"{"owner":"01"}"#)
    let required = try PollPlan(
      PollRule(
        operation: "ItemsAfter", every: .seconds(1),
        since: .init(variable: "since", field: "updatedAt")), in: world.registry)
    #expect(required.query.variables(since: nil) == nil, "it cannot begin without a value")
    #expect(required.query.variables(since: 7) == nil, "a value of another kind is no variable")
  }

  @Test(
    "Newer values are recognised, times whatever their form",
    arguments: [
      ("1", "2", true), ("2", "1", false), ("1", "1", false), ("9", "10", true),
      ("1.5", "1.25", false), ("9007199254740993", "9007199254740994", true),
      (#""a""#, #""b""#, true), (#""b""#, #""a""#, false),
      (#""2024-01-01T00:00:00Z""#, #""2024-01-01T00:00:00.5Z""#, true),
      (#""2024-01-01T00:00:00.500Z""#, #""2024-01-01T00:00:00.5Z""#, false),
      (#""2024-01-01T02:00:00+02:00""#, #""2024-01-01T01:00:00Z""#, true),
      (#""2024-01-01T02:00:00Z""#, #""2024-01-01T01:00:00Z""#, false),
      ("1", #""2""#, false), ("true", "false", false),
    ])
  func comparesValues(value: String, other: String, isLater: Bool) throws {
    let value = try JSONValue(checked: value)
    let other = try JSONValue(checked: other)
    #expect(NewestValue.isLater(other, than: value) == isLater)
    #expect(NewestValue.later(value, other) == (isLater ? other : value))
    #expect(NewestValue.later(nil, other) == other && NewestValue.later(value, .null) == value)
    #expect(NewestValue.later(nil, .null) == nil && NewestValue.later(.null, other) == other)
  }
}
