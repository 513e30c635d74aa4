import Model
import TestSupport
import Testing

@testable import Gateway

/// The limits of followed lists.
struct ListLedgerTests {
  private static let network = Caller.anonymous.owner(in: ClientNetwork("192.0.2.1"))
  private static let other = Caller.anonymous.owner(in: ClientNetwork("192.0.2.2"))
  private static let ada = Caller(subject: "ada", user: "ada")
    .owner(in: ClientNetwork("192.0.2.1"))

  @Test("Users and devices count for themselves, everyone else for the network")
  func ownersAreCallersOrNetworks() {
    #expect(Self.network.isNetwork)
    #expect(!Self.ada.isNetwork)
    // Credentials that were not verified make no owner.
    #expect(
      Caller(subject: "invented").owner(in: ClientNetwork("192.0.2.1")) == Self.network)
    #expect(Self.network != Self.other)
    #expect(!Caller(isAdmin: true).owner(in: ClientNetwork("192.0.2.1")).isNetwork)
  }

  @Test("The lists of one owner are limited, and others have room then")
  func listsOfAnOwnerAreLimited() throws {
    let ledger = ListLedger(bytesMax: 1 << 30)
    for _ in 0..<ListLedger.listsOfNetworkMax { try ledger.add(.init(rows: 1), of: Self.network) }
    let failure = #expect(throws: Failure.self) {
      try ledger.add(.init(rows: 1), of: Self.network)
    }
    #expect(failure?.code == .overloaded)
    for _ in 0..<ListLedger.listsOfOneMax { try ledger.add(.init(rows: 1), of: Self.ada) }
    #expect(throws: Failure.self) { try ledger.add(.init(rows: 1), of: Self.ada) }
    try ledger.add(.init(rows: 1), of: Self.other)
    ledger.remove(.init(rows: 1), of: Self.network)
    try ledger.add(.init(rows: 1), of: Self.network)
    // One address can follow what the largest page of a thousand parts needs.
    #expect(ListLedger.listsOfNetworkMax >= 1_000)
  }

  @Test("Networks leave half of all lists to others")
  func networksLeaveRoom() throws {
    let ledger = ListLedger(bytesMax: 1 << 30)
    var count = 0
    for number in 0..<100 {
      let owner = Caller.anonymous.owner(in: ClientNetwork("192.0.2.\(number)"))
      for _ in 0..<500 where (try? ledger.add(.init(), of: owner)) != nil { count += 1 }
    }
    #expect(count == ListLedger.listsMax / 2)
    try ledger.add(.init(), of: Self.ada)
  }

  @Test("An owner has a share of the memory, and what waits for its clients is part of it")
  func ownersHaveShares() throws {
    let ledger = ListLedger(bytesMax: 1_000)
    try ledger.add(.init(rows: 300), of: Self.network)
    #expect(throws: Failure.self) { try ledger.add(.init(rows: 201), of: Self.network) }
    try ledger.admit(200, of: Self.network)
    ledger.note(events: 200, of: Self.network)
    #expect(throws: Failure.self) { try ledger.admit(1, of: Self.network) }
    #expect(throws: Failure.self) { try ledger.add(.init(rows: 251), of: Self.ada) }
    try ledger.add(.init(rows: 250), of: Self.ada)
    // The memory of all.
    try ledger.add(.init(rows: 250), of: Self.other)
    #expect(throws: Failure.self) { try ledger.add(.init(rows: 1), of: Self.other) }
    ledger.note(events: -200, of: Self.network)
    try ledger.add(.init(rows: 200), of: Self.other)
  }

  @Test("Documents are counted only where there is room, and rows that do not fit change nothing")
  func documentsNeedRoom() throws {
    let ledger = ListLedger(bytesMax: 1_000)
    let start = ListLedger.Bytes(rows: 10)
    try ledger.add(start, of: Self.network)
    let kept = try ledger.change(start, rows: 100, documents: 250, of: Self.network)
    #expect(kept == ListLedger.Bytes(rows: 100, documents: 250))
    let dropped = try ledger.change(kept, rows: 100, documents: 251, of: Self.network)
    #expect(dropped == ListLedger.Bytes(rows: 100))
    #expect(throws: Failure.self) {
      try ledger.change(dropped, rows: 501, documents: 0, of: Self.network)
    }
    #expect(ledger.account(of: Self.network).bytes == dropped)
    ledger.remove(dropped, of: Self.network)
    #expect(ledger.byteCount == 0)
  }

  @Test("Whatever happens, the counts end where they began", arguments: [1, 2, 3, 4] as [UInt64])
  func countsAreExact(seed: UInt64) throws {
    struct Chance: SeededChance { var generator: SeededGenerator }
    var chance = Chance(generator: SeededGenerator(seed: seed))
    let ledger = ListLedger(bytesMax: 20_000)
    let owners = [Self.network, Self.other, Self.ada]
    var lists: [(owner: CallerOwner, bytes: ListLedger.Bytes)] = []
    for step in 0..<3_000 {
      let owner = owners[chance.number(0...2)]
      switch chance.number(0...3) {
      case 0:
        let bytes = ListLedger.Bytes(rows: chance.number(1...300))
        if (try? ledger.add(bytes, of: owner)) != nil { lists.append((owner, bytes)) }
      case 1 where !lists.isEmpty:
        let list = lists.remove(at: chance.number(0...(lists.count - 1)))
        ledger.remove(list.bytes, of: list.owner)
      case 2 where !lists.isEmpty:
        let place = chance.number(0...(lists.count - 1))
        let list = lists[place]
        if let bytes = try? ledger.change(
          list.bytes, rows: chance.number(1...600), documents: chance.number(0...600),
          of: list.owner)
        {
          lists[place].bytes = bytes
        }
      case 3 where !lists.isEmpty:
        let place = chance.number(0...(lists.count - 1))
        ledger.move(lists[place].bytes, from: lists[place].owner, to: owner)
        lists[place].owner = owner
      default: break
      }
      let sum = lists.reduce(0) { $0 + $1.bytes.sum }
      #expect(ledger.byteCount == sum, "seed \(seed), step \(step)")
      for owner in owners {
        let own = lists.filter { $0.owner == owner }
        #expect(ledger.account(of: owner).lists == own.count, "seed \(seed), step \(step)")
        #expect(
          ledger.account(of: owner).bytes.sum == own.reduce(0) { $0 + $1.bytes.sum },
          "seed \(seed), step \(step)")
      }
      #expect(sum <= 20_000, "seed \(seed), step \(step)")
    }
    for list in lists { ledger.remove(list.bytes, of: list.owner) }
    #expect(ledger.byteCount == 0, "seed \(seed)")
  }
}
