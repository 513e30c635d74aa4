import LosslessJSON
import TestSupport
import Testing

/// Following local fields: changes and live lists.
extension Ways.LocalFieldTests {
  @Test("A write appears in the owner's changes and in no other caller's")
  func changesReportTheWrite() async throws {
    let world = try await Self.start()
    var cursors: [String] = []
    for headers in [[world.mine], [world.other], []] as [[(String, String)]] {
      let page = try await world.larder.request(
        "GET", "/v1/changes?since=now", headers: headers)
      cursors.append(try #require(try JSONValue(parsing: page.body)["cursor"]?.string))
    }
    try await world.write(#"{"favourite":true}"#, world.mine)
    let mine = try await world.json("/v1/changes?since=\(cursors[0])", world.mine)
    let change = try #require(mine["changes"]?[0])
    #expect(change["op"] == "put" && change["id"] == "f1" && change["new"] == false)
    #expect(change["data"]?["favourite"] == true && change["data"]?["title"] != nil)
    #expect(
      change["rev"] == (try await world.json("/v1/entities/Film/f1", world.mine))["_rev"])
    let other = try await world.json("/v1/changes?since=\(cursors[1])", world.other)
    #expect(other["changes"] == [])
    #expect(try await world.json("/v1/changes?since=\(cursors[2])")["changes"] == [])
    await world.larder.stop()
  }

  @Test(
    "A film enters and leaves a filter of changes by its owner's local fields",
    arguments: [
      ("favourite = true", #"{"favourite":true}"#, #"{"favourite":false}"#),
      ("ANY tags = 'noir'", #"{"tags":["neo","noir"]}"#, #"{"tags":["neo"]}"#),
      (
        "ANY tags = 'noir' AND director.name IS NOT NULL", #"{"tags":["noir"]}"#,
        #"{"tags":null}"#
      ),
      ("stars > 3 AND lists.count = 0", #"{"stars":4}"#, #"{"stars":3}"#),
    ])
  func changesFollowFilters(filter: String, entering: String, leaving: String) async throws {
    let world = try await Self.start()
    let encoded = filter.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let target = "/v1/changes?types=Film&filter=\(encoded)&since="
    var mine = try #require(try await world.json(target + "now", world.mine)["cursor"]?.string)
    let other = try #require(try await world.json(target + "now", world.other)["cursor"]?.string)
    for (body, op) in [(entering, "put"), (leaving, "del"), (entering, "put")] {
      try await world.write(body, world.mine)
      let page = try await world.json(target + mine, world.mine)
      mine = try #require(page["cursor"]?.string)
      let changes = page["changes"]?.array ?? []
      #expect(changes.map { $0["id"] } == ["f1"] && changes.first?["op"]?.string == op)
      #expect(op == "put" ? changes.first?["new"] == true : changes.first?["reason"] == "hidden")
    }
    #expect(try await world.json(target + other, world.other)["changes"] == [])
    await world.larder.stop()
  }

  @Test("A live list follows the owner's writes, and another device's list does not")
  func liveListsFollow() async throws {
    let world = try await Self.start()
    let target = "/v1/entities/Film/stream?filter=favourite%20%3D%20true&order=title"
    let mine = try await EventClient.open(
      port: world.larder.port, target, headers: [world.mine])
    let other = try await EventClient.open(
      port: world.larder.port, target, headers: [world.other])
    var copies = [ListCopy(), ListCopy()]
    for (index, events) in [mine, other].enumerated() {
      let first = try #require(try await events.nextEvent())
      try copies[index].apply(try JSONValue(parsing: Array(first.data.utf8)))
      #expect(copies[index].items.isEmpty)
    }
    try await world.write(#"{"favourite":true}"#, world.mine)
    let event = try #require(try await mine.nextEvent())
    try copies[0].apply(try JSONValue(parsing: Array(event.data.utf8)))
    #expect(copies[0].items.map { $0["id"] } == ["f1"])
    // The other list reports its own change, and nothing before it.
    try await world.write(#"{"favourite":true,"stars":1}"#, world.other)
    let own = try #require(try await other.nextEvent())
    try copies[1].apply(try JSONValue(parsing: Array(own.data.utf8)))
    #expect(copies[1].items.map { $0["stars"] } == [1])
    #expect(try await world.json("/v1/entities/Film/f1", world.mine)["stars"] == .null)
    await world.larder.stop()
  }
}
