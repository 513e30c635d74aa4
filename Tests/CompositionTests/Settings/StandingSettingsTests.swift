import Gateway
import Model
import Testing

@testable import Composition

struct StandingSettingsTests {
  @Test("Standing subscriptions and polls are read, and their dump loads again")
  func readsAndDumps() throws {
    let yaml = """
      upstream:
        standing:
          - operation: FilmChanged
          - operation: ItemChanged
            variables: {id: 07, kinds: [a, "b, c"], filter: {year: {gte: 1990}, note: null}}
            catchUp: {operation: ItemsSince, variable: since, field: updatedAt}
        poll:
          - {operation: Films, every: 30s}
          - operation: FilmsSince
            every: 5m
            variables: {filter: '{"year": 1990}'}
            since: {variable: since, field: updatedAt}
      """
    let loaded = try SettingsFixture(yaml: yaml).load()
    let standing = loaded.settings.upstream.standing.map(\.rule)
    #expect(
      standing == [
        StandingRule(operation: "FilmChanged"),
        StandingRule(
          operation: "ItemChanged",
          variables: [
            .init("id", "07"), .init("kinds", "a"), .init("kinds", "b, c"),
            .init("filter.year.gte", "1990"), .init("filter.note", "null"),
          ],
          catchUp: CatchUpRule(operation: "ItemsSince", variable: "since", field: "updatedAt")),
      ])
    let polls = loaded.settings.upstream.polls.map(\.rule)
    #expect(
      polls == [
        PollRule(operation: "Films", every: .seconds(30)),
        PollRule(
          operation: "FilmsSince", every: .seconds(300),
          variables: [.init("filter", #"{"year": 1990}"#)],
          since: .init(variable: "since", field: "updatedAt")),
      ])
    let again = try SettingsFixture(yaml: SettingsDump.yaml(loaded)).load()
    #expect(again.settings.upstream.standing.map(\.rule) == standing)
    #expect(again.settings.upstream.polls.map(\.rule) == polls)
  }

  @Test(
    "Faults are reported, all of them",
    arguments: [
      ("standing: all", ["`upstream.standing` must be a list"]),
      (
        "standing: [FilmChanged]",
        ["a subscription must be a section such as {operation: FilmChanged}"]
      ),
      ("standing: [{}]", ["a subscription needs `operation`"]),
      (
        "standing: [{operation: 7a, variable: {}}]",
        ["a subscription has no `variable`. Did you mean \"variables\"", "must be a GraphQL name"]
      ),
      ("standing: [{operation: A, variables: x}]", ["`variables` must be a section"]),
      ("standing: [{operation: A, variables: {a: [[b]]}}]", ["as JSON text"]),
      (
        "standing: [{operation: A, catchUp: {operation: B, field: f}}]",
        ["`catchUp` needs `variable`"]
      ),
      (
        "standing: [{operation: A, catchUp: B}]",
        ["`upstream.standing`, `catchUp` must be a section such as {operation: FilmsSince"]
      ),
      ("poll: [{operation: A}]", ["a poll needs `every`"]),
      ("poll: [{operation: A, every: 1ms}]", ["must be a duration from 1s to 1d"]),
      (
        "poll: [{operation: A, every: 1s, since: {variable: v}}, {every: soon}]",
        ["`since` needs `field`", "a poll needs `operation`", "must be a duration"]
      ),
    ] as [(String, [String])])
  func reportsFaults(text: String, expected: [String]) {
    let faults = SettingsFixture(yaml: "upstream: {\(text)}").faults()
    #expect(faults.count == expected.count, "\(faults)")
    for part in expected { #expect(faults.contains { $0.contains(part) }, "\(faults)") }
  }
}
